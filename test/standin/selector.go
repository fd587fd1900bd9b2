package standin

import (
	"encoding/json"
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// selectorOf tells which objects are a composite's children: those with a label that
// the controller makes up, if it generates selectors, else those that the parent's
// spec.selector selects.
func (c *controller) selectorOf(parent *unstructured.Unstructured) (labels.Selector, error) {
	if c.generateSelector {
		return labels.SelectorFromValidatedSet(labels.Set{simulate.ControllerUIDLabel: string(parent.GetUID())}), nil
	}
	field, _, err := unstructured.NestedFieldNoCopy(parent.Object, "spec", "selector")
	if err != nil {
		return nil, fmt.Errorf("reading spec.selector: %w", err)
	}
	encoded, err := json.Marshal(field)
	if err != nil {
		return nil, fmt.Errorf("encoding spec.selector: %w", err)
	}
	var selector metav1.LabelSelector
	if err := json.Unmarshal(encoded, &selector); err != nil {
		return nil, fmt.Errorf("decoding spec.selector: %w", err)
	}
	if len(selector.MatchLabels) == 0 && len(selector.MatchExpressions) == 0 {
		return nil, errors.New("spec.selector is empty, which would select everything")
	}
	return metav1.LabelSelectorAsSelector(&selector)
}

// adoptable tells whether the parent would adopt an orphan.
func (c *controller) adoptable(parent, object *unstructured.Unstructured) bool {
	if c.generateSelector { // asked for every parent, so without making a selector
		return object.GetLabels()[simulate.ControllerUIDLabel] == string(parent.GetUID())
	}
	selector, err := c.selectorOf(parent)
	return err == nil && selector.Matches(labels.Set(object.GetLabels()))
}

// label puts the generated label on a desired child. One that the selector would not
// select is an error, since it would be let go at once.
func (c *controller) label(object, parent *unstructured.Unstructured, selector labels.Selector) error {
	set := object.GetLabels()
	if _, labelled := set[simulate.ControllerUIDLabel]; c.generateSelector && !labelled {
		if set == nil {
			set = map[string]string{}
		}
		set[simulate.ControllerUIDLabel] = string(parent.GetUID())
		object.SetLabels(set)
	}
	if !selector.Matches(labels.Set(set)) {
		return fmt.Errorf("the labels of desired child %s do not match the selector of its parent", simulate.Describe(object))
	}
	return nil
}
