package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// table prints a table of each kind, with the columns of kubectl get.
func (v *view) table(w io.Writer) error {
	printed := false
	for _, t := range v.tables() {
		if len(t.rows) == 0 {
			continue
		}
		if printed {
			if _, err := fmt.Fprintln(w); err != nil {
				return err
			}
		}
		printed = true
		out := tabwriter.NewWriter(w, 0, 0, 3, ' ', 0)
		for _, row := range append([][]string{t.columns}, t.rows...) {
			if _, err := fmt.Fprintln(out, strings.Join(row, "\t")); err != nil {
				return err
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return nil
}

type table struct {
	columns []string
	rows    [][]string
}

func (v *view) tables() []table {
	children := table{columns: []string{"NAMESPACE", "CHILD", "CONTENT"}}
	for _, o := range v.children {
		children.rows = append(children.rows, []string{o.GetNamespace(), strings.ToLower(o.GetKind()) + "/" + o.GetName(), content(o)})
	}
	classes := table{columns: []string{"CLASS", "ADDRESS", "ACCEPTED", "PROGRAMMED"}}
	ingresses := table{columns: []string{"NAMESPACE", "NAME", "CLASS", "PORTS", "ADDRESS", "READY", "REASON"}}
	services := table{columns: []string{"NAMESPACE", "SERVICE", "EXPOSE-ERROR"}}
	for _, o := range v.parents {
		switch o.GetKind() {
		case crdv1.KindTCPIngressClass:
			accepted, _ := condition(o, crdv1.ConditionAccepted)
			programmed, _ := condition(o, crdv1.ConditionProgrammed)
			classes.rows = append(classes.rows, []string{o.GetName(), addresses(o), accepted, programmed})
		case crdv1.KindTCPIngress:
			ready, reason := condition(o, crdv1.ConditionReady)
			ingresses.rows = append(ingresses.rows, []string{
				o.GetNamespace(), o.GetName(), statusText(o, "className"), statusText(o, "ports"), addresses(o), ready, reason,
			})
		default:
			services.rows = append(services.rows, []string{o.GetNamespace(), o.GetName(), o.GetAnnotations()[crdv1.AnnotationExposeError]})
		}
	}
	return []table{children, classes, ingresses, services}
}

// content tells in short what is in a child.
func content(o *unstructured.Unstructured) string {
	switch o.GetKind() {
	case "Service":
		return serviceContent(o)
	case "Deployment":
		containers, _, _ := unstructured.NestedSlice(o.Object, "spec", "template", "spec", "containers")
		for _, container := range containers {
			fields, _ := container.(map[string]any)
			return fmt.Sprint(fields["image"])
		}
		return ""
	case "PodDisruptionBudget":
		most, _, _ := unstructured.NestedFieldNoCopy(o.Object, "spec", "maxUnavailable")
		return fmt.Sprintf("at most %v unavailable", most)
	default:
		data, _, _ := unstructured.NestedMap(o.Object, "data")
		if len(data) == 1 {
			return "1 entry"
		}
		return fmt.Sprintf("%d entries", len(data))
	}
}

func serviceContent(o *unstructured.Unstructured) string {
	serviceType, _, _ := unstructured.NestedString(o.Object, "spec", "type")
	ports, _, _ := unstructured.NestedSlice(o.Object, "spec", "ports")
	var shown []string
	for _, port := range ports {
		fields, _ := port.(map[string]any)
		protocol, _ := fields["protocol"].(string)
		if protocol == "" {
			protocol = string(crdv1.ProtocolTCP)
		}
		shown = append(shown, fmt.Sprintf("%v/%s", fields["port"], protocol))
	}
	return strings.TrimSpace(serviceType + " " + strings.Join(shown, ","))
}

func condition(o *unstructured.Unstructured, conditionType string) (status, reason string) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		fields, _ := c.(map[string]any)
		if fields["type"] == conditionType {
			status, _ = fields["status"].(string)
			reason, _ = fields["reason"].(string)
		}
	}
	return status, reason
}

func statusText(o *unstructured.Unstructured, field string) string {
	text, _, _ := unstructured.NestedString(o.Object, "status", field)
	return text
}

func addresses(o *unstructured.Unstructured) string {
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "addresses")
	var values []string
	for _, a := range list {
		fields, _ := a.(map[string]any)
		if value, _ := fields["value"].(string); !slices.Contains(values, value) {
			values = append(values, value)
		}
	}
	return strings.Join(values, ",")
}
