package podset_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	podsetv1alpha1 "github.com/nginx-stream/tcpingress/crd/podset/v1alpha1"
	"github.com/nginx-stream/tcpingress/hooks/podset"
	"github.com/nginx-stream/tcpingress/test/crd/apiserver"
)

// built is what `kubectl apply -k manifests/podset` sends, by kind and name.
func built(t *testing.T) map[string][]byte {
	t.Helper()
	objects, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), ".")
	require.NoError(t, err)
	out := map[string][]byte{}
	for _, object := range objects.Resources() {
		text, err := object.AsYAML()
		require.NoError(t, err)
		out[object.GetKind()+" "+object.GetName()] = text
	}
	return out
}

func TestKustomizationHoldsWhatPodSetsNeed(t *testing.T) {
	var got []string
	for name := range built(t) {
		got = append(got, name)
	}
	assert.ElementsMatch(t, []string{
		"CustomResourceDefinition podsets.app.example.com",
		"CompositeController podset",
		"ClusterRole podset-metacontroller",
		"ClusterRoleBinding podset-metacontroller",
		"ClusterRole podset-view",
		"ClusterRole podset-edit",
	}, got)
}

func TestController(t *testing.T) {
	var controller struct {
		Spec struct {
			ParentResource   struct{ APIVersion, Resource string }
			GenerateSelector bool
			ChildResources   []struct {
				APIVersion, Resource string
				UpdateStrategy       struct{ Method string }
			}
			Hooks map[string]struct {
				Version string
				Webhook struct{ Path string }
			}
		}
	}
	require.NoError(t, yaml.Unmarshal(built(t)["CompositeController podset"], &controller))
	spec := controller.Spec
	assert.Equal(t, podsetv1alpha1.APIVersion, spec.ParentResource.APIVersion)
	assert.Equal(t, "podsets", spec.ParentResource.Resource)
	assert.False(t, spec.GenerateSelector, "pods are found by spec.selector")
	require.Len(t, spec.ChildResources, 1)
	assert.Equal(t, "v1", spec.ChildResources[0].APIVersion)
	assert.Equal(t, "pods", spec.ChildResources[0].Resource)
	assert.Equal(t, "OnDelete", spec.ChildResources[0].UpdateStrategy.Method)
	var paths []string
	for _, hook := range spec.Hooks {
		assert.Equal(t, "v2", hook.Version)
		paths = append(paths, hook.Webhook.Path)
	}
	var served []string
	for _, hook := range podset.Hooks() {
		served = append(served, hook.Path)
	}
	assert.ElementsMatch(t, served, paths)
}

func TestNobodyWritesTheStatusButMetacontroller(t *testing.T) {
	for name, manifest := range built(t) {
		if name == "ClusterRole podset-metacontroller" {
			continue
		}
		var role rbacv1.ClusterRole
		require.NoError(t, yaml.Unmarshal(manifest, &role))
		for _, rule := range role.Rules {
			assert.NotContains(t, rule.Resources, "podsets/status", name)
			assert.NotContains(t, rule.Resources, "*", name)
		}
	}
}

func TestSampleIsAccepted(t *testing.T) {
	judge, err := apiserver.New([]string{string(built(t)["CustomResourceDefinition podsets.app.example.com"])})
	require.NoError(t, err)
	text, err := os.ReadFile("sample.yaml")
	require.NoError(t, err)
	raw, err := yaml.YAMLToJSONStrict(text)
	require.NoError(t, err)
	sample := &unstructured.Unstructured{}
	require.NoError(t, sample.UnmarshalJSON(raw))
	refusal, err := judge.Create(t.Context(), sample)
	require.NoError(t, err)
	assert.Empty(t, refusal)
}
