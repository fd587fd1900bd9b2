package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
)

// reasonBadAnnotation stands before the error of an annotated Service.
const reasonBadAnnotation = "BadAnnotation"

// finding is something in a file that will not work.
type finding struct {
	file    string
	line    int
	kind    string
	object  string
	rule    string
	reason  string
	message string
}

// String gives the line that lint prints.
func (f *finding) String() string {
	subject := f.kind + " " + f.object
	if f.rule != "" {
		subject += " " + f.rule
	}
	return fmt.Sprintf("%s:%d: %s: %s: %s", f.file, f.line, subject, f.reason, f.message)
}

// linter looks for findings in what the controllers wrote.
type linter struct {
	in      *input
	entries []simulate.Entry
	found   []finding
}

// findings gives them in the order of file and line.
func findings(in *input, entries []simulate.Entry) ([]finding, error) {
	l := &linter{in: in, entries: entries}
	for _, e := range entries {
		switch e.Object.GetKind() {
		case crdv1.KindTCPIngressClass:
			l.class(e.Object)
		case crdv1.KindTCPIngress:
			l.ingress(e.Object)
		case "Service":
			l.service(e.Object)
		}
	}
	if err := l.values(); err != nil {
		return nil, err
	}
	slices.SortStableFunc(l.found, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line))
	})
	return l.found, nil
}

// add notes a finding at a path of the source.
func (l *linter) add(o *unstructured.Unstructured, rule, reason, message string, path ...any) {
	s := l.in.origin(o, l.entries)
	if s.object == nil || s.object.GetKind() != o.GetKind() {
		path = []any{"metadata", "annotations", crdv1.AnnotationExpose}
	}
	l.found = append(l.found, finding{
		file: s.file, line: s.lines.of(path...),
		kind: o.GetKind(), object: s.name(o), rule: rule, reason: reason, message: message,
	})
}

func (l *linter) service(o *unstructured.Unstructured) {
	if message := o.GetAnnotations()[crdv1.AnnotationExposeError]; message != "" {
		l.add(o, "", reasonBadAnnotation, message, "metadata", "annotations", crdv1.AnnotationExpose)
	}
}

func (l *linter) class(o *unstructured.Unstructured) {
	var class crdv1.TCPIngressClass
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &class); err != nil {
		l.add(o, "", crdv1.ReasonInvalidClass, err.Error(), "spec")
		return
	}
	if c := refused(class.Status.Conditions, crdv1.ConditionAccepted); c != nil {
		l.add(o, "", c.Reason, c.Message, "spec")
	}
	if c := refused(class.Status.Conditions, crdv1.ConditionProgrammed); c != nil {
		switch c.Reason {
		case crdv1.ReasonServiceShared:
			l.add(o, "", c.Reason, c.Message, "spec", "provider")
		case crdv1.ReasonChildNotOwned:
			l.add(o, "", c.Reason, c.Message, "spec")
		}
	}
}

func (l *linter) ingress(o *unstructured.Unstructured) {
	var ingress crdv1.TCPIngress
	if err := runtime.DefaultUnstructuredConverter.FromUnstructured(o.Object, &ingress); err != nil {
		l.add(o, "", crdv1.ReasonInvalidRule, err.Error(), "spec")
		return
	}
	before := len(l.found)
	for i := range ingress.Status.Rules {
		l.rule(o, &ingress, &ingress.Status.Rules[i])
	}
	if c := refused(ingress.Status.Conditions, crdv1.ConditionAccepted); c != nil && c.Reason != crdv1.ReasonPending && len(l.found) == before {
		l.add(o, "", c.Reason, c.Message, "spec")
	}
}

func (l *linter) rule(o *unstructured.Unstructured, ingress *crdv1.TCPIngress, rule *crdv1.RuleStatus) {
	path := []any{"spec", "rules", indexOfRule(&ingress.Spec, rule.Name)}
	if c := refused(rule.Conditions, crdv1.ConditionAccepted); c != nil {
		if c.Reason == crdv1.ReasonPending {
			return // the class is not there or cannot be used, which is told
		}
		l.add(o, rule.Name, c.Reason, c.Message, path...)
		return
	}
	c := refused(rule.Conditions, crdv1.ConditionResolvedRefs)
	if c == nil || c.Status != metav1.ConditionFalse {
		return
	}
	if c.Reason == crdv1.ReasonServiceNotFound && !l.knowsServicesOf(o.GetNamespace()) {
		return
	}
	l.add(o, rule.Name, c.Reason, c.Message, append(path, "backend")...)
}

// knowsServicesOf tells whether the input has a Service of the namespace.
func (l *linter) knowsServicesOf(namespace string) bool {
	return slices.ContainsFunc(l.in.sources, func(s source) bool {
		return s.object.GetKind() == "Service" && s.object.GetNamespace() == namespace
	})
}

// refused gives the condition if it is there and not True.
func refused(conditions []metav1.Condition, conditionType string) *metav1.Condition {
	for i := range conditions {
		if conditions[i].Type == conditionType && conditions[i].Status != metav1.ConditionTrue {
			return &conditions[i]
		}
	}
	return nil
}

// indexOfRule finds the rule that a status speaks of: by its name or, where
// another rule has that name too, by "rules[3]".
func indexOfRule(spec *crdv1.TCPIngressSpec, ruleName string) int {
	for i := range spec.Rules {
		if validate.RuleName(&spec.Rules[i]) == ruleName || fmt.Sprintf("rules[%d]", i) == ruleName {
			return i
		}
	}
	return 0
}

// name is that of the object in a finding at the source: one that is made up is told
// by what it begins with.
func (s *source) name(o *unstructured.Unstructured) string {
	if s.prefix == "" {
		return name(o)
	}
	return strings.TrimPrefix(o.GetNamespace()+"/", "/") + s.prefix + "*"
}
