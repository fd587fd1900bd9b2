// Package overlays_test builds the overlays as `kubectl apply -k` does, and holds what
// comes out to the base, and to the program that runs in it.
package overlays_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	psaapi "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/policy"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"
)

// objects are manifests by "kind name".
type objects map[string]string

func build(t *testing.T, path string) objects {
	t.Helper()
	built, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), path)
	require.NoError(t, err)
	out := objects{}
	for _, resource := range built.Resources() {
		text, err := resource.AsYAML()
		require.NoError(t, err)
		key := resource.GetKind() + " " + resource.GetName()
		require.NotContains(t, out, key)
		out[key] = string(text)
	}
	return out
}

// get decodes an object, and refuses fields that T lacks.
func get[T any](t *testing.T, from objects, key string) T {
	t.Helper()
	var out T
	require.Contains(t, from, key)
	require.NoError(t, yaml.UnmarshalStrict([]byte(from[key]), &out))
	return out
}

// certificate is what we use of cert-manager's kind.
type certificate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		SecretName  string   `json:"secretName"`
		CommonName  string   `json:"commonName"`
		IsCA        bool     `json:"isCA"`
		DNSNames    []string `json:"dnsNames"`
		Duration    string   `json:"duration"`
		RenewBefore string   `json:"renewBefore"`
		Usages      []string `json:"usages"`
		PrivateKey  struct {
			Algorithm      string `json:"algorithm"`
			Size           int    `json:"size"`
			RotationPolicy string `json:"rotationPolicy"`
		} `json:"privateKey"`
		IssuerRef struct {
			Group string `json:"group"`
			Kind  string `json:"kind"`
			Name  string `json:"name"`
		} `json:"issuerRef"`
	} `json:"spec"`
}

func TestOverlaysAddToTheBaseAndTakeNothingAway(t *testing.T) {
	base := build(t, "..")
	certificates := []string{"Certificate tcpingress-ca", "Issuer tcpingress-ca", "Issuer tcpingress-selfsigned"}
	secure := []string{"Certificate tcpingress-hooks", "ClusterRole tcpingress-metacontroller-secrets", "ClusterRoleBinding tcpingress-metacontroller-secrets"}
	admission := []string{
		"Certificate tcpingress-admission", "Deployment tcpingress-admission", "NetworkPolicy tcpingress-admission",
		"PodDisruptionBudget tcpingress-admission", "Service tcpingress-admission", "ValidatingWebhookConfiguration tcpingress-admission",
	}
	changed := []string{
		"CompositeController tcpingress", "CompositeController tcpingressclass", "DecoratorController tcpingress-expose",
		"Deployment tcpingress", "Service tcpingress-hooks",
	}
	tests := map[string]struct{ added, changed []string }{
		"secure":    {slices.Concat(certificates, secure), changed},
		"admission": {slices.Concat(certificates, admission), nil},
		"all":       {slices.Concat(certificates, secure, admission), changed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var added, changed []string
			built := build(t, name)
			for key, text := range built {
				switch of, found := base[key]; {
				case !found:
					added = append(added, key)
					assert.Contains(t, text, "app.kubernetes.io/part-of: tcpingress", key)
				case of != text:
					changed = append(changed, key)
				}
			}
			for key := range base {
				assert.Contains(t, built, key)
			}
			assert.ElementsMatch(t, tc.added, added)
			assert.ElementsMatch(t, tc.changed, changed)
		})
	}
}

func TestOneVersionRuns(t *testing.T) {
	image := get[appsv1.Deployment](t, build(t, ".."), "Deployment tcpingress").Spec.Template.Spec.Containers[0].Image
	all := build(t, "all")
	for _, key := range []string{"Deployment tcpingress", "Deployment tcpingress-admission"} {
		assert.Equal(t, image, get[appsv1.Deployment](t, all, key).Spec.Template.Spec.Containers[0].Image)
	}
}

func TestPodsPassRestrictedAndAreHardened(t *testing.T) {
	all := build(t, "all")
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	require.NoError(t, err)
	for _, key := range []string{"Deployment tcpingress", "Deployment tcpingress-admission"} {
		t.Run(key, func(t *testing.T) {
			deployment := get[appsv1.Deployment](t, all, key)
			pod := deployment.Spec.Template
			level := psaapi.LevelVersion{Level: psaapi.LevelRestricted, Version: psaapi.LatestVersion()}
			for _, result := range evaluator.EvaluatePod(level, &pod.ObjectMeta, &pod.Spec) {
				assert.True(t, result.Allowed, "%s: %s", result.ForbiddenReason, result.ForbiddenDetail)
			}
			container := pod.Spec.Containers[0]
			assert.GreaterOrEqual(t, *deployment.Spec.Replicas, int32(2))
			assert.False(t, *pod.Spec.AutomountServiceAccountToken)
			assert.True(t, *container.SecurityContext.ReadOnlyRootFilesystem)
			assert.False(t, container.Resources.Limits.Memory().IsZero())
			assert.Equal(t, pod.Labels, deployment.Spec.Selector.MatchLabels)
			for _, probe := range []*corev1.Probe{container.StartupProbe, container.LivenessProbe, container.ReadinessProbe} {
				assert.Equal(t, corev1.URISchemeHTTPS, probe.HTTPGet.Scheme)
				assert.Equal(t, container.Ports[0].Name, probe.HTTPGet.Port.String())
			}
			for _, mount := range container.VolumeMounts {
				assert.Empty(t, mount.SubPath, "would never be updated")
			}
			egress := get[networkingv1.NetworkPolicy](t, all, strings.Replace(key, "Deployment", "NetworkPolicy", 1))
			assert.Equal(t, pod.Labels, egress.Spec.PodSelector.MatchLabels)
			assert.Empty(t, egress.Spec.Egress)
			assert.Contains(t, egress.Spec.PolicyTypes, networkingv1.PolicyTypeEgress)
		})
	}
}

// files gives what is mounted into a container: path to "secret/key".
func files(t *testing.T, pod *corev1.PodSpec) map[string]string {
	t.Helper()
	out := map[string]string{}
	for _, mount := range pod.Containers[0].VolumeMounts {
		for _, volume := range pod.Volumes {
			if volume.Name != mount.Name {
				continue
			}
			require.NotNil(t, volume.Secret)
			for _, item := range volume.Secret.Items {
				out[mount.MountPath+"/"+item.Path] = volume.Secret.SecretName + "/" + item.Key
			}
		}
	}
	return out
}

func TestCertificates(t *testing.T) {
	all := build(t, "all")
	ca := get[certificate](t, all, "Certificate tcpingress-ca")
	assert.True(t, ca.Spec.IsCA)
	assert.Equal(t, "87600h", ca.Spec.Duration, "Metacontroller reads it once")
	issuer := get[struct {
		metav1.TypeMeta   `json:",inline"`
		metav1.ObjectMeta `json:"metadata"`
		Spec              struct {
			CA struct {
				SecretName string `json:"secretName"`
			} `json:"ca"`
		} `json:"spec"`
	}](t, all, "Issuer tcpingress-ca")
	assert.Equal(t, ca.Spec.SecretName, issuer.Spec.CA.SecretName)

	for key, names := range map[string][]string{
		// As in the URL that Metacontroller makes, and as the API server and a Prometheus call it.
		"Certificate tcpingress-hooks":     {"tcpingress-hooks.tcpingress-system", "tcpingress-hooks.tcpingress-system.svc"},
		"Certificate tcpingress-admission": {"tcpingress-admission.tcpingress-system.svc"},
	} {
		got := get[certificate](t, all, key)
		assert.Subset(t, got.Spec.DNSNames, names)
		assert.Equal(t, issuer.Name, got.Spec.IssuerRef.Name)
		assert.Equal(t, issuer.Namespace, got.Namespace)
		assert.False(t, got.Spec.IsCA)
		assert.Contains(t, got.Spec.Usages, "server auth")
	}
}

func TestMetacontrollerMayReadSecretsOnlyWhereItMust(t *testing.T) {
	role := get[rbacv1.ClusterRole](t, build(t, "secure"), "ClusterRole tcpingress-metacontroller-secrets")
	assert.Equal(t, []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"list", "watch"}}}, role.Rules)
	binding := get[rbacv1.ClusterRoleBinding](t, build(t, "secure"), "ClusterRoleBinding tcpingress-metacontroller-secrets")
	assert.Equal(t, role.Name, binding.RoleRef.Name)
	assert.Equal(t, []rbacv1.Subject{{Kind: "ServiceAccount", Name: "metacontroller", Namespace: "metacontroller"}}, binding.Subjects)
	for key, text := range build(t, "admission") {
		if strings.HasPrefix(key, "ClusterRole ") {
			assert.NotContains(t, text, "secrets", key)
		}
	}
}
