package simulate

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Kind is a kind of objects that the simulated API server knows.
type Kind struct {
	APIVersion, Kind string
	// Resource is the plural in lower case.
	Resource   string
	Namespaced bool
}

// CoreKinds are the kinds of Kubernetes itself that every Cluster knows.
func CoreKinds() []Kind {
	return []Kind{
		{APIVersion: "v1", Kind: "Namespace", Resource: "namespaces"},
		{APIVersion: "v1", Kind: "ConfigMap", Resource: "configmaps", Namespaced: true},
		{APIVersion: "v1", Kind: "Service", Resource: "services", Namespaced: true},
		{APIVersion: "v1", Kind: "Pod", Resource: "pods", Namespaced: true},
		{APIVersion: "discovery.k8s.io/v1", Kind: "EndpointSlice", Resource: "endpointslices", Namespaced: true},
		{APIVersion: "apps/v1", Kind: "Deployment", Resource: "deployments", Namespaced: true},
		{APIVersion: "policy/v1", Kind: "PodDisruptionBudget", Resource: "poddisruptionbudgets", Namespaced: true},
	}
}

// WireGroup gives the key of the kind in a request: "Service.v1",
// "TCPIngress.nginx-stream.dev/v1".
func (k Kind) WireGroup() string { return k.Kind + "." + k.APIVersion }

func (k Kind) is(o *unstructured.Unstructured) bool {
	return o.GetAPIVersion() == k.APIVersion && o.GetKind() == k.Kind
}

// custom tells whether it is a custom resource, which has a group with a domain
// that is not Kubernetes' own.
func (k Kind) custom() bool {
	group, _, grouped := strings.Cut(k.APIVersion, "/")
	return grouped && strings.Contains(group, ".") && !strings.HasSuffix(group, ".k8s.io")
}

// generations tells whether the API server counts generations of the kind.
func (k Kind) generations() bool { return strings.Contains(k.APIVersion, "/") }

func (c *Cluster) kindOf(o *unstructured.Unstructured) (Kind, error) {
	for _, kind := range c.kinds {
		if kind.is(o) {
			return kind, nil
		}
	}
	return Kind{}, fmt.Errorf("kind %s of %s is not known", o.GetKind(), o.GetAPIVersion())
}

func (c *Cluster) kindOfResource(apiVersion, resource string) (Kind, error) {
	for _, kind := range c.kinds {
		if kind.APIVersion == apiVersion && kind.Resource == resource {
			return kind, nil
		}
	}
	return Kind{}, fmt.Errorf("resource %s of %s is not known", resource, apiVersion)
}
