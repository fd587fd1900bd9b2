package simulate

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// DecoratorAnnotation names the DecoratorController that made an attachment.
const DecoratorAnnotation = "metacontroller.k8s.io/decorator-controller"

// syncDecorated is one sync of an object of a DecoratorController: attachments,
// customize, call, labels and annotations, attachments again.
func (c *Cluster) syncDecorated(ctl *controller, kind Kind, parent *unstructured.Unstructured) error {
	observed := c.attachments(ctl, parent)
	related, err := c.related(ctl, parent)
	if err != nil {
		return err
	}
	var response DecoratorResponse
	request := DecoratorRequest{Controller: ctl.manifest, Object: parent, Attachments: observed, Related: related}
	if err := c.call(ctl.sync, request, &response); err != nil {
		return err
	}
	desired, err := c.decodeChildren(ctl, parent, response.Attachments)
	if err != nil {
		return err
	}
	if err := c.decorate(kind, parent, response.Labels, response.Annotations); err != nil {
		return fmt.Errorf("decorating: %w", err)
	}
	desired.all(func(child *unstructured.Unstructured) {
		annotations := child.GetAnnotations()
		if annotations == nil {
			annotations = map[string]string{}
		}
		annotations[DecoratorAnnotation] = ctl.name
		child.SetAnnotations(annotations)
	})
	if parent.GetDeletionTimestamp() != nil {
		return nil
	}
	if err := c.manage(ctl, parent, observed, desired); err != nil {
		return fmt.Errorf("managing attachments: %w", err)
	}
	return nil
}

// attachments are the objects that this controller made for the parent; nothing
// is ever adopted.
func (c *Cluster) attachments(ctl *controller, parent *unstructured.Unstructured) ObjectMap {
	attachments := ObjectMap{}
	for _, rule := range ctl.children {
		attachments.Open(rule.kind)
		for _, e := range c.shelf(rule.kind).list() {
			if isControlledBy(e.object, parent) && e.object.GetAnnotations()[DecoratorAnnotation] == ctl.name {
				attachments.Insert(rule.kind, e.object)
			}
		}
	}
	return attachments
}

func (c *Cluster) decorate(kind Kind, parent *unstructured.Unstructured, labels, annotations map[string]*string) error {
	newLabels, labelsDiffer := Changed(parent.GetLabels(), labels)
	newAnnotations, annotationsDiffer := Changed(parent.GetAnnotations(), annotations)
	if !labelsDiffer && !annotationsDiffer {
		return nil
	}
	updated := parent.DeepCopy()
	updated.SetLabels(newLabels)
	updated.SetAnnotations(newAnnotations)
	c.wrote("update", updated)
	e, err := c.store(kind, updated)
	if err != nil {
		return err
	}
	e.decorated = true
	return nil
}

// Changed sets and, where the value is nil, removes keys.
func Changed(old map[string]string, changes map[string]*string) (result map[string]string, differs bool) {
	result = map[string]string{}
	maps.Copy(result, old)
	for name, value := range changes {
		was, had := result[name]
		switch {
		case value == nil:
			delete(result, name)
			differs = differs || had
		case !had || was != *value:
			result[name] = *value
			differs = true
		}
	}
	return result, differs
}
