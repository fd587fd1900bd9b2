package simulate

import (
	"fmt"
	"maps"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
)

// syncComposite is one sync of a CompositeController's parent: claim, customize,
// call, children, status.
func (c *Cluster) syncComposite(ctl *controller, kind Kind, parent *unstructured.Unstructured) error {
	observed := c.claim(ctl, parent)
	related, err := c.related(ctl, parent)
	if err != nil {
		return err
	}
	var response CompositeResponse
	request := CompositeRequest{Controller: ctl.manifest, Parent: parent, Children: observed, Related: related}
	if err := c.call(ctl.sync, request, &response); err != nil {
		return err
	}
	desired, err := c.decodeChildren(ctl, parent, response.Children)
	if err != nil {
		return err
	}
	desired.all(func(child *unstructured.Unstructured) {
		labels := child.GetLabels()
		if labels == nil {
			labels = map[string]string{}
		}
		if _, labelled := labels[ControllerUIDLabel]; !labelled {
			labels[ControllerUIDLabel] = string(parent.GetUID())
			child.SetLabels(labels)
		}
	})
	if parent.GetDeletionTimestamp() == nil {
		if err := c.manage(ctl, parent, observed, desired); err != nil {
			return fmt.Errorf("managing children: %w", err)
		}
	}
	return c.writeStatus(kind, parent, response.Status)
}

// writeStatus replaces the whole status, with the observed generation in it.
func (c *Cluster) writeStatus(kind Kind, parent *unstructured.Unstructured, encoded []byte) error {
	status := map[string]any{}
	if len(encoded) > 0 {
		if err := json.Unmarshal(encoded, &status); err != nil {
			return fmt.Errorf("decoding status: %w", err)
		}
	}
	if status == nil {
		status = map[string]any{}
	}
	status["observedGeneration"] = parent.GetGeneration()
	if reflect.DeepEqual(parent.Object["status"], any(status)) {
		return nil
	}
	updated := parent.DeepCopy()
	updated.Object["status"] = status
	c.wrote("status of", updated)
	_, err := c.store(kind, updated)
	return err
}

func sortedNames(objects map[string]*unstructured.Unstructured) []string {
	return slices.Sorted(maps.Keys(objects))
}
