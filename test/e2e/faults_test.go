package e2e

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

// While the hooks misbehave nothing changes; afterwards all is as it should be.
func TestHooksMisbehave(t *testing.T) {
	t.Parallel()
	tests := map[string]harness.Fault{
		"they hang up":        harness.HangUp(),
		"they answer 500":     harness.Answer(http.StatusInternalServerError),
		"they answer 400":     harness.Answer(http.StatusBadRequest),
		"they answer 429":     harness.Answer(http.StatusTooManyRequests),
		"they answer rubbish": harness.Rubbish(),
	}
	for name, fault := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t).nginxClass().
				backend("a/redis", "redis=6379").
				ingress("a/redis", "6379 -> redis:6379").ready("a/redis").settled()
			since := s.now()
			mend := h.Door.Break(s.mine, fault)
			defer mend()
			s.ingress("a/redis", "6379 -> redis:6379", "6380 -> redis:6379").
				ingress("a/new", "7000 -> redis:6379").
				calledInVain(2)
			for _, w := range s.writes(since) {
				assert.Equal(t, "events", w.Resource, "written while the hooks misbehave: %s", w)
			}
			s.tcpServices(data{"6379": "$a/redis:6379"})
			mend()
			s.tcpServices(data{"6379": "$a/redis:6379", "6380": "$a/redis:6379", "7000": "$a/redis:6379"}).
				ready("a/redis", "a/new")
		})
	}
}

// calledInVain waits until the hooks have failed for the scene's class n times.
func (s *scene) calledInVain(n int) *scene {
	s.t.Helper()
	since := time.Now()
	return s.eventually(func() error {
		failed := len(h.Door.Calls(func(c harness.Call) bool { return s.mine(c) && c.Failed && c.Begin.After(since) }))
		if failed < n {
			return fmt.Errorf("the hooks have failed %d times", failed)
		}
		return nil
	})
}

func TestSlowHooks(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	defer h.Door.Break(s.mine, harness.Slow(time.Second))()
	s.nginxClass().
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").
		tcpServices(data{"6379": "$a/redis:6379"}).ready("a/redis").
		ingress("a/redis", "6380 -> redis:6379").
		tcpServices(data{"6380": "$a/redis:6379"}).ready("a/redis")
}

// The tests below disturb everybody, so they are not parallel.

// A rollout of the hooks, and a crash of one of two replicas, go by unnoticed.
func TestHooksRestart(t *testing.T) {
	s := newScene(t).nginxClass("ports: {pool: {from: 20000, to: 20999}}").
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379", "pooled: pool -> redis:6379").ready("a/redis")
	want := data{"6379": "$a/redis:6379", "20000": "$a/redis:6379"}

	// One replica after the other is replaced, while ports come.
	for i := range 2 {
		require.NoError(t, h.Hooks.Stop(i))
		s.ingress(fmt.Sprintf("a/new-%d", i), fmt.Sprintf("%d -> redis:6379", 7000+i))
		want[fmt.Sprint(7000+i)] = "$a/redis:6379"
		s.tcpServices(want)
		require.NoError(t, h.Hooks.Start(t.Context(), i))
	}
	// One crashes.
	h.Hooks.Crash(0)
	s.ingress("a/crash", "7100 -> redis:6379")
	want["7100"] = "$a/redis:6379"
	s.tcpServices(want).ready("a/crash")

	// All are down for a while; then they come again, and know all that they knew.
	require.NoError(t, h.Hooks.Stop(1))
	s.ingress("a/down", "7200 -> redis:6379").
		remove("TCPIngress", "a/new-0").
		calledInVain(2).
		tcpServices(want)
	require.NoError(t, h.Hooks.Start(t.Context(), 0))
	require.NoError(t, h.Hooks.Start(t.Context(), 1))
	want["7200"] = "$a/redis:6379"
	delete(want, "7000")
	s.tcpServices(want).ready("a/redis", "a/down", "a/crash", "a/new-1").
		status("TCPIngress", "a/redis", "6379,20000", "ports")
}

func TestBothReplicasAnswer(t *testing.T) {
	s := newScene(t).nginxClass().
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").ready("a/redis")
	s.syncs(4, "TCPIngressClass", s.class).tcpServices(data{"6379": "$a/redis:6379"})
	answered := map[string]bool{}
	for _, c := range h.Door.Calls(s.mine) {
		answered[c.Replica] = true
	}
	assert.Len(t, answered, 2, "replicas that answered: %v", answered)
}

// The API server restarts while ports come and go.
func TestAPIServerRestarts(t *testing.T) {
	s := newScene(t).nginxClass().
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").ready("a/redis").
		ingress("a/redis", "6380 -> redis:6379")
	require.NoError(t, h.RestartAPIServer(t.Context(), func() {
		s.tcpServices(data{"6380": "$a/redis:6379"}).ready("a/redis")
	}))
	s.ingress("a/redis", "6381 -> redis:6379").
		tcpServices(data{"6381": "$a/redis:6379"}).ports("tcp", "tcp-6381:6381").ready("a/redis")
}

// What happens while nobody applies is made up for.
func TestApplierRestarts(t *testing.T) {
	s := newScene(t).nginxClass().
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").
		ingress("a/gone", "6400 -> redis:6379").ready("a/redis", "a/gone")
	require.NoError(t, h.StopApplier())
	s.ingress("a/redis", "6379 -> redis:6379", "6380 -> redis:6379").remove("TCPIngress", "a/gone")
	require.NoError(t, h.StartApplier(t.Context()))
	s.tcpServices(data{"6379": "$a/redis:6379", "6380": "$a/redis:6379"}).ready("a/redis")
}
