package tcpingress

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// alwaysThere is a namespace that the API server makes and lets nobody delete. Where it is
// observed, namespaces are known, and one that is not observed does not exist; files, say,
// hold no namespaces at all.
const alwaysThere = metav1.NamespaceSystem

// namespacesOf asks for the Namespaces that matter to the class: all of them where it
// selects some by label.
func namespacesOf(spec *crdv1.TCPIngressClassSpec) metacontroller.RelatedResourceRule {
	rule := metacontroller.RelatedResourceRule{APIVersion: "v1", Resource: "namespaces"}
	switch {
	case selectsNamespaces(spec):
		rule.LabelSelector = &metav1.LabelSelector{}
	case spec.Namespace == alwaysThere || spec.Namespace == "":
		rule.Names = []string{alwaysThere}
	default:
		rule.Names = []string{spec.Namespace, alwaysThere}
	}
	return rule
}

// selectsNamespaces tells whether the labels of namespaces matter to the class.
func selectsNamespaces(spec *crdv1.TCPIngressClassSpec) bool {
	if a := spec.AllowedNamespaces; a != nil && a.From == crdv1.NamespacesFromSelector {
		return true
	}
	if spec.Ports != nil {
		for i := range spec.Ports.Grants {
			if spec.Ports.Grants[i].NamespaceSelector != nil {
				return true
			}
		}
	}
	return false
}

// homeless tells why nothing can be made in the namespace of the class.
type homeless struct {
	// class is Programmed of the class, and rule a sentence for the owners of rules.
	class verdict
	rule  string
}

// homeless is nil where the namespace is there, and where that is not known for certain:
// an object in it is better evidence than a namespace that was not seen.
func (in *classInput) homeless() *homeless {
	inside := len(in.configMaps) + len(in.services) + len(in.deployments) + len(in.disruptions) +
		len(in.namedConfigMaps) + len(in.namedServices) + len(in.namedDeployments) + len(in.namedDisruptions)
	if inside > 0 {
		return nil
	}
	known := false
	for i := range in.namespaces {
		ns := &in.namespaces[i]
		known = known || ns.Name == alwaysThere
		if ns.Name != in.parent.Spec.Namespace {
			continue
		}
		if ns.DeletionTimestamp == nil {
			return nil
		}
		return &homeless{
			class: isFalse(crdv1.ReasonPending, namespaceGoes(ns.Name)),
			rule:  namespaceGoesForRule(ns.Name, in.parent.Name),
		}
	}
	if !known {
		return nil
	}
	name := in.parent.Spec.Namespace
	return &homeless{
		class: isFalse(crdv1.ReasonNamespaceNotFound, namespaceNotFound(name)),
		rule:  namespaceNotFoundForRule(name, in.parent.Name),
	}
}
