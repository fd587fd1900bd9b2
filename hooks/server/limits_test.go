package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

const postHead = "POST /ok/sync HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n"

func TestAnnouncedBodyIsRefusedUnread(t *testing.T) {
	url := start(t, Options{}, okHook())
	// Not one byte of the 70 MiB is sent, and the answer comes all the same.
	got := raw(t, url, postHead+"Content-Length: 73400320\r\n\r\n")
	assert.Equal(t, http.StatusRequestEntityTooLarge, got.code)
	assert.Equal(t, "the body is larger than 64 MiB, which --max-body can raise", got.body)
}

// countingReader gives zeros for ever.
type countingReader struct{ n int64 }

func (r *countingReader) Read(p []byte) (int, error) {
	r.n += int64(len(p))
	return len(p), nil
}

func TestEndlessBodyIsReadToTheLimitOnly(t *testing.T) {
	s, err := New(Options{}, []metacontroller.Hook{okHook()})
	require.NoError(t, err)
	var body countingReader
	limit := s.hookCall(okHook()).limit
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "/ok/sync", io.LimitReader(&body, 70<<20))
	require.NoError(t, err)
	_, err = readBody(nil, r, limit)
	require.EqualError(t, err, "the body is larger than 64 MiB, which --max-body can raise")
	assert.Less(t, body.n, limit.bytes+limit.bytes/4, "reading went on after the limit")
}

func TestLargeBodyOverHTTP(t *testing.T) {
	url := start(t, Options{}, okHook())
	post := func(size int64) (*http.Response, error) {
		// Without a length, so that the server has to count.
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/ok/sync",
			io.MultiReader(io.LimitReader(&countingReader{}, size)))
		require.NoError(t, err)
		r.Header.Set("Content-Type", "application/json")
		return http.DefaultClient.Do(r)
	}
	got, err := post(64 << 20)
	require.NoError(t, err)
	require.NoError(t, got.Body.Close())
	assert.Equal(t, http.StatusOK, got.StatusCode)

	got, err = post(70 << 20)
	if err == nil { // else the server closed the connection while we were still writing
		require.NoError(t, got.Body.Close())
		assert.Equal(t, http.StatusRequestEntityTooLarge, got.StatusCode)
	}
	assert.Equal(t, http.StatusOK, do(t, "POST", url+"/ok/sync", "application/json", request).code)
}

func TestMemoryOfBodyIsItsSize(t *testing.T) {
	tests := map[string]struct {
		size, announced int64
		most            uint64
	}{
		"small":                        {1000, 1000, 1 << 13},
		"large":                        {32 << 20, 32 << 20, 34 << 20},
		"large, of a length not known": {8 << 20, -1, 48 << 20},
		"announced but never sent":     {10, 64 << 20, 2 << 20},
		"shorter than announced":       {2 << 20, 64 << 20, 67 << 20},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			body, err := readAll(io.LimitReader(&countingReader{}, tc.size), tc.announced)
			runtime.ReadMemStats(&after)
			require.NoError(t, err)
			require.Len(t, body, int(tc.size))
			assert.LessOrEqual(t, after.TotalAlloc-before.TotalAlloc, tc.most)
		})
	}
}

func TestBodyThatIsCutOff(t *testing.T) {
	url := start(t, Options{}, hook("/ok/sync", func() (any, error) {
		t.Error("the hook got half a body")
		return nil, errors.New("half")
	}))
	conn := dial(t, url)
	_, err := io.WriteString(conn, postHead+"Content-Length: 100\r\n\r\n{\"parent\"")
	require.NoError(t, err)
	half, ok := conn.(*net.TCPConn)
	require.True(t, ok)
	require.NoError(t, half.CloseWrite())
	got := readAnswer(t, conn)
	assert.Equal(t, http.StatusBadRequest, got.code)
	assert.Equal(t, "the body did not arrive whole", got.body)
}

func TestTooManyCalls(t *testing.T) {
	entered, finish := make(chan struct{}), make(chan struct{})
	url := start(t, Options{MaxConcurrent: 1}, okHook(), hook("/slow/sync", func() (any, error) {
		close(entered)
		<-finish
		return metacontroller.DecoratorResponse{}, nil
	}))
	first := make(chan answer, 1)
	go func() { first <- do(t, "POST", url+"/slow/sync", "application/json", request) }()
	<-entered

	// The body never comes, so the answer proves that nobody waits for it.
	got := raw(t, url, postHead+"Content-Length: 1000000\r\n\r\n")
	assert.Equal(t, http.StatusTooManyRequests, got.code)
	assert.Equal(t, "1", got.header.Get("Retry-After"))
	assert.Equal(t, "too many calls are running, try again in a second", got.body)
	assert.Equal(t, http.StatusOK, do(t, "GET", url+"/healthz", "", "").code, "probes have no limit")
	assert.Contains(t, do(t, "GET", url+"/metrics", "", "").body, "tcpingress_hook_requests_in_flight 1\n")

	close(finish)
	assert.Equal(t, http.StatusOK, (<-first).code)
	assert.Equal(t, http.StatusOK, do(t, "POST", url+"/ok/sync", "application/json", request).code)
}

// run serves on a real listener until stop is called, and gives what Serve returned.
func run(t *testing.T, o Options, hooks ...metacontroller.Hook) (url string, stop func(), ended chan error) {
	t.Helper()
	s, err := New(o, hooks)
	require.NoError(t, err)
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	t.Cleanup(cancel)
	ended = make(chan error, 1)
	go func() { ended <- s.Serve(ctx, listener) }()
	return "http://" + listener.Addr().String(), cancel, ended
}

func TestSlowHeaderIsCutOff(t *testing.T) {
	url, _, _ := run(t, Options{ReadHeaderTimeout: 100 * time.Millisecond}, okHook())
	conn := dial(t, url)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	_, err := io.WriteString(conn, "POST /ok/sync HTTP/1.1\r\nHost:")
	require.NoError(t, err)
	_, err = io.ReadAll(conn)
	require.NoError(t, err, "the server did not close the connection")
}

func TestSlowBodyIsCutOff(t *testing.T) {
	url, _, _ := run(t, Options{ReadTimeout: 200 * time.Millisecond}, okHook())
	got := raw(t, url, postHead+"Content-Length: 1000\r\n\r\n{")
	assert.Equal(t, http.StatusRequestTimeout, got.code)
	assert.Equal(t, "the body did not arrive in time", got.body)
}

func TestShutdownLetsCallsFinish(t *testing.T) {
	entered, finish := make(chan struct{}), make(chan struct{})
	url, stop, ended := run(t, Options{DrainDelay: 2 * time.Second}, okHook(), hook("/slow/sync", func() (any, error) {
		close(entered)
		<-finish
		return metacontroller.DecoratorResponse{}, nil
	}))
	assert.Equal(t, http.StatusOK, do(t, "GET", url+"/readyz", "", "").code)
	slow := make(chan answer, 1)
	go func() { slow <- do(t, "POST", url+"/slow/sync", "application/json", request) }()
	<-entered

	stop()
	require.Eventually(t, func() bool {
		got := do(t, "GET", url+"/readyz", "", "")
		return got.code == http.StatusServiceUnavailable && got.body == "the server is shutting down"
	}, 1900*time.Millisecond, time.Millisecond, "readiness goes first")
	assert.Equal(t, http.StatusOK, do(t, "POST", url+"/ok/sync", "application/json", request).code, "calls are still answered")

	require.Eventually(t, func() bool {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	}, 10*time.Second, 10*time.Millisecond, "then it stops listening")
	select {
	case err := <-ended:
		t.Fatal("it did not wait for the call in flight", err)
	default:
	}
	close(finish)
	assert.Equal(t, http.StatusOK, (<-slow).code)
	assert.NoError(t, <-ended)
}

func TestShutdownBreaksOffWhatTakesTooLong(t *testing.T) {
	entered, finish := make(chan struct{}), make(chan struct{})
	url, stop, ended := run(t, Options{DrainDelay: -1, ShutdownTimeout: 50 * time.Millisecond}, hook("/slow/sync", func() (any, error) {
		close(entered)
		<-finish
		return metacontroller.DecoratorResponse{}, nil
	}))
	defer close(finish)
	go func() {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/slow/sync", strings.NewReader(request))
		r.Header.Set("Content-Type", "application/json")
		if got, err := http.DefaultClient.Do(r); err == nil {
			_ = got.Body.Close()
		}
	}()
	<-entered
	stop()
	require.ErrorContains(t, <-ended, "breaking off calls that took too long: context deadline exceeded")
}

func TestRunTellsThatTheAddressIsTaken(t *testing.T) {
	url, _, _ := run(t, Options{}, okHook())
	s, err := New(Options{Listen: strings.TrimPrefix(url, "http://")}, nil)
	require.NoError(t, err)
	require.ErrorContains(t, s.Run(t.Context()), "listening: listen tcp 127.0.0.1:")
}
