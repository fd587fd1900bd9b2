package manifests_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/api/resmap"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// built is what `kubectl apply -k manifests` sends.
func built(t *testing.T) resmap.ResMap {
	t.Helper()
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), ".")
	require.NoError(t, err)
	return objects
}

// one decodes the only object of that kind and name, and refuses fields that T lacks.
func one[T any](t *testing.T, objects resmap.ResMap, kind, name string) T {
	t.Helper()
	var out T
	found := 0
	for _, object := range objects.Resources() {
		if object.GetKind() != kind || object.GetName() != name {
			continue
		}
		found++
		text, err := object.AsYAML()
		require.NoError(t, err)
		require.NoError(t, yaml.UnmarshalStrict(text, &out))
	}
	require.Equal(t, 1, found, "objects of kind %s with the name %s", kind, name)
	return out
}

func TestKustomizationHoldsWhatAClusterNeeds(t *testing.T) {
	t.Parallel()
	var got []string
	for _, object := range built(t).Resources() {
		got = append(got, object.GetKind()+" "+object.GetName())
	}
	want := []string{
		"ClusterRole tcpingress-edit",
		"ClusterRole tcpingress-metacontroller",
		"ClusterRole tcpingress-view",
		"ClusterRole tcpingressclass-admin",
		"ClusterRoleBinding tcpingress-metacontroller",
		"CompositeController tcpingress",
		"CompositeController tcpingressclass",
		"CustomResourceDefinition tcpingressclasses.nginx-stream.dev",
		"CustomResourceDefinition tcpingresses.nginx-stream.dev",
		"CustomResourceDefinition tcpingressslices.nginx-stream.dev",
		"DecoratorController tcpingress-expose",
		"Deployment tcpingress",
		"Namespace tcpingress-system",
		"NetworkPolicy tcpingress",
		"PodDisruptionBudget tcpingress",
		"Service tcpingress-hooks",
		"ServiceAccount tcpingress",
		"ValidatingAdmissionPolicy tcpingress", "ValidatingAdmissionPolicy tcpingressclass-delete",
		"ValidatingAdmissionPolicyBinding tcpingress", "ValidatingAdmissionPolicyBinding tcpingressclass-delete",
	}
	order := slices.Clone(got)
	slices.Sort(got)
	assert.Equal(t, want, got)
	assert.Equal(t, "Namespace tcpingress-system", order[0], "the namespace is applied first")
}
