package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The story of the README, typed with kubectl.
func TestFirstTCPIngress(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass("service: {type: LoadBalancer}").backend("a/redis", "redis=6379")
	s.ingress("a/redis", "6379 -> redis:6379").
		tcpServices(data{"6379": "$a/redis:6379"}).
		udpServices(data{}).
		ports("tcp", "tcp-6379:6379").
		condition("TCPIngress", "a/redis", "Accepted=True/Accepted", "All rules are accepted.").
		condition("TCPIngress", "a/redis", "ResolvedRefs=True/ResolvedRefs", "").
		condition("TCPIngress", "a/redis", "BackendsReady=True/EndpointsReady", "").
		condition("TCPIngress", "a/redis", "Programmed=False/AddressPending", "kubectl describe service -n $nginx $class-stream-tcp").
		condition("TCPIngress", "a/redis", "Ready=False/AddressPending", "").
		address("tcp", "192.0.2.10").
		ready("a/redis").
		condition("TCPIngressClass", s.class, "Programmed=True/Programmed", "").
		condition("TCPIngressClass", s.class, "ForeignEntries=False/NoForeignEntries", "").
		status("TCPIngressClass", s.class, "map[6379/TCP:$a/redis/tcp-6379]", "listeners").
		status("TCPIngress", "a/redis", "6379", "ports").
		gone("Service", "nginx/"+s.class+"-stream-udp")

	table := s.kubectl("get", "tcpingress", "-n", "$a", "redis")
	assert.Regexp(t, `NAME\s+CLASS\s+PORTS\s+ADDRESS\s+READY\s+AGE\nredis\s+`+s.class+`\s+6379\s+192.0.2.10\s+True\s`, table)
	s.kubectl("wait", "--for=condition=Ready", "-n", "$a", "tcpingress/redis", "--timeout=10s")

	service := s.get("Service", "nginx/"+s.class+"-stream-tcp")
	ports, err := nestedSlice(service.Object, "spec", "ports")
	require.NoError(t, err)
	assert.EqualValues(t, 6379, ports[0]["targetPort"], "an integer, not a name")
	assert.NotZero(t, ports[0]["nodePort"])
	assert.NotContains(t, s.get("ConfigMap", "nginx/udp-services").Object, "data")
}

func TestEditDeleteRecreate(t *testing.T) {
	t.Parallel()
	newScene(t).nginxClass().
		backend("a/redis", "redis=6379").backend("a/cache", "cache=6380").
		ingress("a/redis", "6379 -> redis:6379").
		ready("a/redis").
		// The external port changes.
		ingress("a/redis", "16379 -> redis:6379").
		tcpServices(data{"16379": "$a/redis:6379"}).ports("tcp", "tcp-16379:16379").ready("a/redis").
		// The backend changes.
		ingress("a/redis", "16379 -> cache:6380").
		tcpServices(data{"16379": "$a/cache:6380"}).ready("a/redis").
		// A rule comes, another goes.
		ingress("a/redis", "16379 -> cache:6380", "6379 -> redis:6379").
		tcpServices(data{"6379": "$a/redis:6379", "16379": "$a/cache:6380"}).
		ports("tcp", "tcp-6379:6379", "tcp-16379:16379").ready("a/redis").
		ingress("a/redis", "6379 -> redis:6379").
		tcpServices(data{"6379": "$a/redis:6379"}).ports("tcp", "tcp-6379:6379").ready("a/redis").
		// Without rules the Service goes, the ConfigMap stays.
		remove("TCPIngress", "a/redis").gone("TCPIngress", "a/redis").
		tcpServices(data{}).
		ingress("a/redis", "6379 -> redis:6379").
		tcpServices(data{"6379": "$a/redis:6379"}).ports("tcp", "tcp-6379:6379").ready("a/redis")
}
