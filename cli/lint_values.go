package cli

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
)

// values looks at each object by itself. What the controllers refuse is told already,
// unless there is no class to ask; where they have nothing to say, the API server may have.
func (l *linter) values() error {
	schemas, err := newSchemas()
	if err != nil {
		return err
	}
	for i := range l.in.sources {
		s := &l.in.sources[i]
		reason := crdv1.ReasonInvalidClass
		var ingress crdv1.TCPIngress
		var refused field.ErrorList
		if s.object.GetKind() == crdv1.KindTCPIngress {
			reason = crdv1.ReasonInvalidRule
			if err := runtime.DefaultUnstructuredConverter.FromUnstructured(s.object.Object, &ingress); err != nil {
				continue // told already
			}
			refused = validate.TCPIngress(&ingress)
		}
		for _, problem := range append(refused, schemas.problems(s.object)...) {
			rule, number := ruleAt(&ingress.Spec, problem.Field)
			if !l.knows(s, rule, number) {
				l.add(s.object, rule, reason, strings.TrimSuffix(problem.Error(), ".")+".", splitPath(problem.Field)...)
			}
		}
	}
	return nil
}

// ruleAt gives the name of the rule that a path leads into, and the one that it has where
// another rule has that name, too; "" for none.
func ruleAt(spec *crdv1.TCPIngressSpec, path string) (rule, number string) {
	steps := splitPath(path)
	if len(steps) < 3 || steps[1] != "rules" {
		return "", ""
	}
	i, isIndex := steps[2].(int)
	if !isIndex || i >= len(spec.Rules) {
		return "", ""
	}
	return validate.RuleName(&spec.Rules[i]), fmt.Sprintf("rules[%d]", i)
}

// knows tells whether something is said of the rule already, or of the object if there
// is no rule.
func (l *linter) knows(s *source, rule, number string) bool {
	return slices.ContainsFunc(l.found, func(f finding) bool {
		return f.kind == s.object.GetKind() && f.object == s.name(s.object) && (f.rule == rule || f.rule == number)
	})
}
