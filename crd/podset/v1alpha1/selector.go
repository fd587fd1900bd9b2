package v1alpha1

import (
	"errors"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Selector gives the selector in the form that matches labels. One that selects
// nothing in particular is an error, as it is for the API server.
func (s *LabelSelector) Selector() (labels.Selector, error) {
	if len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0 {
		return nil, errors.New("an empty selector would select every pod")
	}
	converted := metav1.LabelSelector{MatchLabels: Labels(s.MatchLabels)}
	for _, e := range s.MatchExpressions {
		requirement := metav1.LabelSelectorRequirement{Key: e.Key, Operator: metav1.LabelSelectorOperator(e.Operator)}
		for _, value := range e.Values {
			requirement.Values = append(requirement.Values, string(value))
		}
		converted.MatchExpressions = append(converted.MatchExpressions, requirement)
	}
	return metav1.LabelSelectorAsSelector(&converted)
}

// PodLabels gives the labels of a new pod: those of the template, or without a
// template the labels that the selector asks for.
func (s *PodSetSpec) PodLabels() labels.Set {
	if s.Template != nil {
		return Labels(s.Template.Metadata.Labels)
	}
	return Labels(s.Selector.MatchLabels)
}

// Labels gives the labels as strings, nil for none.
func Labels(typed map[string]LabelValue) map[string]string {
	if len(typed) == 0 {
		return nil
	}
	plain := make(map[string]string, len(typed))
	for key, value := range typed {
		plain[key] = string(value)
	}
	return plain
}
