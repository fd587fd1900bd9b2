package simulate

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// maxAnnotations is the limit of the API server for all annotations of an object.
const maxAnnotations = 256 * 1024

// maxConfigMap is the limit of the API server for the data of a ConfigMap.
const maxConfigMap = 1024 * 1024

// store puts an object as the API server would: what it checks is checked, what
// it fills in is filled in, nulls are dropped.
func (c *Cluster) store(kind Kind, object *unstructured.Unstructured) (*entry, error) {
	if object.GetName() == "" {
		return nil, errors.New("the object has no name")
	}
	if kind.Namespaced != (object.GetNamespace() != "") {
		return nil, fmt.Errorf("the kind is namespaced: %t, but the namespace is %q", kind.Namespaced, object.GetNamespace())
	}
	dropNulls(object.Object)
	if err := refuse(object); err != nil {
		return nil, err
	}
	if object.GetUID() == "" {
		object.SetUID(uidOf(kind, object))
	}
	if object.GetCreationTimestamp().Time.IsZero() {
		object.SetCreationTimestamp(metav1.NewTime(c.options.Now))
	}
	old := c.shelf(kind).get(object.GetNamespace(), object.GetName())
	switch {
	case !kind.generations():
	case old != nil && !sameSpec(old.object, object):
		object.SetGeneration(old.object.GetGeneration() + 1)
	case object.GetGeneration() == 0:
		object.SetGeneration(1)
	}
	return c.shelf(kind).put(object), nil
}

// refuse gives the error of the API server for what a hook must never send: a
// single refused child freezes all children of its parent.
func refuse(object *unstructured.Unstructured) error {
	size := 0
	for name, value := range object.GetAnnotations() {
		size += len(name) + len(value)
	}
	if size > maxAnnotations {
		return fmt.Errorf("the API server would refuse it: annotations of %d bytes, %d is the limit", size, maxAnnotations)
	}
	switch object.GetAPIVersion() + " " + object.GetKind() {
	case "v1 ConfigMap":
		return refuseConfigMap(object)
	case "v1 Service":
		return refuseService(object)
	default:
		return nil
	}
}

func refuseConfigMap(object *unstructured.Unstructured) error {
	data, _, err := unstructured.NestedStringMap(object.Object, "data")
	if err != nil {
		return fmt.Errorf("the API server would refuse it: %w", err)
	}
	size := 0
	for name, value := range data {
		size += len(name) + len(value)
	}
	if size > maxConfigMap {
		return fmt.Errorf("the API server would refuse it: data of %d bytes, %d is the limit", size, maxConfigMap)
	}
	return nil
}

func refuseService(object *unstructured.Unstructured) error {
	ports, _, err := unstructured.NestedSlice(object.Object, "spec", "ports")
	if err != nil {
		return fmt.Errorf("the API server would refuse it: %w", err)
	}
	serviceType, _, _ := unstructured.NestedString(object.Object, "spec", "type")
	clusterIP, _, _ := unstructured.NestedString(object.Object, "spec", "clusterIP")
	if len(ports) == 0 && clusterIP != "None" && serviceType != "ExternalName" {
		return errors.New("the API server would refuse it: a Service needs a port")
	}
	seen := map[string]bool{}
	for _, port := range ports {
		fields, _ := port.(map[string]any)
		portName, _ := fields["name"].(string)
		protocol, _ := fields["protocol"].(string)
		if protocol == "" {
			protocol = "TCP"
		}
		if portName == "" && len(ports) > 1 {
			return errors.New("the API server would refuse it: a port without a name beside others")
		}
		number := fmt.Sprintf("port %v/%s", fields["port"], protocol)
		if seen[number] || seen["name "+portName] {
			return fmt.Errorf("the API server would refuse it: port %q, %v/%s is there twice", portName, fields["port"], protocol)
		}
		seen[number], seen["name "+portName] = true, true
	}
	return nil
}

// sameSpec tells whether everything but metadata and status is equal.
func sameSpec(a, b *unstructured.Unstructured) bool {
	return reflect.DeepEqual(specOf(a), specOf(b))
}

func specOf(o *unstructured.Unstructured) map[string]any {
	content := maps.Clone(o.Object)
	delete(content, "metadata")
	delete(content, "status")
	return content
}

// keepSystemFields carries over what a user's manifest lacks and an update keeps.
func keepSystemFields(old, object *unstructured.Unstructured) {
	object.SetUID(old.GetUID())
	object.SetCreationTimestamp(old.GetCreationTimestamp())
	object.SetGeneration(old.GetGeneration())
	if object.GetOwnerReferences() == nil && old.GetOwnerReferences() != nil {
		object.SetOwnerReferences(old.GetOwnerReferences())
	}
	if status, has := old.Object["status"]; has && object.Object["status"] == nil {
		object.Object["status"] = status
	}
}

// uidOf makes a uid that is the same for the same object in every run.
func uidOf(kind Kind, o *unstructured.Unstructured) types.UID {
	sum := sha256.Sum256([]byte(kind.APIVersion + " " + kind.Kind + " " + QualifiedName(o)))
	h := hex.EncodeToString(sum[:16])
	return types.UID(h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:])
}

func dropNulls(fields map[string]any) {
	for name, value := range fields {
		if value == nil {
			delete(fields, name)
			continue
		}
		dropNullsIn(value)
	}
}

func dropNullsIn(value any) {
	switch value := value.(type) {
	case map[string]any:
		dropNulls(value)
	case []any:
		for item := range slices.Values(value) {
			dropNullsIn(item)
		}
	}
}
