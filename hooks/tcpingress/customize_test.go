package tcpingress

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// The exact bytes matter: Metacontroller refuses unknown fields, and reads a rule
// without names and selectors as "everything" (C57).
func TestCustomizeAnswers(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ path, parent, want string }{
		"a class": {
			path:   "/tcpingressclass/customize",
			parent: `{"apiVersion":"nginx-stream.dev/v1","kind":"TCPIngressClass","metadata":{"name":"nginx"},"spec":{"namespace":"ingress-nginx"}}`,
			want: `{"relatedResources":[` +
				`{"apiVersion":"nginx-stream.dev/v1","resource":"tcpingresses","labelSelector":{}},` +
				`{"apiVersion":"nginx-stream.dev/v1","resource":"tcpingressclasses","labelSelector":{}},` +
				`{"apiVersion":"v1","resource":"namespaces","names":["ingress-nginx","kube-system"]},` +
				`{"apiVersion":"v1","resource":"configmaps","namespace":"ingress-nginx","names":["tcp-services","udp-services"]},` +
				`{"apiVersion":"v1","resource":"services","namespace":"ingress-nginx","names":["nginx-stream-tcp","nginx-stream-udp"]}]}`,
		},
		"a class that selects namespaces by label, without UDP": {
			path:   "/tcpingressclass/customize",
			parent: `{"apiVersion":"nginx-stream.dev/v1","kind":"TCPIngressClass","metadata":{"name":"nginx"},"spec":{"namespace":"x","ingressNginx":{"tcpConfigMapName":"t","udpConfigMapName":""},"service":{"tcpName":"lb"},"ports":{"grants":[{"namespaceSelector":{"matchLabels":{"a":"b"}},"ports":[{"from":1,"to":2}]}]}}}`,
			want: `{"relatedResources":[` +
				`{"apiVersion":"nginx-stream.dev/v1","resource":"tcpingresses","labelSelector":{}},` +
				`{"apiVersion":"nginx-stream.dev/v1","resource":"tcpingressclasses","labelSelector":{}},` +
				`{"apiVersion":"v1","resource":"namespaces","labelSelector":{}},` +
				`{"apiVersion":"v1","resource":"configmaps","namespace":"x","names":["t"]},` +
				`{"apiVersion":"v1","resource":"services","namespace":"x","names":["lb"]}]}`,
		},
		"a class that runs nginx itself": {
			path:   "/tcpingressclass/customize",
			parent: `{"apiVersion":"nginx-stream.dev/v1","kind":"TCPIngressClass","metadata":{"name":"edge"},"spec":{"provider":"Nginx","namespace":"x"}}`,
			want: `{"relatedResources":[` +
				`{"apiVersion":"nginx-stream.dev/v1","resource":"tcpingresses","labelSelector":{}},` +
				`{"apiVersion":"nginx-stream.dev/v1","resource":"tcpingressclasses","labelSelector":{}},` +
				`{"apiVersion":"v1","resource":"namespaces","names":["x","kube-system"]},` +
				`{"apiVersion":"v1","resource":"configmaps","namespace":"x","names":["edge-stream",` + shardNames("edge-stream") + `]},` +
				`{"apiVersion":"v1","resource":"services","namespace":"x","names":["edge-stream-tcp","edge-stream-udp"]},` +
				`{"apiVersion":"apps/v1","resource":"deployments","namespace":"x","names":["edge-stream"]},` +
				`{"apiVersion":"policy/v1","resource":"poddisruptionbudgets","namespace":"x","names":["edge-stream"]}]}`,
		},
		"a TCPIngress that names its class": {
			path:   "/tcpingress/customize",
			parent: `{"apiVersion":"nginx-stream.dev/v1","kind":"TCPIngress","metadata":{"namespace":"data","name":"redis"},"spec":{"ingressClassName":"nginx","rules":[{"port":2,"backend":{"service":{"name":"b"}}},{"port":1,"backend":{"service":{"name":"a"}}},{"port":3,"backend":{"service":{"name":"b"}}},{"port":4,"backend":{"service":{"name":"x/y"}}}]}}`,
			want: `{"relatedResources":[` +
				`{"apiVersion":"nginx-stream.dev/v1","resource":"tcpingressslices","names":["nginx-` + page("data/redis") + `"]},` +
				`{"apiVersion":"v1","resource":"services","namespace":"data","names":["a","b"]},` +
				`{"apiVersion":"discovery.k8s.io/v1","resource":"endpointslices","labelSelector":{"matchExpressions":[{"key":"kubernetes.io/service-name","operator":"In","values":["a","b"]}]},"namespace":"data"}]}`,
		},
		"a TCPIngress without a class and without a Service that can exist": {
			path:   "/tcpingress/customize",
			parent: `{"apiVersion":"nginx-stream.dev/v1","kind":"TCPIngress","metadata":{"namespace":"data","name":"redis"},"spec":{"rules":[{"port":2,"backend":{"service":{"name":"A B"}}}]}}`,
			want: `{"relatedResources":[` +
				`{"apiVersion":"nginx-stream.dev/v1","resource":"tcpingressslices","labelSelector":{"matchLabels":{"nginx-stream.dev/slice":"` + page("data/redis") + `"}}}]}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, hook := range Hooks() {
				if hook.Path != tc.path {
					continue
				}
				response, err := hook.Serve([]byte(`{"controller":{},"parent":`+tc.parent+`}`), clock())
				require.NoError(t, err)
				got, err := metacontroller.Encode(response)
				require.NoError(t, err)
				assert.Equal(t, tc.want, string(got))
				return
			}
			require.Fail(t, "no such hook", tc.path)
		})
	}
}

// shardNames lists the names of the ConfigMaps with servers, as JSON has them.
func shardNames(name string) string {
	var list []string
	for i := range 16 {
		list = append(list, fmt.Sprintf("%q", fmt.Sprintf("%s-%02d", name, i)))
	}
	return strings.Join(list, ",")
}

func TestPage(t *testing.T) {
	t.Parallel()
	assert.Equal(t, "05", page("data/redis"), "a changed hash would move every verdict to another slice")
	assert.Equal(t, "nginx-05", sliceName("nginx", "05"))
}
