package simulate

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// ControllerUIDLabel is what a generated selector selects by.
const ControllerUIDLabel = "controller-uid"

// claim gives the observed children of a composite's parent. Objects without a
// controller that carry its label are adopted; own ones without it are released.
func (c *Cluster) claim(ctl *controller, parent *unstructured.Unstructured) ObjectMap {
	children := ObjectMap{}
	for _, rule := range ctl.children {
		children.Open(rule.kind)
		for _, e := range c.shelf(rule.kind).list() {
			if parent.GetNamespace() != "" && e.object.GetNamespace() != parent.GetNamespace() {
				continue
			}
			if c.claimOne(parent, e) {
				children.Insert(rule.kind, e.object)
			}
		}
	}
	return children
}

func (c *Cluster) claimOne(parent *unstructured.Unstructured, e *entry) bool {
	owner := metav1.GetControllerOfNoCopy(e.object)
	selected := e.object.GetLabels()[ControllerUIDLabel] == string(parent.GetUID())
	parentGoes := parent.GetDeletionTimestamp() != nil
	switch {
	case owner == nil && selected && !parentGoes && e.object.GetDeletionTimestamp() == nil:
		e.object = withController(e.object, parent)
		c.wrote("adopt", e.object)
		return true
	case owner == nil || owner.UID != parent.GetUID():
		return false
	case !selected && !parentGoes:
		e.object = withoutController(e.object, parent)
		c.wrote("release", e.object)
		return false
	default:
		return selected
	}
}

// isControlledBy is asked for each pair of an annotated object and a possible
// attachment, so it looks at the JSON itself.
func isControlledBy(object, parent *unstructured.Unstructured) bool {
	metadata, _ := object.Object["metadata"].(map[string]any)
	owners, _ := metadata["ownerReferences"].([]any)
	for _, owner := range owners {
		fields, _ := owner.(map[string]any)
		if fields["controller"] == true {
			return fields["uid"] == string(parent.GetUID())
		}
	}
	return false
}

func withController(object, parent *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	object.SetOwnerReferences(append(object.GetOwnerReferences(), ControllerReference(parent)))
	return object
}

// ControllerReference is what makes the parent the controller of an object.
func ControllerReference(parent *unstructured.Unstructured) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion:         parent.GetAPIVersion(),
		Kind:               parent.GetKind(),
		Name:               parent.GetName(),
		UID:                parent.GetUID(),
		Controller:         new(true),
		BlockOwnerDeletion: new(true),
	}
}

func withoutController(object, parent *unstructured.Unstructured) *unstructured.Unstructured {
	object = object.DeepCopy()
	object.SetOwnerReferences(slices.DeleteFunc(object.GetOwnerReferences(), func(r metav1.OwnerReference) bool {
		return r.UID == parent.GetUID()
	}))
	return object
}
