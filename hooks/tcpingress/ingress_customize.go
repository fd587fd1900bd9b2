package tcpingress

import (
	"slices"
	"time"

	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// customizeIngress asks for the slice that can hold the verdict on a TCPIngress,
// for the Services that it names and for their EndpointSlices.
func customizeIngress(body []byte, _ time.Time) (any, error) {
	var parent ingressObject
	if err := metacontroller.DecodeCustomize(body, &parent, crdv1.APIVersion, crdv1.KindTCPIngress); err != nil {
		return nil, err
	}
	return metacontroller.CustomizeResponse{RelatedResources: ingressRelated(&parent)}, nil
}

func ingressRelated(parent *ingressObject) []metacontroller.RelatedResourceRule {
	digits := page(parent.Namespace + "/" + parent.Name)
	verdicts := metacontroller.RelatedResourceRule{APIVersion: crdv1.APIVersion, Resource: "tcpingressslices"}
	if class := parent.Spec.IngressClassName; class != "" {
		verdicts.Names = []string{sliceName(class, digits)}
	} else {
		verdicts.LabelSelector = &metav1.LabelSelector{MatchLabels: map[string]string{crdv1.LabelSlice: digits}}
	}
	rules := []metacontroller.RelatedResourceRule{verdicts}

	names := serviceNames(&parent.Spec)
	if len(names) == 0 {
		// Without names Metacontroller would select every Service of the namespace.
		return rules
	}
	return append(rules,
		metacontroller.RelatedResourceRule{
			APIVersion: "v1", Resource: "services",
			Namespace: parent.Namespace, Names: names,
		},
		metacontroller.RelatedResourceRule{
			APIVersion: "discovery.k8s.io/v1", Resource: "endpointslices",
			Namespace: parent.Namespace,
			LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
				Key: discoveryv1.LabelServiceName, Operator: metav1.LabelSelectorOpIn, Values: names,
			}}},
		})
}

// serviceNames lists the Services that the rules name, sorted, without those
// that cannot exist.
func serviceNames(spec *crdv1.TCPIngressSpec) []string {
	var names []string
	for i := range spec.Rules {
		name := spec.Rules[i].Backend.Service.Name
		if len(validation.IsDNS1123Label(name)) == 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
