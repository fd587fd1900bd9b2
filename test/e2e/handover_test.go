package e2e

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// handOverLine finds the command line in a message.
func (s *scene) handOverLine(message string) string {
	s.t.Helper()
	m := regexp.MustCompile(`kubectl label \S+ -n \S+ \S+ controller-uid=[0-9a-f-]+`).FindString(message)
	require.NotEmpty(s.t, m, message)
	return m
}

// A ConfigMap that exists already is not touched until it is handed over, by exactly
// the line that the message gives.
func TestConfigMapOfSomebodyElse(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.create("{apiVersion: v1, kind: ConfigMap, metadata: {namespace: $nginx, name: tcp-services}, data: {'9000': 'old/app:80'}}").
		nginxClass().
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").
		condition("TCPIngressClass", s.class, "Programmed=False/ChildNotOwned", "kubectl label configmap -n $nginx tcp-services controller-uid=").
		condition("TCPIngress", "a/redis", "Programmed=False/ChildNotOwned", "kubectl label configmap -n $nginx tcp-services controller-uid=").
		tcpServices(data{"9000": "old/app:80"})
	s.typed(s.handOverLine(s.message("TCPIngressClass", s.class, "Programmed"))).
		tcpServices(data{"9000": "old/app:80", "6379": "$a/redis:6379"}).
		ready("a/redis").
		condition("TCPIngressClass", s.class, "Programmed=True/Programmed", "").
		condition("TCPIngressClass", s.class, "ForeignEntries=True/ForeignEntries", "9000").
		remove("TCPIngress", "a/redis").
		tcpServices(data{"9000": "old/app:80"})
}

// The Service of the ingress-nginx chart shares its address, and outlives all ports.
func TestChartServiceIsShared(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.create(`
apiVersion: v1
kind: Service
metadata:
  namespace: $nginx
  name: ingress-nginx-controller
  labels: {app.kubernetes.io/managed-by: Helm}
  annotations: {example.com/by: helm}
spec:
  type: LoadBalancer
  externalTrafficPolicy: Local
  selector: {app: chart}
  ports:
  - {name: http, port: 80, targetPort: http, protocol: TCP, appProtocol: http}
  - {name: https, port: 443, targetPort: https, protocol: TCP, appProtocol: https}
`)
	const service = "nginx/ingress-nginx-controller"
	before := s.get("Service", service)
	s.patch("Service/status", service, `{"status":{"loadBalancer":{"ingress":[{"hostname":"lb.example.com"}]}}}`).
		nginxClass("service: {tcpName: ingress-nginx-controller}").
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").
		condition("TCPIngress", "a/redis", "Programmed=False/ChildNotOwned", "kubectl label service -n $nginx ingress-nginx-controller controller-uid=").
		portsOf(service, "http:80", "https:443")
	s.typed(s.handOverLine(s.message("TCPIngress", "a/redis", "Programmed"))).
		portsOf(service, "http:80", "https:443", "tcp-6379:6379").
		ready("a/redis").
		status("TCPIngress", "a/redis", "[map[protocol:TCP type:Hostname value:lb.example.com]]", "addresses").
		remove("TCPIngress", "a/redis").
		portsOf(service, "http:80", "https:443").
		tcpServices(data{})
	since := s.settled().now()
	s.syncs(3, "TCPIngressClass", s.class).settled()
	assert.Empty(t, s.writes(since))

	after := s.get("Service", service)
	assert.Equal(t, before.GetUID(), after.GetUID())
	assert.Equal(t, spec(before), spec(after), "nothing of the chart's is changed")
	assert.Equal(t, "helm", after.GetAnnotations()["example.com/by"])
}

func spec(o *unstructured.Unstructured) any { return o.Object["spec"] }

// Keys that somebody else wrote into our ConfigMap stay and are reported; a claim
// for such a port wins.
func TestForeignKeys(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass().
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").ready("a/redis")
	s.kubectl("patch", "configmap", "-n", "$nginx", "tcp-services", "--type=merge", "--patch", `{"data":{"9000":"old/app:80","9001":"old/app:81"}}`)
	s.tcpServices(data{"6379": "$a/redis:6379", "9000": "old/app:80", "9001": "old/app:81"}).
		condition("TCPIngressClass", s.class, "ForeignEntries=True/ForeignEntries", "9000").
		ingress("a/redis", "6379 -> redis:6379", "9000 -> redis:6379").
		tcpServices(data{"6379": "$a/redis:6379", "9000": "$a/redis:6379", "9001": "old/app:81"}).
		ready("a/redis").
		ingress("a/redis", "6379 -> redis:6379").
		tcpServices(data{"6379": "$a/redis:6379", "9001": "old/app:81"})
	s.kubectl("patch", "configmap", "-n", "$nginx", "tcp-services", "--type=merge", "--patch", `{"data":{"9001":null}}`)
	s.condition("TCPIngressClass", s.class, "ForeignEntries=False/NoForeignEntries", "")
}

func TestDeletedThingsComeBack(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass().
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379", "6380 -> redis:6379").ready("a/redis")
	s.kubectl("patch", "configmap", "-n", "$nginx", "tcp-services", "--type=merge", "--patch", `{"data":{"6379":null}}`)
	s.tcpServices(data{"6379": "$a/redis:6379", "6380": "$a/redis:6379"})
	s.kubectl("patch", "configmap", "-n", "$nginx", "tcp-services", "--type=merge", "--patch", `{"data":{"6379":"x/y:1"}}`)
	s.tcpServices(data{"6379": "$a/redis:6379", "6380": "$a/redis:6379"})
	s.kubectl("delete", "configmap", "-n", "$nginx", "tcp-services")
	s.tcpServices(data{"6379": "$a/redis:6379", "6380": "$a/redis:6379"})
	s.kubectl("delete", "service", "-n", "$nginx", "$class-stream-tcp")
	s.ports("tcp", "tcp-6379:6379", "tcp-6380:6380")
	s.kubectl("delete", "tcpingressslices", "-l", "nginx-stream.dev/class=$class")
	s.ready("a/redis")
}

// A node port that was chosen by hand stays, whatever comes and goes beside it.
func TestNodePortsSurvive(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass("service: {type: NodePort}").
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").ready("a/redis")
	service := "nginx/" + s.class + "-stream-tcp"
	const pinned = 59999
	s.kubectl("patch", "service", "-n", "$nginx", "$class-stream-tcp", "--type=strategic", "--patch",
		fmt.Sprintf(`{"spec":{"ports":[{"port":6379,"nodePort":%d}]}}`, pinned))
	nodePort := func() int64 {
		ports, err := nestedSlice(s.get("Service", service).Object, "spec", "ports")
		require.NoError(t, err)
		for _, p := range ports {
			if p["name"] == "tcp-6379" {
				return p["nodePort"].(int64)
			}
		}
		return 0
	}
	require.EqualValues(t, pinned, nodePort())
	s.syncs(2, "TCPIngressClass", s.class)
	assert.EqualValues(t, pinned, nodePort())
	s.ingress("a/redis", "6379 -> redis:6379", "6380 -> redis:6379").ports("tcp", "tcp-6379:6379", "tcp-6380:6380").ready("a/redis")
	assert.EqualValues(t, pinned, nodePort())
	s.ingress("a/redis", "6379 -> redis:6379").ports("tcp", "tcp-6379:6379").ready("a/redis")
	assert.EqualValues(t, pinned, nodePort())
}
