package main

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// printer writes for a reader. That a terminal went away is nobody's concern.
type printer struct{ to io.Writer }

func (p printer) title(text string) { _, _ = fmt.Fprintf(p.to, "\n%s\n\n", text) }

func (p printer) line(format string, args ...any) {
	_, _ = fmt.Fprintf(p.to, "    "+format+"\n", args...)
}

func (p printer) call(path string, request, response []byte) {
	_, parent, _ := strings.Cut(metacontroller.PeekParent(request), " ")
	p.line("POST %-26s for %-40s %6d -> %4d bytes", path, parent, len(request), len(response))
}

// object prints what a hook said of an object: all fields of a child, the status of
// a parent. Names are enough of the metadata, and times of transition are left out.
func (p printer) object(o *unstructured.Unstructured) error {
	o = o.DeepCopy()
	metadata := map[string]any{"name": o.GetName()}
	if o.GetNamespace() != "" {
		metadata["namespace"] = o.GetNamespace()
	}
	o.Object["metadata"] = metadata
	if o.GetAPIVersion() == ours {
		delete(o.Object, "spec")
	}
	dropTimes(o.Object["status"])
	text, err := yaml.Marshal(o.Object)
	if err != nil {
		return fmt.Errorf("printing %s: %w", o.GetName(), err)
	}
	p.line("---\n    %s", strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n    "))
	return nil
}

// dropTimes removes from conditions, at any depth, what would only fill the screen.
func dropTimes(value any) {
	switch value := value.(type) {
	case map[string]any:
		delete(value, "lastTransitionTime")
		if _, isCondition := value["type"]; isCondition {
			delete(value, "observedGeneration")
		}
		for _, inner := range value {
			dropTimes(inner)
		}
	case []any:
		for _, inner := range value {
			dropTimes(inner)
		}
	}
}
