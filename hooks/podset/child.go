package podset

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	podsetv1alpha1 "github.com/nginx-stream/tcpingress/crd/podset/v1alpha1"
)

// child is a pod with the fields that the hook owns, and no others: what the user
// wrote into the template, or nothing but name and labels for a pod that stays.
type child struct {
	APIVersion string               `json:"apiVersion"`
	Kind       string               `json:"kind"`
	Metadata   childMeta            `json:"metadata"`
	Spec       runtime.RawExtension `json:"spec,omitzero"`
}

type childMeta struct {
	Namespace   string            `json:"namespace"`
	Name        string            `json:"name"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
}

func newChild(meta childMeta) child {
	return child{APIVersion: corev1.SchemeGroupVersion.String(), Kind: "Pod", Metadata: meta}
}

// keep names an observed pod. Its labels are there because Metacontroller refuses
// a child that the selector does not match, also one that it will not touch.
func keep(p *pod) child {
	return newChild(childMeta{Namespace: p.Namespace, Name: p.Name, Labels: p.Labels})
}

// create gives a new pod of the template.
func create(set *podsetv1alpha1.PodSet, name string) child {
	c := newChild(childMeta{Namespace: set.Namespace, Name: name, Labels: set.Spec.PodLabels()})
	if set.Spec.Template == nil {
		c.Spec.Raw = []byte(waitingSpec)
		return c
	}
	c.Metadata.Annotations = set.Spec.Template.Metadata.Annotations
	c.Spec = set.Spec.Template.Spec
	return c
}

// waitingSpec is what pods run without a template: a container that waits, with no
// more rights than the strictest Pod Security Standard leaves it.
const waitingSpec = `{
	"automountServiceAccountToken": false,
	"containers": [{
		"name": "pause",
		"image": "registry.k8s.io/pause:3.10",
		"securityContext": {
			"allowPrivilegeEscalation": false,
			"capabilities": {"drop": ["ALL"]},
			"runAsNonRoot": true,
			"seccompProfile": {"type": "RuntimeDefault"}
		}
	}]
}`
