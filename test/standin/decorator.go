package standin

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// syncDecorated is one sync of an object of a DecoratorController: attachments,
// customize, call, labels and annotations, attachments again.
func (c *controller) syncDecorated(ctx context.Context, k key, parent *unstructured.Unstructured) error {
	observed := c.attachments(parent)
	related, err := c.related.objects(ctx, parent)
	if err != nil {
		return err
	}
	var response simulate.DecoratorResponse
	request := simulate.DecoratorRequest{Controller: c.manifest, Object: parent, Attachments: observed, Related: related}
	if err := c.call(ctx, c.sync, request, &response); err != nil {
		return err
	}
	desired, err := c.decodeChildren(parent, response.Attachments)
	if err != nil {
		return err
	}
	c.resyncAfter(k, response.ResyncAfterSeconds)
	err = c.decorate(ctx, k.parents.kind, parent, response.Labels, response.Annotations)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		// The change of the object calls the hook again.
		return nil
	}
	if err != nil {
		return fmt.Errorf("decorating: %w", err)
	}
	for _, objects := range desired {
		for _, object := range objects {
			annotations, _ := simulate.Changed(object.GetAnnotations(), map[string]*string{simulate.DecoratorAnnotation: &c.name})
			object.SetAnnotations(annotations)
		}
	}
	return c.manage(ctx, parent, observed, desired)
}

// attachments are the objects that this controller made for the parent; nothing is
// ever adopted.
func (c *controller) attachments(parent *unstructured.Unstructured) simulate.ObjectMap {
	attachments := simulate.ObjectMap{}
	for _, child := range c.children {
		attachments.Open(child.kind.Kind)
		for _, object := range child.claimable(parent) {
			if metav1.GetControllerOfNoCopy(object) != nil && object.GetAnnotations()[simulate.DecoratorAnnotation] == c.name {
				attachments.Insert(child.kind.Kind, object)
			}
		}
	}
	return attachments
}

// decorate writes labels and annotations in one request, if one of them differs.
func (c *controller) decorate(ctx context.Context, k *kind, parent *unstructured.Unstructured, labels, annotations map[string]*string) error {
	newLabels, labelsDiffer := simulate.Changed(parent.GetLabels(), labels)
	newAnnotations, annotationsDiffer := simulate.Changed(parent.GetAnnotations(), annotations)
	if !labelsDiffer && !annotationsDiffer {
		return nil
	}
	updated := parent.DeepCopy()
	updated.SetLabels(newLabels)
	updated.SetAnnotations(newAnnotations)
	c.log.Info("decorating", "controller", c.name, "object", simulate.Describe(parent))
	c.counters.wrote("update", k.Resource)
	_, err := c.clientOf(k, parent).Update(ctx, updated, metav1.UpdateOptions{})
	return err
}
