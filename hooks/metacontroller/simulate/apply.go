package simulate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
)

// LastAppliedAnnotation is where Metacontroller remembers what it applied.
const LastAppliedAnnotation = "metacontroller.k8s.io/last-applied-configuration"

// JSONObject gives a value as it looks after its way over the wire: maps, lists,
// strings, booleans, int64 and float64.
func JSONObject(value any) (map[string]any, error) {
	encoded, err := json.Marshal(value)
	if err != nil {
		return nil, fmt.Errorf("encoding object: %w", err)
	}
	object := map[string]any{}
	if err := json.Unmarshal(encoded, &object); err != nil {
		return nil, fmt.Errorf("decoding object: %w", err)
	}
	return object, nil
}

// Apply gives the observed object as Metacontroller would update it to what is
// desired, with the annotation that remembers it. If the result is deeply equal to
// observed, nothing is written. The arguments are not changed.
func Apply(observed, desired map[string]any) (map[string]any, error) {
	lastApplied, err := lastApplied(observed)
	if err != nil {
		return nil, err
	}
	desired = withoutLastApplied(desired)
	merged, err := Merge(observed, lastApplied, desired)
	if err != nil {
		return nil, err
	}
	if err := restoreSystemFields(merged, observed); err != nil {
		return nil, err
	}
	if err := remember(merged, desired); err != nil {
		return nil, err
	}
	return merged, nil
}

// Create gives the desired object as Metacontroller would create it, with the
// annotation that remembers it.
func Create(desired map[string]any) (map[string]any, error) {
	object := withoutLastApplied(desired)
	if err := remember(object, desired); err != nil {
		return nil, err
	}
	return object, nil
}

func lastApplied(observed map[string]any) (map[string]any, error) {
	text := (&unstructured.Unstructured{Object: observed}).GetAnnotations()[LastAppliedAnnotation]
	if text == "" {
		return nil, nil
	}
	last := map[string]any{}
	if err := json.Unmarshal([]byte(text), &last); err != nil {
		return nil, fmt.Errorf("decoding annotation %s: %w", LastAppliedAnnotation, err)
	}
	return last, nil
}

func remember(object, applied map[string]any) error {
	text, err := json.Marshal(applied)
	if err != nil {
		return fmt.Errorf("encoding annotation %s: %w", LastAppliedAnnotation, err)
	}
	if err := unstructured.SetNestedField(object, string(text), "metadata", "annotations", LastAppliedAnnotation); err != nil {
		return fmt.Errorf("setting annotation %s: %w", LastAppliedAnnotation, err)
	}
	return nil
}

// withoutLastApplied gives a copy without the annotation, so that it never
// remembers itself.
func withoutLastApplied(desired map[string]any) map[string]any {
	object := (&unstructured.Unstructured{Object: desired}).DeepCopy()
	annotations := object.GetAnnotations()
	if _, has := annotations[LastAppliedAnnotation]; has {
		delete(annotations, LastAppliedAnnotation)
		object.SetAnnotations(annotations)
	}
	return object.Object
}

// restoreSystemFields undoes what the merge did to fields that only the API
// server writes, so that they never make a difference.
func restoreSystemFields(merged, observed map[string]any) error {
	for _, path := range systemFields() {
		value, found, err := unstructured.NestedFieldCopy(observed, path...)
		switch {
		case err != nil:
			return fmt.Errorf("reading observed object: %w", err)
		case !found:
			unstructured.RemoveNestedField(merged, path...)
		default:
			if err := unstructured.SetNestedField(merged, value, path...); err != nil {
				return fmt.Errorf("restoring system fields: %w", err)
			}
		}
	}
	return nil
}

func systemFields() [][]string {
	return [][]string{
		{"status"},
		{"metadata", "selfLink"},
		{"metadata", "uid"},
		{"metadata", "resourceVersion"},
		{"metadata", "generation"},
		{"metadata", "creationTimestamp"},
		{"metadata", "deletionTimestamp"},
		{"metadata", "deletionGracePeriodSeconds"},
		{"metadata", "managedFields"},
	}
}
