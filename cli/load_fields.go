package cli

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	kjson "sigs.k8s.io/json"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// checkFields refuses fields of our kinds that do not exist: a typing error must
// not go unseen. Of the status, which nobody writes by hand, nothing is asked.
func checkFields(s *source) error {
	if s.object.GetAPIVersion() != crdv1.APIVersion {
		return nil
	}
	var typed any
	switch s.object.GetKind() {
	case crdv1.KindTCPIngress:
		typed = &crdv1.TCPIngress{}
	case crdv1.KindTCPIngressClass:
		typed = &crdv1.TCPIngressClass{}
	default:
		return nil
	}
	encoded, err := json.Marshal(s.object.Object)
	if err != nil {
		return fmt.Errorf("%s: %w", s.at(), err)
	}
	unknown, err := kjson.UnmarshalStrict(encoded, typed, kjson.DisallowUnknownFields)
	if err != nil {
		return fmt.Errorf("%s: %s %s: %w", s.at("spec"), s.object.GetKind(), name(s.object), err)
	}
	slices.SortStableFunc(unknown, func(a, b error) int {
		return cmp.Compare(s.lineOf(a), s.lineOf(b))
	})
	var errs []error
	for _, u := range unknown {
		var field kjson.FieldError
		if !errors.As(u, &field) {
			errs = append(errs, fmt.Errorf("%s: %w", s.at(), u))
			continue
		}
		if path := field.FieldPath(); !strings.HasPrefix(path, "status.") {
			errs = append(errs, fmt.Errorf("%s: %s %s: there is no field %s", s.at(splitPath(path)...), s.object.GetKind(), name(s.object), path))
		}
	}
	return errors.Join(errs...)
}

// lineOf gives the line of the field that the error speaks of.
func (s *source) lineOf(err error) int {
	var field kjson.FieldError
	if !errors.As(err, &field) {
		return s.lines.of()
	}
	return s.lines.of(splitPath(field.FieldPath())...)
}

// splitPath makes spec, rules, 0 and port of "spec.rules[0].port".
func splitPath(path string) []any {
	var steps []any
	for _, step := range regexp.MustCompile(`[^.\[\]]+`).FindAllString(path, -1) {
		if index, err := strconv.Atoi(step); err == nil {
			steps = append(steps, index)
		} else {
			steps = append(steps, step)
		}
	}
	return steps
}
