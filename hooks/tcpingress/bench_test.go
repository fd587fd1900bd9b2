package tcpingress

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkSyncIngress reads a page of 200 verdicts and a backend of 300 endpoints.
func BenchmarkSyncIngress(b *testing.B) {
	related := func(n int, format string) string {
		list := make([]string, n)
		for i := range list {
			list[i] = strings.ReplaceAll(format, "%d", fmt.Sprint(i))
		}
		return strings.Join(list, ",")
	}
	body := []byte(`{"parent":{"apiVersion":"nginx-stream.dev/v1","kind":"TCPIngress","metadata":{"namespace":"a","name":"b","generation":1},
"spec":{"ingressClassName":"nginx","rules":[{"port":6379,"backend":{"service":{"name":"redis","port":{"number":6379}}}}]}},"children":{},"related":{
"TCPIngressSlice.nginx-stream.dev/v1":{"nginx-00":{"apiVersion":"nginx-stream.dev/v1","kind":"TCPIngressSlice","metadata":{"name":"nginx-00","labels":{"nginx-stream.dev/slice":"00"}},"class":"nginx","entries":{
"a/b":{"generation":1,"rules":{"tcp-6379":{"port":6379,"protocol":"TCP","live":true}}},` +
		related(199, `"ns/i-%d":{"generation":1,"rules":{"tcp-%d":{"port":%d,"protocol":"TCP","live":true}}}`) + `}}},
"Service.v1":{"a/redis":{"apiVersion":"v1","kind":"Service","metadata":{"namespace":"a","name":"redis"},"spec":{"ports":[{"name":"redis","port":6379,"protocol":"TCP","targetPort":6379}],"selector":{"app":"redis"},"clusterIP":"10.96.0.1"}}},
"EndpointSlice.discovery.k8s.io/v1":{` +
		related(3, `"a/redis-%d":{"apiVersion":"discovery.k8s.io/v1","kind":"EndpointSlice","metadata":{"namespace":"a","name":"redis-%d","labels":{"kubernetes.io/service-name":"redis"}},"addressType":"IPv4","ports":[{"name":"redis","port":6379,"protocol":"TCP"}],"endpoints":[`+
			related(100, `{"addresses":["10.0.0.1"],"conditions":{"ready":false,"serving":true,"terminating":false},"nodeName":"node-1","targetRef":{"kind":"Pod","namespace":"a","name":"redis-1","uid":"11111111-1111-4111-8111-111111111111"},"zone":"a"}`)+`]}`) + `}}}`)
	_, err := syncIngress(body, clock())
	require.NoError(b, err)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = syncIngress(body, clock())
	}
}
