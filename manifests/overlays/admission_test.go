package overlays_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/webhook"
	"k8s.io/apiserver/pkg/cel/environment"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress"
)

func validating(t *testing.T) admissionregistrationv1.ValidatingWebhook {
	t.Helper()
	got := get[admissionregistrationv1.ValidatingWebhookConfiguration](t, build(t, "admission"), "ValidatingWebhookConfiguration tcpingress-admission")
	require.Len(t, got.Webhooks, 1)
	return got.Webhooks[0]
}

// The worst outage is then "nobody changes a TCPIngress".
func TestWebhookIsAskedAboutOurKindsOnly(t *testing.T) {
	got := validating(t)
	require.Len(t, got.Rules, 1)
	rule := got.Rules[0]
	assert.Equal(t, []string{crdv1.Group}, rule.APIGroups)
	assert.Equal(t, []string{crdv1.Version}, rule.APIVersions)
	assert.Equal(t, []string{"tcpingresses", "tcpingressclasses"}, rule.Resources, "no subresources, no wildcard")
	assert.Equal(t, []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}, rule.Operations)
	assert.Equal(t, admissionregistrationv1.SideEffectClassNone, *got.SideEffects)
	assert.LessOrEqual(t, *got.TimeoutSeconds, int32(5))
	assert.Equal(t, admissionregistrationv1.Fail, *got.FailurePolicy)
	assert.Equal(t, []string{"v1"}, got.AdmissionReviewVersions)
}

func TestWebhookIsWhereTheAPIServerLooks(t *testing.T) {
	built := build(t, "admission")
	configuration := get[admissionregistrationv1.ValidatingWebhookConfiguration](t, built, "ValidatingWebhookConfiguration tcpingress-admission")
	service := get[corev1.Service](t, built, "Service tcpingress-admission")
	pod := get[appsv1.Deployment](t, built, "Deployment tcpingress-admission").Spec.Template
	served := get[certificate](t, built, "Certificate tcpingress-admission")

	reference := validating(t).ClientConfig.Service
	assert.Equal(t, service.Name, reference.Name)
	assert.Equal(t, service.Namespace, reference.Namespace)
	assert.Equal(t, service.Spec.Ports[0].Port, *reference.Port)
	assert.Equal(t, tcpingress.AdmissionPath, *reference.Path)
	assert.Equal(t, served.Namespace+"/"+served.Name, configuration.Annotations["cert-manager.io/inject-ca-from"])

	port := pod.Spec.Containers[0].Ports[0]
	assert.Equal(t, port.Name, service.Spec.Ports[0].TargetPort.String())
	assert.Equal(t, map[string]string{
		"/etc/tcpingress/tls/tls.crt": served.Spec.SecretName + "/tls.crt",
		"/etc/tcpingress/tls/tls.key": served.Spec.SecretName + "/tls.key",
	}, files(t, &pod.Spec))
	assert.Subset(t, pod.Spec.Containers[0].Args, []string{
		"serve", "--listen=:8443", "--tls-cert-file=/etc/tcpingress/tls/tls.crt", "--tls-key-file=/etc/tcpingress/tls/tls.key",
		"--hook-token-file=/dev/null",
	})
	assert.EqualValues(t, 8443, port.ContainerPort)
}

func TestServicesFindTheirOwnPods(t *testing.T) {
	all := build(t, "all")
	pod := map[string]labels.Set{}
	for _, name := range []string{"tcpingress", "tcpingress-admission"} {
		pod[name] = get[appsv1.Deployment](t, all, "Deployment "+name).Spec.Template.Labels
	}
	for service, of := range map[string]string{"tcpingress-hooks": "tcpingress", "tcpingress-admission": "tcpingress-admission"} {
		selector := labels.SelectorFromSet(get[corev1.Service](t, all, "Service "+service).Spec.Selector)
		for name, set := range pod {
			assert.Equal(t, name == of, selector.Matches(set), "%s and %s", service, name)
		}
	}
}

// The API server's own code decides whether the webhook is asked. Where it is not, an
// outage of the webhook does not matter.
func TestWebhookIsNotNeededToLabelOrDelete(t *testing.T) {
	object := func(port int64, finalizers ...any) *unstructured.Unstructured {
		return &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "nginx-stream.dev/v1", "kind": "TCPIngress",
			"metadata": map[string]any{"name": "redis", "namespace": "data", "finalizers": finalizers},
			"spec":     map[string]any{"rules": []any{map[string]any{"port": port, "hosts": []any{"a", "b"}}}},
			"status":   map[string]any{"observedGeneration": port},
		}}
	}
	tests := map[string]struct {
		operation     admission.Operation
		before, after *unstructured.Unstructured
		want          bool
	}{
		"a creation":                   {admission.Create, nil, object(1), true},
		"a change of the spec":         {admission.Update, object(1), object(2), true},
		"the removal of a finalizer":   {admission.Update, object(1, "example.com/foreign"), object(1), false},
		"an update of nothing":         {admission.Update, object(1), object(1), false},
		"a change of the spec, frozen": {admission.Update, object(1, "example.com/foreign"), object(2), true},
	}
	w := validating(t)
	matcher := webhook.NewValidatingWebhookAccessor("uid", "tcpingress-admission", &w).
		GetCompiledMatcher(cel.NewConditionCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())))
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			kind := schema.GroupVersionKind{Group: "nginx-stream.dev", Version: "v1", Kind: "TCPIngress"}
			attributes := admission.NewAttributesRecord(nil, nil, kind, "data", "redis",
				schema.GroupVersionResource{Group: kind.Group, Version: kind.Version, Resource: "tcpingresses"}, "", tc.operation, nil, false, nil)
			versioned := &admission.VersionedAttributes{Attributes: attributes, VersionedKind: kind}
			versioned.VersionedObject.Set(tc.after)
			if tc.before != nil {
				versioned.VersionedOldObject.Set(tc.before)
			}
			got := matcher.Match(t.Context(), versioned, nil, nil)
			require.NoError(t, got.Error)
			assert.Equal(t, tc.want, got.Matches)
		})
	}
}
