// Package secure tests the overlay secure with the real Metacontroller: HTTPS whose
// certificate it checks, and a token that it sends, both from Secrets.
package secure

import (
	"bytes"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

const objects = `
{apiVersion: v1, kind: Service, metadata: {namespace: default, name: redis}, spec: {ports: [{port: 6379}]}}
---
{apiVersion: nginx-stream.dev/v1, kind: TCPIngressClass, metadata: {name: nginx}, spec: {namespace: default, service: {type: ClusterIP}}}
---
apiVersion: nginx-stream.dev/v1
kind: TCPIngress
metadata: {namespace: default, name: redis}
spec: {ingressClassName: nginx, rules: [{port: 6379, backend: {service: {name: redis, port: {number: 6379}}}}]}
`

func TestRealMetacontrollerBehindTLSAndToken(t *testing.T) {
	if !harness.Real() {
		t.Skip("METACONTROLLER_BIN is not set: that the real Metacontroller calls hooks behind TLS and a token is not tested in this run, and nobody else reads Secrets for it")
	}
	h, err := harness.Start(t.Context(), harness.Options{Replicas: 1, Direct: true, Secure: true})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, h.Stop()) })

	list, err := harness.Objects(objects)
	require.NoError(t, err)
	for _, o := range list {
		_, err := h.Dynamic.Resource(resource(o)).Namespace(o.GetNamespace()).Create(t.Context(), o, metav1.CreateOptions{})
		require.NoError(t, err)
	}
	require.Eventually(t, func() bool {
		got, err := h.Dynamic.Resource(resource(list[2])).Namespace("default").Get(t.Context(), "redis", metav1.GetOptions{})
		require.NoError(t, err)
		conditions, _, _ := unstructured.NestedSlice(got.Object, "status", "conditions")
		for _, c := range conditions {
			if condition, ok := c.(map[string]any); ok && condition["type"] == "Ready" {
				return condition["status"] == "True"
			}
		}
		return false
	}, time.Minute, 100*time.Millisecond)

	// The same call without the token.
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, h.HooksURL()+"/tcpingress/sync", bytes.NewReader([]byte("{}")))
	require.NoError(t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := h.Client().Do(request)
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	assert.Equal(t, http.StatusUnauthorized, response.StatusCode)
	_, err = http.DefaultClient.Do(request.Clone(t.Context())) //nolint:bodyclose // there is none
	assert.ErrorContains(t, err, "certificate", "it is not one that everybody trusts")
}

func resource(o *unstructured.Unstructured) schema.GroupVersionResource {
	gvk := o.GroupVersionKind()
	name := map[string]string{"Service": "services", "TCPIngressClass": "tcpingressclasses", "TCPIngress": "tcpingresses"}[gvk.Kind]
	return gvk.GroupVersion().WithResource(name)
}
