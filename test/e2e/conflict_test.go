package e2e

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/watch"
)

func TestConflictAndTakeover(t *testing.T) {
	t.Parallel()
	newScene(t, "b").nginxClass().
		backend("a/db", "sql=3306").backend("b/db", "sql=3306").
		ingress("a/db", "3306 -> db:3306").ready("a/db").
		ingress("b/db", "3306 -> db:3306", "3307 -> db:3306").
		condition("TCPIngress", "b/db", "Accepted=False/PortConflict", "TCPIngress $a/db").
		// A bad rule does not take down a good one.
		tcpServices(data{"3306": "$a/db:3306", "3307": "$b/db:3306"}).
		ready("a/db").
		// The holder goes, the next in line takes over by itself.
		remove("TCPIngress", "a/db").
		tcpServices(data{"3306": "$b/db:3306", "3307": "$b/db:3306"}).
		ready("b/db")
}

// An object that is older than the holder, and is edited onto the holder's port,
// does not get it.
func TestOldObjectDoesNotStealAPort(t *testing.T) {
	t.Parallel()
	s := newScene(t, "a").nginxClass().
		backend("a/old", "x=1000").backend("b/young", "x=1000").
		ingress("a/old", "4001 -> old:1000").ready("a/old")
	// Times of creation have seconds, so the holder must be younger by a whole one.
	s.eventually(func() error {
		if time.Since(s.get("TCPIngress", "a/old").GetCreationTimestamp().Time) < 2*time.Second {
			return fmt.Errorf("the old object is not old yet")
		}
		return nil
	})
	s.ingress("b/young", "4002 -> young:1000").ready("b/young").
		ingress("a/old", "4002 -> old:1000").
		condition("TCPIngress", "a/old", "Accepted=False/PortConflict", "TCPIngress $b/young").
		tcpServices(data{"4002": "$b/young:1000"}).
		syncs(3, "TCPIngressClass", s.class).
		tcpServices(data{"4002": "$b/young:1000"}).
		ready("b/young")
}

// One Service with 53/TCP and 53/UDP would end in an error for ever.
func TestTCPAndUDPOnOneNumber(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass("service: {type: LoadBalancer}").
		backend("a/dns", "dns=53/UDP", "dns-tcp=53/TCP").
		ingress("a/dns", "53/UDP -> dns:53", "53/TCP -> dns:53").
		tcpServices(data{"53": "$a/dns:53"}).udpServices(data{"53": "$a/dns:53"}).
		ports("tcp", "tcp-53:53").ports("udp", "udp-53:53").
		address("tcp", "192.0.2.1").address("udp", "192.0.2.2").
		ready("a/dns").
		status("TCPIngress", "a/dns", "53,53/UDP", "ports")
	addresses, err := nestedSlice(s.get("TCPIngress", "a/dns").Object, "status", "addresses")
	require.NoError(t, err)
	assert.Equal(t, []map[string]any{
		{"protocol": "TCP", "type": "IPAddress", "value": "192.0.2.1"},
		{"protocol": "UDP", "type": "IPAddress", "value": "192.0.2.2"},
	}, addresses)

	since := s.settled().now()
	s.syncs(5, "TCPIngressClass", s.class).settled()
	assert.Empty(t, s.writes(since))
	s.ports("tcp", "tcp-53:53").ports("udp", "udp-53:53").ready("a/dns")
}

// Many pairs claim one port each within a second; whoever gets it keeps it, and the
// other is told. The times of creation decide nothing: most are equal.
func TestManyPairsClaimOnePortEach(t *testing.T) {
	t.Parallel()
	const pairs = 150
	s := newScene(t, "a", "b").nginxClass()
	for _, ns := range []string{"a", "b"} {
		s.backend(ns+"/db", "sql=3306")
	}
	holders := s.watchHolders("nginx/tcp-services")

	var claims sync.WaitGroup
	begin := time.Now()
	for worker := range 10 {
		claims.Go(func() {
			for i := worker; i < pairs; i += 10 {
				for _, ns := range []string{"a", "b"} {
					yaml := s.ingressYAML(fmt.Sprintf("%s/db-%d", ns, i), "  ingressClassName: $class\n", []string{fmt.Sprintf("%d -> db:3306", 5000+i)})
					assert.NoError(t, s.tryApply(yaml))
				}
			}
		})
	}
	claims.Wait()
	t.Logf("%d claims within %.1f s", 2*pairs, time.Since(begin).Seconds())

	s.eventually(func() error {
		won, lost := 0, 0
		for _, ns := range []string{"a", "b"} {
			for _, o := range s.list("TCPIngress", ns) {
				if c := conditionOf(&o, "Ready"); c != nil && c["status"] == "True" {
					won++
				}
				if c := conditionOf(&o, "Accepted"); c != nil && c["reason"] == "PortConflict" {
					lost++
				}
			}
		}
		if won != pairs || lost != pairs {
			return fmt.Errorf("%d of %d pairs have a winner, %d a loser", won, pairs, lost)
		}
		return nil
	})
	changes, versions, last := holders()
	t.Logf("settled after %.1f s, %d hook calls and %d versions of the ConfigMap", time.Since(begin).Seconds(), len(h.Door.Calls(s.mine)), versions)
	assert.Len(t, last, pairs)
	if serverSideApply() {
		t.Logf("%d changes of holder; under server-side apply children are not locked", len(changes))
		return
	}
	assert.Empty(t, changes, "a port changed its holder")
}

// watchHolders watches a ConfigMap from now on. The returned function ends that, and
// gives every change of a value, the number of versions, and the last data.
func (s *scene) watchHolders(key string) (end func() (changes []string, versions int, last map[string]string)) {
	s.t.Helper()
	_, name := s.split(key)
	watching, err := s.client("ConfigMap", key).Watch(s.t.Context(), metav1.ListOptions{FieldSelector: "metadata.name=" + name})
	require.NoError(s.t, err)
	var changes []string
	versions, last := 0, map[string]string{}
	done, ending := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for event := range watching.ResultChan() {
			o, ok := event.Object.(*unstructured.Unstructured)
			select {
			case <-ending: // what comes now tells of the end only
				return
			default:
			}
			if !ok || event.Type == watch.Error {
				changes = append(changes, fmt.Sprintf("the watch ended: %v", event.Object))
				return
			}
			versions++
			data, _, _ := unstructured.NestedStringMap(o.Object, "data")
			for port, holder := range data {
				if before, ok := last[port]; ok && before != holder {
					changes = append(changes, fmt.Sprintf("%s: %s became %s", port, before, holder))
				}
			}
			for port, holder := range last {
				if _, ok := data[port]; !ok {
					changes = append(changes, fmt.Sprintf("%s: %s was lost", port, holder))
				}
			}
			last = data
		}
	}()
	return func() ([]string, int, map[string]string) {
		close(ending)
		watching.Stop()
		<-done
		return changes, versions, last
	}
}
