package e2e

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
)

// In steady state not a single write is sent, however often the hooks are called.
func TestSteadyStateWritesNothing(t *testing.T) {
	t.Parallel()
	for _, n := range []int{0, 1, 200} {
		t.Run(fmt.Sprintf("%d TCPIngresses", n), func(t *testing.T) {
			s := newScene(t).nginxClass().backend("a/db", "sql=3306", "name=53/UDP")
			want := data{}
			var applied sync.WaitGroup
			for worker := range 8 {
				applied.Go(func() {
					for i := worker; i < n; i += 8 {
						yaml := s.ingressYAML(fmt.Sprintf("a/db-%d", i), "  ingressClassName: $class\n", []string{fmt.Sprintf("%d -> db:3306", 6000+i)})
						assert.NoError(t, s.tryApply(yaml))
					}
				})
			}
			applied.Wait()
			for i := range n {
				want[fmt.Sprint(6000+i)] = "$a/db:3306"
			}
			s.tcpServices(want).udpServices(data{}).
				condition("TCPIngressClass", s.class, "Programmed=True/Programmed", "").
				eventually(func() error { return s.allReady(n) }).
				settled()

			since := s.now()
			s.syncs(5, "TCPIngressClass", s.class)
			if n > 0 {
				s.syncs(5, "TCPIngress", "a/db-0")
			}
			s.settled()
			assert.Empty(t, s.writes(since))
		})
	}
}

// allReady tells what is missing until n TCPIngresses of the first team are Ready.
func (s *scene) allReady(n int) error {
	s.t.Helper()
	ready := 0
	for _, o := range s.list("TCPIngress", "a") {
		if c := conditionOf(&o, "Ready"); c != nil && c["status"] == "True" {
			ready++
		}
	}
	if ready != n {
		return fmt.Errorf("%d of %d TCPIngresses are Ready", ready, n)
	}
	return nil
}
