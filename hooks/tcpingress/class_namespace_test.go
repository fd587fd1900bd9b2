package tcpingress

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

func TestMissingNamespaceIsTold(t *testing.T) {
	t.Parallel()
	const (
		system   = "\nnamespaces:\n- metadata: {name: kube-system}\n"
		there    = system + "- metadata: {name: ingress-nginx}\n"
		going    = system + "- metadata: {name: ingress-nginx, deletionTimestamp: \"2026-01-01T00:00:00Z\"}\n"
		pending  = "Programmed=False/Pending: Not yet as they should be: ConfigMap ingress-nginx/tcp-services, ConfigMap ingress-nginx/udp-services; if this lasts, errors of the API server are events of the class: kubectl describe tcpingressclass nginx"
		deleting = "Programmed=False/Pending: Namespace ingress-nginx is being deleted, so nothing can be made in it; create it again when it is gone (kubectl create namespace ingress-nginx), or replace the class by one with another spec.namespace."
	)
	byLabel := strings.Replace(bookedClass, "ingress-nginx}", "ingress-nginx, allowedNamespaces: {from: Selector, selector: {}}}", 1)
	require.NotEqual(t, bookedClass, byLabel)
	tests := map[string]struct{ request, class, rule string }{
		"it is not there": {
			bookedClass + judgedRedis + system,
			"Programmed=False/NamespaceNotFound: Namespace ingress-nginx does not exist, so nothing can be made in it; create it (kubectl create namespace ingress-nginx), or replace the class by one with another spec.namespace.",
			"Namespace ingress-nginx of TCPIngressClass nginx does not exist; ask the platform admin to create it.",
		},
		"it is not among all that there are": {
			byLabel + judgedRedis + system + "- metadata: {name: data}\n",
			"Programmed=False/NamespaceNotFound: Namespace ingress-nginx does not exist, so nothing can be made in it; create it (kubectl create namespace ingress-nginx), or replace the class by one with another spec.namespace.",
			"Namespace ingress-nginx of TCPIngressClass nginx does not exist; ask the platform admin to create it.",
		},
		"it is being deleted": {
			bookedClass + judgedRedis + going,
			deleting,
			"Namespace ingress-nginx of TCPIngressClass nginx is being deleted; ask the platform admin to create it again.",
		},
		"it is there":                    {bookedClass + judgedRedis + there, "", pendingMessage("nginx")},
		"no namespace is known":          {bookedClass + judgedRedis, pending, pendingMessage("nginx")},
		"only those of others are known": {byLabel + judgedRedis + "\nnamespaces:\n- metadata: {name: data}\n", pending, pendingMessage("nginx")},
		"something in it is there": {
			bookedClass + judgedRedis + system + "foreignMaps: [{metadata: {namespace: ingress-nginx, name: udp-services, deletionTimestamp: \"2026-01-01T00:00:00Z\"}}]",
			pending, pendingMessage("nginx"),
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := callClass(t, tc.request)
			got := words(answer.Status.Conditions)
			assert.Contains(t, got, "Accepted=True/Accepted: The class can be used.")
			if tc.class == "" {
				assert.NotContains(t, strings.Join(got, "\n"), "Namespace")
			} else {
				assert.Contains(t, got, tc.class)
			}
			assert.Equal(t, crdv1.SliceRule{Port: 6379, Protocol: "TCP", Reason: crdv1.ReasonPending, Message: tc.rule}, answer.rule(t, "tcp-6379"))
			assert.NotEmpty(t, answer.child("Service", "nginx-stream-tcp"), "what shall be is asked for all the same")
		})
	}
}

// Metacontroller keeps the answer of an older release to customize, which did not ask
// for Namespaces, until the class is edited.
func TestNamespacesThatWereNotAskedForAreNotMissing(t *testing.T) {
	t.Parallel()
	var request map[string]any
	require.NoError(t, json.Unmarshal(classRequest(t, bookedClass+judgedRedis), &request))
	delete(request["related"].(map[string]any), "Namespace.v1")
	body, err := json.Marshal(request)
	require.NoError(t, err)
	answer, err := classHook{}.sync(body, clock())
	require.NoError(t, err)
	data, err := json.Marshal(answer)
	require.NoError(t, err)
	assert.NotContains(t, string(data), crdv1.ReasonNamespaceNotFound)
	assert.Contains(t, string(data), "Not yet as they should be")
}
