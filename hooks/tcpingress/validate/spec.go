package validate

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

const (
	maxRules      = 64
	maxRangeRules = 8
)

// SpecErrors is what is wrong with a spec, told apart by whom it concerns, since
// a bad rule never takes down a good one.
type SpecErrors struct {
	// Object holds what concerns no single rule.
	Object field.ErrorList
	// Rules holds an element for each rule of the spec, in their order.
	Rules []RuleErrors
}

// RuleErrors is what is wrong with one rule of a spec.
type RuleErrors struct {
	// Own holds what the rule itself, or being one too many, is refused for.
	Own field.ErrorList
	// SameName is set where an earlier rule has the effective name of this one.
	SameName *field.Error
}

// All gives the errors of the object, then those of each rule.
func (e *SpecErrors) All() field.ErrorList {
	all := append(field.ErrorList(nil), e.Object...)
	for i := range e.Rules {
		all = append(all, e.Rules[i].Own...)
		if e.Rules[i].SameName != nil {
			all = append(all, e.Rules[i].SameName)
		}
	}
	return all
}

// Spec checks each rule by itself, and what the rules must have in common: names
// that differ, and their number. Ports that overlap are left to the book.
func Spec(s *crdv1.TCPIngressSpec, path *field.Path) SpecErrors {
	var errs SpecErrors
	if c := s.IngressClassName; c != "" && !IsClassName(c) {
		errs.Object = append(errs.Object, field.Invalid(path.Child("ingressClassName"), c, classNameText))
	}
	path = path.Child("rules")
	if len(s.Rules) == 0 {
		errs.Object = append(errs.Object, field.Required(path, "a TCPIngress has at least one rule"))
		return errs
	}
	errs.Rules = make([]RuleErrors, len(s.Rules))
	names := make(map[string]int, min(len(s.Rules), maxRules))
	ranges := 0
	for i := range s.Rules {
		rule, found := &s.Rules[i], &errs.Rules[i]
		at := func() *field.Path { return path.Index(i) }
		if i >= maxRules {
			found.Own = field.ErrorList{field.Forbidden(at(), "a TCPIngress has at most 64 rules; move this one to another TCPIngress")}
			continue
		}
		if len(Rule(rule, nil)) > 0 {
			found.Own = Rule(rule, at())
		}
		if rule.EndPort != 0 {
			if ranges++; ranges > maxRangeRules {
				found.Own = append(found.Own, field.Forbidden(at().Child("endPort"), "a TCPIngress has at most 8 rules with endPort; move this one to another TCPIngress"))
			}
		}
		name := RuleName(rule)
		if first, taken := names[name]; taken {
			found.SameName = SameName(at(), name, first)
		} else {
			names[name] = i
		}
	}
	return errs
}

// TCPIngress gives everything that is wrong with the object, ports that its own
// rules claim twice included.
func TCPIngress(obj *crdv1.TCPIngress) field.ErrorList {
	path := field.NewPath("spec")
	errs := Spec(&obj.Spec, path)
	twice := overlaps(obj.Spec.Rules, path.Child("rules"))
	for i := range errs.Rules {
		rule := &errs.Rules[i]
		if i < len(twice) && twice[i] != nil {
			rule.Own = append(rule.Own, twice[i])
			// Of two rules without a name on one port the port is what matters.
			if obj.Spec.Rules[i].Name == "" && len(obj.Spec.Rules[i].Hosts) == 0 {
				rule.SameName = nil
			}
		}
	}
	return errs.All()
}
