package manifests_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	psaapi "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
)

func TestDeploymentPassesRestricted(t *testing.T) {
	t.Parallel()
	objects := built(t)
	deployment := one[appsv1.Deployment](t, objects, "Deployment", "tcpingress")
	namespace := one[corev1.Namespace](t, objects, "Namespace", deployment.Namespace)
	require.Equal(t, "restricted", namespace.Labels[psaapi.EnforceLevelLabel])

	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	level := psaapi.LevelVersion{Level: psaapi.LevelRestricted, Version: psaapi.LatestVersion()}
	pod := deployment.Spec.Template
	for _, result := range evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec) {
		assert.True(t, result.Allowed, "%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
	}
}

func TestDeploymentIsHardened(t *testing.T) {
	t.Parallel()
	deployment := one[appsv1.Deployment](t, built(t), "Deployment", "tcpingress")
	pod := deployment.Spec.Template.Spec
	require.Len(t, pod.Containers, 1)
	hooks := pod.Containers[0]

	assert.GreaterOrEqual(t, *deployment.Spec.Replicas, int32(2))
	assert.False(t, *pod.AutomountServiceAccountToken)
	assert.True(t, *hooks.SecurityContext.ReadOnlyRootFilesystem)
	assert.Regexp(t, `^ghcr\.io/nginx-stream/tcpingress:v\d+\.\d+\.\d+$`, hooks.Image)
	assert.Equal(t, "/healthz", hooks.LivenessProbe.HTTPGet.Path)
	assert.Equal(t, "/readyz", hooks.ReadinessProbe.HTTPGet.Path)
	assert.False(t, hooks.Resources.Limits.Memory().IsZero())
	assert.False(t, hooks.Resources.Requests.Cpu().IsZero())
}

func TestEverySelectorFindsThePods(t *testing.T) {
	t.Parallel()
	objects := built(t)
	deployment := one[appsv1.Deployment](t, objects, "Deployment", "tcpingress")
	service := one[corev1.Service](t, objects, "Service", "tcpingress-hooks")
	budget := one[policyv1.PodDisruptionBudget](t, objects, "PodDisruptionBudget", "tcpingress")
	network := one[networkingv1.NetworkPolicy](t, objects, "NetworkPolicy", "tcpingress")

	pod := labels.Set(deployment.Spec.Template.Labels)
	tests := map[string]metav1.LabelSelector{
		"Deployment":          *deployment.Spec.Selector,
		"Service":             {MatchLabels: service.Spec.Selector},
		"PodDisruptionBudget": *budget.Spec.Selector,
		"NetworkPolicy":       network.Spec.PodSelector,
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			selector, err := metav1.LabelSelectorAsSelector(&tc)
			require.NoError(t, err)
			assert.False(t, selector.Empty())
			assert.True(t, selector.Matches(pod))
		})
	}

	port := deployment.Spec.Template.Spec.Containers[0].Ports[0]
	assert.EqualValues(t, 80, service.Spec.Ports[0].Port)
	assert.Equal(t, port.Name, service.Spec.Ports[0].TargetPort.String())
	assert.Equal(t, port.Name, network.Spec.Ingress[0].Ports[0].Port.String())
	assert.EqualValues(t, 8080, port.ContainerPort)
}

func TestNetworkPolicyAdmitsMetacontrollerOnly(t *testing.T) {
	t.Parallel()
	spec := one[networkingv1.NetworkPolicy](t, built(t), "NetworkPolicy", "tcpingress").Spec
	require.Len(t, spec.Ingress, 1)
	require.ElementsMatch(t, []networkingv1.PolicyType{networkingv1.PolicyTypeIngress, networkingv1.PolicyTypeEgress}, spec.PolicyTypes)
	assert.Empty(t, spec.Egress, "the hooks call nobody")

	// The labels of Metacontroller's published manifests.
	tests := map[string]struct {
		namespace, pod labels.Set
		want           bool
	}{
		"Metacontroller": {
			namespace: labels.Set{corev1.LabelMetadataName: "metacontroller"},
			pod:       labels.Set{"app.kubernetes.io/name": "metacontroller"},
			want:      true,
		},
		"another pod of its namespace": {
			namespace: labels.Set{corev1.LabelMetadataName: "metacontroller"},
			pod:       labels.Set{"app.kubernetes.io/name": "debug"},
		},
		"its labels in another namespace": {
			namespace: labels.Set{corev1.LabelMetadataName: "shop"},
			pod:       labels.Set{"app.kubernetes.io/name": "metacontroller"},
		},
		"a Prometheus whose namespace was let in": {
			namespace: labels.Set{corev1.LabelMetadataName: "monitoring", "nginx-stream.dev/scrape": "true"},
			pod:       labels.Set{"app.kubernetes.io/name": "prometheus"},
			want:      true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := false
			for _, peer := range spec.Ingress[0].From {
				require.NotNil(t, peer.NamespaceSelector)
				got = got || matches(t, peer.NamespaceSelector, tc.namespace) &&
					(peer.PodSelector == nil || matches(t, peer.PodSelector, tc.pod))
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func matches(t *testing.T, s *metav1.LabelSelector, set labels.Set) bool {
	t.Helper()
	selector, err := metav1.LabelSelectorAsSelector(s)
	require.NoError(t, err)
	return selector.Matches(set)
}
