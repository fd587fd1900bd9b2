package manifests_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The fields of Metacontroller's kinds that we use. Another one is an error.
type (
	composite struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			ParentResource struct {
				APIVersion          string `json:"apiVersion"`
				Resource            string `json:"resource"`
				IgnoreStatusChanges bool   `json:"ignoreStatusChanges"`
			} `json:"parentResource"`
			ChildResources      []child `json:"childResources"`
			GenerateSelector    bool    `json:"generateSelector"`
			ResyncPeriodSeconds int     `json:"resyncPeriodSeconds"`
			Hooks               hooks   `json:"hooks"`
		} `json:"spec"`
	}
	decorator struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			Resources   []resource `json:"resources"`
			Attachments []child    `json:"attachments"`
			Hooks       hooks      `json:"hooks"`
		} `json:"spec"`
	}
	resource struct {
		APIVersion string `json:"apiVersion"`
		Resource   string `json:"resource"`
	}
	child struct {
		APIVersion     string `json:"apiVersion"`
		Resource       string `json:"resource"`
		UpdateStrategy struct {
			Method string `json:"method"`
		} `json:"updateStrategy"`
	}
	hooks struct {
		Customize *hook `json:"customize"`
		Sync      *hook `json:"sync"`
	}
	hook struct {
		Version string `json:"version"`
		Webhook struct {
			Service struct {
				Name      string `json:"name"`
				Namespace string `json:"namespace"`
			} `json:"service"`
			Path    string          `json:"path"`
			Timeout metav1.Duration `json:"timeout"`
		} `json:"webhook"`
	}
)

func TestCompositeControllers(t *testing.T) {
	t.Parallel()
	objects := built(t)
	tests := map[string]struct {
		parent       string
		ignoreStatus bool
		children     []resource
	}{
		"tcpingressclass": {
			parent:       "tcpingressclasses",
			ignoreStatus: true,
			children: []resource{
				{APIVersion: "v1", Resource: "services"},
				{APIVersion: "v1", Resource: "configmaps"},
				{APIVersion: "apps/v1", Resource: "deployments"},
				{APIVersion: "policy/v1", Resource: "poddisruptionbudgets"},
				{APIVersion: "nginx-stream.dev/v1", Resource: "tcpingressslices"},
			},
		},
		// A status that another writer changed waits for the next round: each sync costs
		// a request of the API server, and there are as many as statuses are written.
		"tcpingress": {parent: "tcpingresses", ignoreStatus: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := one[composite](t, objects, "CompositeController", name).Spec
			assert.Equal(t, "nginx-stream.dev/v1", got.ParentResource.APIVersion)
			assert.Equal(t, tc.parent, got.ParentResource.Resource)
			assert.Equal(t, tc.ignoreStatus, got.ParentResource.IgnoreStatusChanges)
			assert.True(t, got.GenerateSelector)
			assert.Equal(t, 120, got.ResyncPeriodSeconds)
			assert.Equal(t, tc.children, inPlace(t, got.ChildResources))
		})
	}
}

func TestDecoratorController(t *testing.T) {
	t.Parallel()
	got := one[decorator](t, built(t), "DecoratorController", "tcpingress-expose").Spec
	assert.Equal(t, []resource{{APIVersion: "v1", Resource: "services"}}, got.Resources)
	assert.Equal(t, []resource{{APIVersion: "nginx-stream.dev/v1", Resource: "tcpingresses"}}, inPlace(t, got.Attachments))
	assert.NotNil(t, got.Hooks.Customize)
}

// inPlace gives the kinds of children, and fails where one would never be updated.
func inPlace(t *testing.T, children []child) []resource {
	t.Helper()
	var out []resource
	for _, c := range children {
		assert.Equal(t, "InPlace", c.UpdateStrategy.Method, "of %s", c.Resource)
		out = append(out, resource{APIVersion: c.APIVersion, Resource: c.Resource})
	}
	return out
}

func TestHooks(t *testing.T) {
	t.Parallel()
	objects := built(t)
	service := one[corev1.Service](t, objects, "Service", "tcpingress-hooks")
	class := one[composite](t, objects, "CompositeController", "tcpingressclass").Spec.Hooks
	ingress := one[composite](t, objects, "CompositeController", "tcpingress").Spec.Hooks
	expose := one[decorator](t, objects, "DecoratorController", "tcpingress-expose").Spec.Hooks

	declared := map[string]*hook{
		"/tcpingressclass/customize": class.Customize,
		"/tcpingressclass/sync":      class.Sync,
		"/tcpingress/customize":      ingress.Customize,
		"/tcpingress/sync":           ingress.Sync,
		"/expose/customize":          expose.Customize,
		"/expose/sync":               expose.Sync,
	}
	var served []string
	for _, h := range ourHooks() {
		served = append(served, h.Path)
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(declared)), served, "what is declared is served, and the other way round")

	for path, got := range declared {
		t.Run(path, func(t *testing.T) {
			t.Parallel()
			require.NotNil(t, got)
			assert.Equal(t, path, got.Webhook.Path)
			assert.Equal(t, "v2", got.Version)
			assert.Equal(t, service.Name, got.Webhook.Service.Name)
			assert.Equal(t, service.Namespace, got.Webhook.Service.Namespace)
			assert.GreaterOrEqual(t, got.Webhook.Timeout.Duration, 10*time.Second)
		})
	}
}
