package standin

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// claim gives the observed children of a composite's parent. Objects without a
// controller that are selected are adopted; own ones that are not are released.
func (c *controller) claim(ctx context.Context, parents *parents, parent *unstructured.Unstructured, selector labels.Selector) (simulate.ObjectMap, error) {
	children := simulate.ObjectMap{}
	var errs []error
	for _, child := range c.children {
		children.Open(child.kind.Kind)
		for _, object := range child.claimable(parent) {
			selected := selector.Matches(labels.Set(object.GetLabels()))
			claimed, err := c.claimOne(ctx, parents, parent, child.kind, object, selected)
			if err != nil {
				errs = append(errs, fmt.Errorf("claiming %s: %w", simulate.Describe(object), err))
			}
			if claimed {
				children.Insert(child.kind.Kind, object)
			}
		}
	}
	return children, errors.Join(errs...)
}

func (c *controller) claimOne(ctx context.Context, parents *parents, parent *unstructured.Unstructured, k *kind, object *unstructured.Unstructured, selected bool) (bool, error) {
	owned := metav1.GetControllerOfNoCopy(object) != nil
	parentGoes := parent.GetDeletionTimestamp() != nil
	switch {
	case owned && selected:
		return true, nil
	case parentGoes:
		return false, nil
	case owned:
		return false, ignoreNotFound(c.release(ctx, parent, k, object))
	case !selected || object.GetDeletionTimestamp() != nil:
		return false, nil
	}
	err := c.adopt(ctx, parents, parent, k, object)
	return err == nil, ignoreNotFound(err)
}

// adopt looks at the parent itself first: the one that we know may be gone already.
func (c *controller) adopt(ctx context.Context, parents *parents, parent *unstructured.Unstructured, k *kind, object *unstructured.Unstructured) error {
	fresh, err := c.clientOf(parents.kind, parent).Get(ctx, parent.GetName(), metav1.GetOptions{})
	if err != nil {
		return fmt.Errorf("looking at parent: %w", err)
	}
	if fresh.GetUID() != parent.GetUID() || fresh.GetDeletionTimestamp() != nil {
		return fmt.Errorf("the parent %s is gone", simulate.Describe(parent))
	}
	c.log.Info("adopting", "controller", c.name, "object", simulate.Describe(object))
	return c.update(ctx, k, object, func(current *unstructured.Unstructured) bool {
		addOwner(current, parent)
		return true
	})
}

func (c *controller) release(ctx context.Context, parent *unstructured.Unstructured, k *kind, object *unstructured.Unstructured) error {
	c.log.Info("releasing", "controller", c.name, "object", simulate.Describe(object))
	return c.update(ctx, k, object, func(current *unstructured.Unstructured) bool {
		current.SetOwnerReferences(slices.DeleteFunc(current.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
			return r.UID == parent.GetUID()
		}))
		return true
	})
}

// addOwner makes the parent the controller, unless it is an owner already.
func addOwner(object, parent *unstructured.Unstructured) {
	owners := object.GetOwnerReferences()
	if !slices.ContainsFunc(owners, func(r metav1.OwnerReference) bool { return r.UID == parent.GetUID() }) {
		object.SetOwnerReferences(append(owners, simulate.ControllerReference(parent)))
	}
}

func ignoreNotFound(err error) error {
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}
