package server

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func eventually(t *testing.T, condition func() bool) {
	t.Helper()
	require.Eventually(t, condition, 30*time.Second, 20*time.Millisecond)
}

func assertContains(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}

// era is the time in which callers use one token.
type era struct {
	token string
	calls sync.WaitGroup
}

// TestRotationUnderLoad changes certificate and token five times while calls come in
// at a steady rate, every second one on a connection of its own.
func TestRotationUnderLoad(t *testing.T) {
	const rotations = 5
	rate, duration := 200, 10*time.Second
	if testing.Short() {
		rate, duration = 50, 2*time.Second
	}
	ca := newAuthority(t)
	files := ca.pair(t)
	files["tokens"] = []byte("token-0\n")
	m := newMount(t, files)
	o := m.options()
	o.HookTokenFile = m.path("tokens")
	// A busy machine must not look like a mistake of the rotation.
	o.MaxConcurrent, o.ReadHeaderTimeout = 10_000, time.Minute
	url := runTLS(t, o, okHook())

	var (
		failures = make(chan string, 100_000)
		serials  sync.Map
		sent     int
		mu       sync.Mutex
		now      = &era{token: "token-0"}
	)
	// use begins an era, and gives the one before.
	use := func(token string) *era {
		mu.Lock()
		defer mu.Unlock()
		before := now
		now = &era{token: token}
		return before
	}
	clients := []*http.Client{ca.client(true), ca.client(false)}
	call := func(client *http.Client, token string) {
		got, err := post(t.Context(), client, url, token)
		if err != nil {
			failures <- err.Error()
			return
		}
		serials.Store(got.TLS.PeerCertificates[0].SerialNumber.Int64(), true)
		if err := got.Body.Close(); err != nil || got.StatusCode != http.StatusOK {
			failures <- fmt.Sprint(got.StatusCode, err)
		}
	}
	rotated, finished := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(finished)
		ticker := time.NewTicker(time.Second / time.Duration(rate))
		defer ticker.Stop()
		// At least as long as said, and until the last rotation is over.
		for begin := time.Now(); t.Context().Err() == nil && (time.Since(begin) < duration || !closed(rotated)); <-ticker.C {
			client := clients[sent%2]
			sent++
			mu.Lock()
			token := now.token
			now.calls.Go(func() { call(client, token) })
			mu.Unlock()
		}
	}()

	for i := 1; i <= rotations; i++ {
		// As a person would: both tokens are known, the caller moves on, the old one goes.
		before, after := fmt.Sprintf("token-%d", i-1), fmt.Sprintf("token-%d", i)
		files = ca.pair(t)
		files["tokens"] = []byte(before + "\n" + after + "\n")
		m.swap(t, files)
		eventually(t, func() bool { return works(t, ca, url, after) })
		use(after).calls.Wait()
		time.Sleep(duration / (rotations * 2)) // else the rotations would be over long before the load
		files["tokens"] = []byte(after + "\n")
		m.swap(t, files)
		eventually(t, func() bool { return !works(t, ca, url, before) })
		eventually(t, func() bool { _, met := serials.Load(ca.serial); return met })
	}
	close(rotated)
	<-finished
	now.calls.Wait()
	close(failures)
	for failure := range failures {
		assert.Fail(t, "a call failed", failure)
	}
	assert.Greater(t, sent, rate, "there was load")
}

func closed(c chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

func works(t *testing.T, ca *authority, url, token string) bool {
	t.Helper()
	got, err := post(t.Context(), ca.client(false), url, token)
	if err != nil {
		return false
	}
	return got.Body.Close() == nil && got.StatusCode == http.StatusOK
}
