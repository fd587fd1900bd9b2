package tcpingress

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// nginxAnswer calls the hook of a class with the children of provider Nginx beside
// what classRequest reads.
func nginxAnswer(t *testing.T, text, deployments string) classAnswer {
	t.Helper()
	var request map[string]any
	require.NoError(t, json.Unmarshal(classRequest(t, text), &request))
	var in struct{ Deployments, Disruptions []map[string]any }
	require.NoError(t, yaml.UnmarshalStrict([]byte(deployments), &in))
	for kind, list := range map[string][]map[string]any{"Deployment.apps/v1": in.Deployments, "PodDisruptionBudget.policy/v1": in.Disruptions} {
		group := map[string]any{}
		for _, o := range list {
			group[o["metadata"].(map[string]any)["name"].(string)] = o
		}
		for _, where := range []string{"children", "related"} {
			request[where].(map[string]any)[kind] = group
		}
	}
	body, err := json.Marshal(request)
	require.NoError(t, err)
	response, err := classHook{agentImage: "agent:1"}.sync(body, clock())
	require.NoError(t, err)
	data, err := metacontroller.Encode(response)
	require.NoError(t, err)
	var answer classAnswer
	require.NoError(t, json.Unmarshal(data, &answer))
	return answer
}

const ownDeployments = `
deployments:
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    namespace: ingress-nginx
    name: nginx-stream
    labels: {controller-uid: u-1}
    annotations: {metacontroller.k8s.io/last-applied-configuration: '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"nginx-stream","namespace":"ingress-nginx"},"spec":{"replicas":2}}'}
  spec: {replicas: 2, paused: true}
- apiVersion: apps/v1
  kind: Deployment
  metadata:
    namespace: shop
    name: web
    labels: {controller-uid: u-1}
  spec: {replicas: 2}
disruptions:
- apiVersion: policy/v1
  kind: PodDisruptionBudget
  metadata:
    namespace: ingress-nginx
    name: nginx-stream
    labels: {controller-uid: u-1}
    managedFields:
    - {manager: metacontroller, operation: Apply, apiVersion: policy/v1, fieldsType: FieldsV1, time: "2026-01-01T00:00:00Z", fieldsV1: {"f:spec": {"f:maxUnavailable": {}}}}
  spec: {maxUnavailable: 1, minAvailable: 7}
`

// An unusable class keeps its pods as they were last written, and a switch in the
// middle is not forgotten.
func TestFrozenClassKeepsItsPods(t *testing.T) {
	t.Parallel()
	answer := nginxAnswer(t, `
parent:
  metadata: {name: nginx, uid: u-1, generation: 1, creationTimestamp: "2026-01-01T00:00:00Z"}
  spec: {namespace: ingress-nginx, provider: Nginx, nginx: {image: "not an image"}}
  status: {switch: {from: IngressNginx, moved: "2026-05-06T07:00:00Z"}}
`, ownDeployments)
	require.NotNil(t, answer.Status.Switch)
	assert.Equal(t, crdv1.ProviderIngressNginx, answer.Status.Switch.From)
	assert.JSONEq(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"nginx-stream","namespace":"ingress-nginx"},"spec":{"replicas":2}}`, answer.child("Deployment", "nginx-stream"))
	assert.JSONEq(t, `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"nginx-stream","namespace":"ingress-nginx"},"spec":{"maxUnavailable":1}}`, answer.child("PodDisruptionBudget", "nginx-stream"))
}

// A Deployment that somebody labelled by mistake would be deleted if it were left out.
func TestWronglyLabelledDeploymentIsKept(t *testing.T) {
	t.Parallel()
	for _, provider := range []string{"Nginx", "IngressNginx"} {
		answer := nginxAnswer(t, `
parent:
  metadata: {name: nginx, uid: u-1, generation: 1, creationTimestamp: "2026-01-01T00:00:00Z"}
  spec: {namespace: ingress-nginx, provider: `+provider+`}
`, ownDeployments)
		assert.JSONEq(t, `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web","namespace":"shop"}}`, answer.child("Deployment", "web"))
	}
}

func TestAgentImageIsTheOneOfTheHooks(t *testing.T) {
	t.Parallel()
	answer := nginxAnswer(t, `
parent:
  metadata: {name: nginx, uid: u-1, generation: 1, creationTimestamp: "2026-01-01T00:00:00Z"}
  spec: {namespace: ingress-nginx, provider: Nginx}
`, "")
	assert.Contains(t, answer.child("Deployment", "nginx-stream"), `"image":"agent:1"`)
}
