package e2e

import (
	"fmt"
	"strings"
	"testing"
)

// A Service with an annotation needs no TCPIngress of its own.
func TestAnnotatedService(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass().
		annotated("a/game", "25565, 8900:admin, 19132/UDP", "play=25565", "admin=9000", "bedrock=19132/UDP").
		tcpServices(data{"25565": "$a/game:25565", "8900": "$a/game:admin"}).
		udpServices(data{"19132": "$a/game:19132"}).
		ports("tcp", "tcp-25565:25565", "tcp-8900:8900").ports("udp", "udp-19132:19132").
		ready("a/game", "a/game-udp")

	// A typing error is told on the Service, and changes nothing that works.
	s.annotated("a/game", "25565, 89OO:admin", "play=25565", "admin=9000", "bedrock=19132/UDP").
		exposeError("a/game", `89OO`).
		syncs(2, "TCPIngressClass", s.class).
		tcpServices(data{"25565": "$a/game:25565", "8900": "$a/game:admin"}).
		udpServices(data{"19132": "$a/game:19132"})

	// Corrected, the complaint goes.
	s.annotated("a/game", "25565, 8901:admin", "play=25565", "admin=9000", "bedrock=19132/UDP").
		exposeError("a/game", "").
		tcpServices(data{"25565": "$a/game:25565", "8901": "$a/game:admin"}).
		udpServices(data{}).
		ready("a/game").
		gone("TCPIngress", "a/game-udp")

	since := s.settled().now()
	s.patch("Service", "a/game", `{"metadata":{"annotations":{"example.com/poke":"1"}}}`).settled()
	for _, w := range s.writes(since) {
		t.Errorf("written in steady state: %s", w)
	}

	// Without the annotation the TCPIngresses go.
	s.patch("Service", "a/game", `{"metadata":{"annotations":{"nginx-stream.dev/expose":null}}}`).
		gone("TCPIngress", "a/game").tcpServices(data{})

	// And with the Service they go, too.
	s.annotated("a/game", "25565", "play=25565", "admin=9000", "bedrock=19132/UDP").
		tcpServices(data{"25565": "$a/game:25565"}).
		remove("Service", "a/game").
		gone("TCPIngress", "a/game").tcpServices(data{})
}

// exposeError waits until the complaint on a Service contains the text, or is gone.
func (s *scene) exposeError(key, text string) *scene {
	s.t.Helper()
	return s.eventually(func() error {
		got, complained := s.get("Service", key).GetAnnotations()["nginx-stream.dev/expose-error"]
		if complained != (text != "") || !strings.Contains(got, text) {
			return fmt.Errorf("the complaint on Service %s is %q, which lacks %q", key, got, text)
		}
		return nil
	})
}

// A TCPIngress that somebody wrote by hand, under the name that the annotation would
// give it, is not taken over.
func TestHandWrittenBesideAnnotated(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass().
		ingress("a/game", "4000 -> game:25565").
		annotated("a/game", "25565, 19132/UDP", "play=25565", "bedrock=19132/UDP").
		ready("a/game").ready("a/game-udp").settled()
	s.exposeError("a/game", `A TCPIngress "game" exists already and was not made for this Service, so it is left alone: rename or delete it, or take the ports out of the annotation.`)
	s.patch("Service", "a/game", `{"metadata":{"annotations":{"example.com/poke":"1"}}}`).settled().
		tcpServices(data{"4000": "$a/game:25565"}).
		remove("TCPIngress", "a/game").
		tcpServices(data{"25565": "$a/game:25565"}).
		exposeError("a/game", "")
}

// Two Services can ask for the same name; who comes first has it.
func TestAnnotatedServicesMeetInAName(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass().
		annotated("a/dns", "53/UDP", "dns=53/UDP").ready("a/dns-udp").
		annotated("a/dns-udp", "5353", "dns=5353").
		exposeError("a/dns-udp", `A TCPIngress "dns-udp" exists already`).
		udpServices(data{"53": "$a/dns:53"}).tcpServices(data{})
	s.patch("Service", "a/dns", `{"metadata":{"annotations":{"nginx-stream.dev/expose":null}}}`).
		exposeError("a/dns-udp", "").
		tcpServices(data{"5353": "$a/dns-udp:5353"}).udpServices(data{})
}
