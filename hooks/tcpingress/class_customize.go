package tcpingress

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// customizeClass asks for all TCPIngresses and classes, for the class's own Namespace,
// or all of them where it selects some by label, and for the objects that have the names
// of its children: one that is not ours must be told from one that does not exist.
func customizeClass(body []byte, _ time.Time) (any, error) {
	var parent classObject
	if err := metacontroller.DecodeCustomize(body, &parent, crdv1.APIVersion, crdv1.KindTCPIngressClass); err != nil {
		return nil, err
	}
	return metacontroller.CustomizeResponse{RelatedResources: classRelated(&parent)}, nil
}

func classRelated(parent *classObject) []metacontroller.RelatedResourceRule {
	all := &metav1.LabelSelector{}
	rules := []metacontroller.RelatedResourceRule{
		{APIVersion: crdv1.APIVersion, Resource: "tcpingresses", LabelSelector: all},
		{APIVersion: crdv1.APIVersion, Resource: "tcpingressclasses", LabelSelector: all},
		namespacesOf(&parent.Spec),
	}
	layout := layoutOf(parent.Name, &parent.Spec, "")
	named := func(apiVersion, resource string, names []string) {
		// Without names Metacontroller would select every object of the namespace.
		if len(names) > 0 {
			rules = append(rules, metacontroller.RelatedResourceRule{
				APIVersion: apiVersion, Resource: resource, Namespace: parent.Spec.Namespace, Names: names,
			})
		}
	}
	named("v1", "configmaps", layout.configMaps())
	named("v1", "services", layout.serviceNames())
	named("apps/v1", "deployments", layout.workloads())
	named("policy/v1", "poddisruptionbudgets", layout.workloads())
	return rules
}
