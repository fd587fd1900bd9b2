package validate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

const (
	maxSelector        = 16
	maxLabels          = 64
	maxAnnotations     = 64
	maxAnnotationValue = 4096
	// maxAnnotationBytes leaves room for the ports, which share a budget with them.
	maxAnnotationBytes = 65536
)

const (
	keyText   = `must be a key such as "team" or "example.com/team": letters, digits, '-', '_' and '.', starting and ending with a letter or digit, at most 63 characters, after an optional DNS name and '/'`
	valueText = "must be empty or letters, digits, '-', '_' and '.', starting and ending with a letter or digit, at most 63 characters"
)

func isKey(s string) bool { return len(validation.IsQualifiedName(s)) == 0 }

func isLabelValue(s string) bool { return len(validation.IsValidLabelValue(s)) == 0 }

func rangeText(r *crdv1.PortRange) string { return fmt.Sprintf("%d-%d", r.From, r.To) }

// labels checks keys and values in the order of their keys.
func labels(m map[string]string, limit int, path *field.Path) field.ErrorList {
	if len(m) > limit {
		return field.ErrorList{tooMany(path, len(m), limit)}
	}
	var errs field.ErrorList
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if !isKey(key) {
			errs = append(errs, field.Invalid(path, key, keyText))
		}
		if !isLabelValue(m[key]) {
			errs = append(errs, field.Invalid(path.Key(key), m[key], valueText))
		}
	}
	return errs
}

// serviceLabels checks labels that are written on a child.
func serviceLabels(m map[string]string, path *field.Path) field.ErrorList {
	errs := labels(m, maxLabels, path)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if key == "controller-uid" || isOwnKey(key) {
			errs = append(errs, field.Forbidden(path.Key(key), ownKeyText))
		}
	}
	return errs
}

const ownKeyText = "this key belongs to the controllers; choose another"

// isOwnKey tells whether a key is written by us, Metacontroller or kubectl, so
// that a value of the user's would make each of them overwrite the other.
func isOwnKey(key string) bool {
	prefix, _, _ := strings.Cut(key, "/")
	return prefix == crdv1.Group || prefix == "metacontroller.k8s.io" || prefix == "kubectl.kubernetes.io"
}

// annotations checks keys and sizes in the order of the keys.
func annotations(m map[string]string, path *field.Path) field.ErrorList {
	if len(m) > maxAnnotations {
		return field.ErrorList{tooMany(path, len(m), maxAnnotations)}
	}
	var errs field.ErrorList
	total := 0
	for _, key := range slices.Sorted(maps.Keys(m)) {
		total += len(key) + len(m[key])
		// The API server lets the keys of annotations, unlike those of labels, have capitals in the prefix.
		if !isKey(strings.ToLower(key)) {
			errs = append(errs, field.Invalid(path, key, keyText))
		}
		if isOwnKey(strings.ToLower(key)) {
			errs = append(errs, field.Forbidden(path.Key(key), ownKeyText))
		}
		if len(m[key]) > maxAnnotationValue {
			errs = append(errs, field.TooLong(path.Key(key), "", maxAnnotationValue))
		}
	}
	if total > maxAnnotationBytes {
		errs = append(errs, field.TooLong(path, "", maxAnnotationBytes))
	}
	return errs
}
