package cli

import (
	"encoding/json"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// view is what is printed, in that order.
type view struct {
	children []*unstructured.Unstructured
	// parents are the classes and TCPIngresses, and Services that were annotated.
	parents []*unstructured.Unstructured
}

func newView(in *input, entries []simulate.Entry, only string) *view {
	v := &view{}
	for _, e := range entries {
		switch e.Object.GetKind() {
		case crdv1.KindTCPIngressSlice:
		case crdv1.KindTCPIngressClass, crdv1.KindTCPIngress:
			v.parents = append(v.parents, presentParent(in, e.Object))
		default:
			if e.Owned {
				v.children = append(v.children, presentChild(e.Object))
			}
			if e.Decorated {
				v.parents = append(v.parents, presentParent(in, e.Object))
			}
		}
	}
	switch only {
	case onlyChildren:
		v.parents = nil
	case onlyStatus:
		v.children = nil
	}
	return v
}

// presentChild leaves out what only a cluster or Metacontroller puts there.
func presentChild(o *unstructured.Unstructured) *unstructured.Unstructured {
	o = o.DeepCopy()
	for _, field := range []string{"uid", "resourceVersion", "generation", "creationTimestamp", "managedFields", "ownerReferences"} {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
	removeKey(o, "annotations", simulate.LastAppliedAnnotation)
	removeKey(o, "annotations", simulate.DecoratorAnnotation)
	removeKey(o, "labels", simulate.ControllerUIDLabel)
	dropTransitionTimes(o.Object["status"])
	return o
}

// presentParent leaves out the spec too, unless the object was not in the input.
func presentParent(in *input, o *unstructured.Unstructured) *unstructured.Unstructured {
	o = presentChild(o)
	if in.find(o) != nil {
		delete(o.Object, "spec")
	}
	return o
}

// removeKey removes a label or annotation, and the map if it is empty then.
func removeKey(o *unstructured.Unstructured, field, key string) {
	unstructured.RemoveNestedField(o.Object, "metadata", field, key)
	if rest, found, _ := unstructured.NestedMap(o.Object, "metadata", field); found && len(rest) == 0 {
		unstructured.RemoveNestedField(o.Object, "metadata", field)
	}
}

// dropTransitionTimes removes the times of conditions: there was no clock.
func dropTransitionTimes(value any) {
	switch value := value.(type) {
	case map[string]any:
		delete(value, "lastTransitionTime")
		for _, inner := range value {
			dropTransitionTimes(inner)
		}
	case []any:
		for _, inner := range value {
			dropTransitionTimes(inner)
		}
	}
}

func (v *view) all() []*unstructured.Unstructured {
	return append(append([]*unstructured.Unstructured{}, v.children...), v.parents...)
}

func (v *view) yaml(w io.Writer) error {
	for i, object := range v.all() {
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return fmt.Errorf("encoding %s: %w", simulate.Describe(object), err)
		}
		if i > 0 {
			text = append([]byte("---\n"), text...)
		}
		if _, err := w.Write(text); err != nil {
			return err
		}
	}
	return nil
}

func (v *view) json(w io.Writer) error {
	items := make([]any, 0, len(v.children)+len(v.parents))
	for _, object := range v.all() {
		items = append(items, object.Object)
	}
	encoder := json.NewEncoder(w)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	return encoder.Encode(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
}
