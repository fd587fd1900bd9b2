package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestBackendAppearsLater(t *testing.T) {
	t.Parallel()
	newScene(t).nginxClass().
		ingress("a/db", "3306 -> db:3306").
		condition("TCPIngress", "a/db", "ResolvedRefs=False/ServiceNotFound", "Service db does not exist").
		condition("TCPIngress", "a/db", "Accepted=True/Accepted", "").
		condition("TCPIngress", "a/db", "Ready=False/ServiceNotFound", "").
		// The port is held, and open: ingress-nginx looks the Service up by itself.
		tcpServices(data{"3306": "$a/db:3306"}).
		service("a/db", "web=80").
		condition("TCPIngress", "a/db", "ResolvedRefs=False/ServicePortNotFound", "80/TCP (web)").
		service("a/db", "sql=3306/UDP").
		condition("TCPIngress", "a/db", "ResolvedRefs=False/ProtocolMismatch", "3306/UDP").
		service("a/db", "sql=3306").
		ready("a/db").
		condition("TCPIngress", "a/db", "BackendsReady=False/NoReadyEndpoints", "").
		endpoint("a/db", true).
		condition("TCPIngress", "a/db", "BackendsReady=True/EndpointsReady", "").
		remove("Service", "a/db").
		condition("TCPIngress", "a/db", "Ready=False/ServiceNotFound", "").
		tcpServices(data{"3306": "$a/db:3306"})
}

func TestNamedPort(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass().
		backend("a/pg", "sql=5432").
		ingress("a/pg", "primary: 5432 -> pg:sql").
		tcpServices(data{"5432": "$a/pg:sql"}).
		ready("a/pg")
	assert.EqualValues(t, 5432, s.ruleStatus("a/pg", "primary")["backendPort"])
	// The Service renumbers its port; nothing here changes but what is known of it.
	s.service("a/pg", "sql=6432").eventually(func() error {
		return s.ruleHas("a/pg", "primary", "backendPort", int64(6432))
	})
	s.tcpServices(data{"5432": "$a/pg:sql"}).
		remove("Service", "a/pg").
		condition("TCPIngress", "a/pg", "ResolvedRefs=False/ServiceNotFound", "")
	assert.EqualValues(t, 6432, s.ruleStatus("a/pg", "primary")["backendPort"], "kept while the Service is missing")
}

func TestEndpointsComeAndGo(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass().
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").
		ready("a/redis").
		condition("TCPIngress", "a/redis", "BackendsReady=True/EndpointsReady", "").settled()
	since := s.now()
	for range 3 {
		s.endpoint("a/redis", false).
			condition("TCPIngress", "a/redis", "BackendsReady=False/NoReadyEndpoints", "").
			endpoint("a/redis", true).
			condition("TCPIngress", "a/redis", "BackendsReady=True/EndpointsReady", "")
	}
	s.remove("EndpointSlice", "a/redis").
		condition("TCPIngress", "a/redis", "BackendsReady=False/NoReadyEndpoints", "").
		ready("a/redis")
	for _, w := range s.settled().writes(since) {
		assert.Equal(t, "tcpingresses/status", w.Resource+"/"+w.Subresource, w.String())
	}
}

// An edited backend is switched when the new Service has been looked at; until then
// the old one stays. A Service of type ExternalName would lead a tenant anywhere.
func TestExternalNameIsWithdrawn(t *testing.T) {
	t.Parallel()
	newScene(t, "b").nginxClass().
		backend("a/redis", "redis=6379").
		apply("{apiVersion: v1, kind: Service, metadata: {namespace: $a, name: outside}, spec: {type: ExternalName, externalName: example.com, ports: [{port: 6379}]}}").
		ingress("a/redis", "6379 -> redis:6379").
		ready("a/redis").
		ingress("a/redis", "6379 -> outside:6379").
		condition("TCPIngress", "a/redis", "ResolvedRefs=False/UnsupportedService", "").
		tcpServices(data{}).
		// The claim is kept, so the port is not given to anybody else.
		backend("b/redis", "redis=6379").
		ingress("b/redis", "6379 -> redis:6379").
		condition("TCPIngress", "b/redis", "Accepted=False/PortConflict", "$a/redis").
		ingress("a/redis", "6379 -> redis:6379").
		tcpServices(data{"6379": "$a/redis:6379"}).
		ready("a/redis")
}

// Whatever is edited, the Service and its address stay.
func TestServiceSurvivesEveryEdit(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass().
		backend("a/redis", "redis=6379").backend("a/cache", "cache=6380").
		ingress("a/redis", "6379 -> redis:6379").ready("a/redis")
	service := "nginx/" + s.class + "-stream-tcp"
	uid := s.get("Service", service).GetUID()
	s.ingress("a/redis", "6380 -> redis:6379").ready("a/redis").ports("tcp", "tcp-6380:6380")
	assert.Equal(t, uid, s.get("Service", service).GetUID(), "after an edit of the port")
	s.ingress("a/redis", "6380 -> cache:6380").ready("a/redis")
	assert.Equal(t, uid, s.get("Service", service).GetUID(), "after an edit of the backend")
	s.ingress("a/redis", "6381 -> redis:6379").ready("a/redis").ports("tcp", "tcp-6381:6381")
	assert.Equal(t, uid, s.get("Service", service).GetUID(), "after an edit of both")
	s.ingress("a/redis", "new-name: 6381 -> redis:redis").ready("a/redis")
	assert.Equal(t, uid, s.get("Service", service).GetUID(), "after an edit of the names")
}
