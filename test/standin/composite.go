package standin

import (
	"context"
	"fmt"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// syncComposite is one sync of a CompositeController's parent: claim, customize,
// call, children, status. The status is written also if a child cannot be.
func (c *controller) syncComposite(ctx context.Context, k key, parent *unstructured.Unstructured) error {
	selector, err := c.selectorOf(parent)
	if err != nil {
		return err
	}
	observed, err := c.claim(ctx, k.parents, parent, selector)
	if err != nil {
		return err
	}
	related, err := c.related.objects(ctx, parent)
	if err != nil {
		return err
	}
	var response simulate.CompositeResponse
	request := simulate.CompositeRequest{Controller: c.manifest, Parent: parent, Children: observed, Related: related}
	if err := c.call(ctx, c.sync, request, &response); err != nil {
		return err
	}
	desired, err := c.decodeChildren(parent, response.Children)
	if err != nil {
		return err
	}
	c.resyncAfter(k, response.ResyncAfterSeconds)
	for _, objects := range desired {
		for _, object := range objects {
			if err := c.label(object, parent, selector); err != nil {
				return err
			}
		}
	}
	manageErr := c.manage(ctx, parent, observed, desired)
	err = c.writeStatus(ctx, k.parents.kind, parent, response.Status)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("writing status: %w", err)
	}
	return manageErr
}

// writeStatus replaces the whole status, with the observed generation in it.
func (c *controller) writeStatus(ctx context.Context, k *kind, parent *unstructured.Unstructured, encoded []byte) error {
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
	return c.updateStatus(ctx, k, parent, func(current *unstructured.Unstructured) bool {
		if reflect.DeepEqual(current.Object["status"], any(status)) {
			return false
		}
		current.Object["status"] = status
		return true
	})
}
