package podset

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// newCluster has the controller that is deployed, and the sample with that many replicas.
func newCluster(t *testing.T, replicas int64) (cluster *simulate.Cluster, scale func(int64)) {
	t.Helper()
	manifest, err := os.ReadFile("../../manifests/podset/controller.yaml")
	require.NoError(t, err)
	controllers, err := simulate.ReadManifests(manifest)
	require.NoError(t, err)
	require.Len(t, controllers, 1)
	// Only generated selectors are simulated. That children match the PodSet's own
	// one is held by the properties.
	require.NoError(t, unstructured.SetNestedField(controllers[0].Object, true, "spec", "generateSelector"))
	cluster, err = simulate.New(simulate.Options{
		Kinds:       []simulate.Kind{{APIVersion: "app.example.com/v1alpha1", Kind: "PodSet", Resource: "podsets", Namespaced: true}},
		Controllers: controllers,
		Hooks:       Hooks(),
		Now:         noon(),
		MaxRounds:   60,
	})
	require.NoError(t, err)

	sample, err := os.ReadFile("../../manifests/podset/sample.yaml")
	require.NoError(t, err)
	scale = func(replicas int64) {
		set := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal(sample, &set.Object))
		require.NoError(t, unstructured.SetNestedField(set.Object, replicas, "spec", "replicas"))
		require.NoError(t, cluster.Put(set))
	}
	scale(replicas)
	return cluster, scale
}

func podNames(t *testing.T, cluster *simulate.Cluster) string {
	t.Helper()
	var names []string
	for i := range 60 {
		if cluster.Get("v1", "Pod", "default", fmt.Sprintf("web-%d", i)) != nil {
			names = append(names, fmt.Sprint(i))
		}
	}
	return strings.Join(names, " ")
}

// TestAgainstTheDeployedController goes up to 50 and down to 3, a pod a round, and
// then writes nothing: the pods that stay are returned without their spec.
func TestAgainstTheDeployedController(t *testing.T) {
	cluster, scale := newCluster(t, 50)
	rounds, err := cluster.Settle()
	require.NoError(t, err)
	assert.GreaterOrEqual(t, rounds, 50)
	assert.Len(t, strings.Fields(podNames(t, cluster)), 50)

	before := cluster.Get("v1", "Pod", "default", "web-0")
	rounds, err = cluster.Settle()
	require.NoError(t, err)
	assert.Equal(t, 1, rounds, "a whole round wrote nothing")
	assert.Equal(t, before, cluster.Get("v1", "Pod", "default", "web-0"))
	_, hasSpec := before.Object["spec"]
	assert.True(t, hasSpec)

	scale(3)
	_, err = cluster.Settle()
	require.NoError(t, err)
	assert.Equal(t, "0 1 2", podNames(t, cluster))

	cluster.Delete("v1", "Pod", "default", "web-1")
	_, err = cluster.Settle()
	require.NoError(t, err)
	assert.Equal(t, "0 1 2", podNames(t, cluster), "a pod that is deleted by hand comes back")

	failed := cluster.Get("v1", "Pod", "default", "web-2")
	require.NoError(t, unstructured.SetNestedField(failed.Object, "Failed", "status", "phase"))
	require.NoError(t, cluster.Put(failed))
	_, err = cluster.Settle()
	require.NoError(t, err)
	_, hasStatus := cluster.Get("v1", "Pod", "default", "web-2").Object["status"]
	assert.False(t, hasStatus, "the failed pod has been replaced")

	cluster.Delete("app.example.com/v1alpha1", "PodSet", "default", "web")
	assert.Empty(t, podNames(t, cluster), "the pods go with the PodSet")
}
