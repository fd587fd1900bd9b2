package e2e

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// A port of the pool stays over a loss of the status, an edit, and newcomers.
func TestPoolPortStays(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass("ports: {pool: {from: 20000, to: 20002}}").
		backend("a/mqtt", "mqtt=1883", "ws=9001").
		ingress("a/one", "broker: pool -> mqtt:1883").ready("a/one").
		ingress("a/two", "broker: pool -> mqtt:1883").ready("a/two").
		tcpServices(data{"20000": "$a/mqtt:1883", "20001": "$a/mqtt:1883"}).
		status("TCPIngress", "a/one", "20000", "ports").
		status("TCPIngress", "a/two", "20001", "ports")

	// The first one goes; the second does not move down.
	s.remove("TCPIngress", "a/one").
		tcpServices(data{"20001": "$a/mqtt:1883"}).
		syncs(2, "TCPIngressClass", s.class).
		tcpServices(data{"20001": "$a/mqtt:1883"})

	// The status is lost, of the object and of the class. That of the object comes back
	// with the next round or, as here, with the next change of the object.
	s.patch("TCPIngress/status", "a/two", `{"status":null}`).
		patch("TCPIngressClass/status", s.class, `{"status":null}`).
		patch("TCPIngress", "a/two", `{"metadata":{"labels":{"touched":"true"}}}`).
		ready("a/two").
		status("TCPIngress", "a/two", "20001", "ports").
		status("TCPIngressClass", s.class, "map[20001/TCP:$a/two/broker]", "listeners").
		tcpServices(data{"20001": "$a/mqtt:1883"})

	// The backend is edited, and the rule gets a new name.
	s.ingress("a/two", "broker: pool -> mqtt:9001").
		tcpServices(data{"20001": "$a/mqtt:9001"}).ready("a/two").
		status("TCPIngress", "a/two", "20001", "ports")
	s.ingress("a/two", "broker: pool -> mqtt:9001", "1883 -> mqtt:1883").ready("a/two").
		tcpServices(data{"1883": "$a/mqtt:1883", "20001": "$a/mqtt:9001"})

	// Newcomers get the free ones, until there is none.
	s.ingress("b/three", "x: pool -> none:1").status("TCPIngress", "b/three", "20000", "ports").
		ingress("b/four", "x: pool -> none:1").status("TCPIngress", "b/four", "20002", "ports").
		ingress("b/five", "x: pool -> none:1").
		condition("TCPIngress", "b/five", "Accepted=False/PoolExhausted", "20000-20002").
		remove("TCPIngress", "b/four").
		status("TCPIngress", "b/five", "20002", "ports")
	assert.NotNil(t, s.ruleStatus("b/five", "x"))
}
