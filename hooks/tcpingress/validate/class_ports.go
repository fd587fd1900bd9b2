package validate

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

const (
	portText        = "must be 1 to 65535"
	maxRanges       = 64
	maxGrants       = 64
	maxNamespaces   = 64
	maxPerNamespace = 65535
)

func classPorts(spec *crdv1.TCPIngressClassSpec, path *field.Path) field.ErrorList {
	p := spec.Ports
	errs := portRanges(p.Allowed, path.Child("allowed"))
	if p.Pool != nil {
		errs = append(errs, pool(spec, path.Child("pool"))...)
	}
	grants := path.Child("grants")
	if len(p.Grants) > maxGrants {
		errs = append(errs, tooMany(grants, len(p.Grants), maxGrants))
	} else {
		for i := range p.Grants {
			errs = append(errs, grant(&p.Grants[i], grants.Index(i))...)
		}
	}
	return append(errs, between(p.MaxPerNamespace, 1, maxPerNamespace, "must be 1 to 65535, or left out for no limit", path.Child("maxPerNamespace"))...)
}

// pool checks that some number of the pool can be given: one that is partly reserved can.
func pool(spec *crdv1.TCPIngressClassSpec, path *field.Path) field.ErrorList {
	p := spec.Ports.Pool
	errs := portRange(p, path)
	if len(errs) > 0 {
		return errs
	}
	if !withinOne(*p, spec.Ports.Allowed) {
		errs = append(errs, field.Invalid(path, rangeText(p), "must lie within one of the ranges in allowed; widen that range or move the pool"))
	}
	for _, r := range reservedRanges(spec) {
		if r.From <= p.From && p.To <= r.To {
			settings := "reservedPorts"
			if spec.Provider == crdv1.ProviderNginx {
				settings = "ipLocalPortRange and reservedPorts"
			}
			errs = append(errs, field.Invalid(path, rangeText(p), fmt.Sprintf(
				"lies wholly within %s, which is reserved for nginx itself (see %s), so no rule could get a port of it; move the pool", rangeText(&r), settings)))
		}
	}
	return errs
}

func grant(g *crdv1.PortGrant, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(g.Namespaces) == 0 && g.NamespaceSelector == nil {
		errs = append(errs, field.Required(path, "a grant needs namespaces or namespaceSelector; an empty selector ({}) means every namespace"))
	}
	namespaces := path.Child("namespaces")
	if len(g.Namespaces) > maxNamespaces {
		errs = append(errs, tooMany(namespaces, len(g.Namespaces), maxNamespaces))
	} else {
		for i, ns := range g.Namespaces {
			if !isLabel(ns) {
				errs = append(errs, field.Invalid(namespaces.Index(i), ns, labelText))
			}
		}
		errs = append(errs, duplicates(g.Namespaces, place{base: namespaces})...)
	}
	errs = append(errs, labelSelector(g.NamespaceSelector, path.Child("namespaceSelector"))...)
	if len(g.Ports) == 0 {
		return append(errs, field.Required(path.Child("ports"), "a grant gives at least one range of ports"))
	}
	return append(errs, portRanges(g.Ports, path.Child("ports"))...)
}

func allowedNamespaces(a *crdv1.AllowedNamespaces, path *field.Path) field.ErrorList {
	errs := enum(a.From, path.Child("from"), crdv1.NamespacesFromAll, crdv1.NamespacesFromSelector)
	switch {
	case a.From == crdv1.NamespacesFromSelector && a.Selector == nil:
		errs = append(errs, field.Required(path.Child("selector"), "from: Selector needs a selector"))
	case a.From != crdv1.NamespacesFromSelector && a.Selector != nil:
		errs = append(errs, field.Forbidden(path.Child("selector"), "selector counts with from: Selector only; set from, or leave selector out"))
	}
	return append(errs, labelSelector(a.Selector, path.Child("selector"))...)
}

// labelSelector checks a selector as the API server does, and sorts the errors,
// because it walks through a map.
func labelSelector(s *metav1.LabelSelector, path *field.Path) field.ErrorList {
	if s == nil {
		return nil
	}
	errs := labels(s.MatchLabels, maxLabels, path.Child("matchLabels"))
	if len(s.MatchExpressions) > maxLabels {
		return append(errs, tooMany(path.Child("matchExpressions"), len(s.MatchExpressions), maxLabels))
	}
	for i := range s.MatchExpressions {
		errs = append(errs, metav1validation.ValidateLabelSelectorRequirement(s.MatchExpressions[i],
			metav1validation.LabelSelectorValidationOptions{}, path.Child("matchExpressions").Index(i))...)
	}
	return errs
}

func portRanges(list []crdv1.PortRange, path *field.Path) field.ErrorList {
	if len(list) > maxRanges {
		return field.ErrorList{tooMany(path, len(list), maxRanges)}
	}
	var errs field.ErrorList
	for i := range list {
		errs = append(errs, portRange(&list[i], path.Index(i))...)
	}
	return errs
}

func portRange(r *crdv1.PortRange, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.From < minPort || r.From > maxPort {
		errs = append(errs, field.Invalid(path.Child("from"), r.From, portText))
	}
	if r.To < minPort || r.To > maxPort {
		errs = append(errs, field.Invalid(path.Child("to"), r.To, portText))
	}
	if len(errs) == 0 && r.From > r.To {
		errs = append(errs, field.Invalid(path.Child("to"), r.To, "must not be less than from"))
	}
	return errs
}

// withinOne tells whether one of the ranges holds all of r; no ranges hold everything.
func withinOne(r crdv1.PortRange, list []crdv1.PortRange) bool {
	for _, a := range list {
		if a.From <= r.From && r.To <= a.To {
			return true
		}
	}
	return len(list) == 0
}
