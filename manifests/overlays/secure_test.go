package overlays_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

type secretKey struct{ Name, Namespace, Key string }

// controller is what is changed of Metacontroller's kinds.
type controller struct {
	Spec struct {
		EndpointConfigs []struct {
			Host     string
			CABundle struct{ SecretRef secretKey }
			// Type is "Bearer" by default.
			Authorization struct {
				Type      string
				SecretRef secretKey
			}
		}
		Hooks map[string]struct {
			Webhook struct {
				Path    string
				Service struct {
					Name, Namespace, Protocol string
					Port                      int
				}
			}
		}
	}
}

func TestHooksAreCalledOverHTTPSWithTheToken(t *testing.T) {
	built := build(t, "secure")
	service := get[corev1.Service](t, built, "Service tcpingress-hooks")
	require.Len(t, service.Spec.Ports, 1)
	pod := get[appsv1.Deployment](t, built, "Deployment tcpingress").Spec.Template
	mounted := files(t, &pod.Spec)
	environment := map[string]string{}
	for _, variable := range pod.Spec.Containers[0].Env {
		environment[variable.Name] = variable.Value
	}
	served := get[certificate](t, built, "Certificate tcpingress-hooks").Spec.SecretName
	assert.Equal(t, served+"/tls.crt", mounted[environment["TCPINGRESS_TLS_CERT_FILE"]])
	assert.Equal(t, served+"/tls.key", mounted[environment["TCPINGRESS_TLS_KEY_FILE"]])
	assert.Equal(t, "https", pod.Annotations["prometheus.io/scheme"])
	assert.Contains(t, environment, "GOMEMLIMIT", "the base's are kept")

	for key, hooks := range map[string]int{
		"CompositeController tcpingress": 2, "CompositeController tcpingressclass": 2, "DecoratorController tcpingress-expose": 2,
	} {
		t.Run(key, func(t *testing.T) {
			var got controller
			require.NoError(t, yaml.Unmarshal([]byte(built[key]), &got))
			require.Len(t, got.Spec.EndpointConfigs, 1)
			endpoint := got.Spec.EndpointConfigs[0]
			assert.Equal(t, secretKey{served, service.Namespace, "ca.crt"}, endpoint.CABundle.SecretRef)
			assert.Equal(t, "Bearer", endpoint.Authorization.Type)
			token := endpoint.Authorization.SecretRef
			assert.Equal(t, service.Namespace, token.Namespace)
			assert.Equal(t, "token", token.Key)
			assert.Equal(t, token.Name+"/tokens", mounted[environment["TCPINGRESS_HOOK_TOKEN_FILE"]], "one Secret, two keys: several lines would be no header")
			require.Len(t, got.Spec.Hooks, hooks)
			for name, hook := range got.Spec.Hooks {
				s := hook.Webhook.Service
				assert.Equal(t, "https", s.Protocol, name)
				assert.EqualValues(t, service.Spec.Ports[0].Port, s.Port)
				assert.Equal(t, endpoint.Host, fmt.Sprintf("%s.%s:%d", s.Name, s.Namespace, s.Port), "as Metacontroller writes the URL")
				assert.NotEmpty(t, hook.Webhook.Path)
			}
		})
	}
}
