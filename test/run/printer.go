package main

import (
	"fmt"
	"io"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// printer writes for a reader. That a terminal went away is nobody's concern.
type printer struct{ to io.Writer }

func (p printer) title(text string) { _, _ = fmt.Fprintf(p.to, "\n%s\n\n", text) }

func (p printer) line(format string, args ...any) {
	_, _ = fmt.Fprintf(p.to, "    "+format+"\n", args...)
}

// object prints what counts of an object: of a child all that the hook said, of a
// parent the status.
func (p printer) object(o *unstructured.Unstructured) error {
	o = o.DeepCopy()
	content := o.Object
	if o.GetAPIVersion() == ours {
		content = map[string]any{"apiVersion": ours, "kind": o.GetKind(), "status": o.Object["status"]}
	} else {
		delete(content, "metadata")
	}
	metadata := map[string]any{"name": o.GetName()}
	if o.GetNamespace() != "" {
		metadata["namespace"] = o.GetNamespace()
	}
	if labels := o.GetLabels(); len(labels) > 0 {
		delete(labels, simulate.ControllerUIDLabel)
		if len(labels) > 0 {
			metadata["labels"] = labels
		}
	}
	content["metadata"] = metadata
	text, err := yaml.Marshal(content)
	if err != nil {
		return fmt.Errorf("printing %s: %w", o.GetName(), err)
	}
	p.line("---\n    %s", strings.ReplaceAll(strings.TrimSpace(string(text)), "\n", "\n    "))
	return nil
}
