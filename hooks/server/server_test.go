package server

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

const (
	request  = `{"parent":{"apiVersion":"v1","kind":"Pod","metadata":{"namespace":"data","name":"redis"}}}`
	response = `{"status":{"ok":true},"children":[]}`
)

// lines is a log to look at.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// calls gives the lines of hook calls, without their durations.
func (l *lines) calls(t *testing.T) []map[string]any {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var calls []map[string]any
	for line := range strings.Lines(l.b.String()) {
		var fields map[string]any
		require.NoError(t, json.Unmarshal([]byte(line), &fields))
		if fields["msg"] != "hook call" {
			continue
		}
		_, err := time.ParseDuration(fmt.Sprint(fields["duration"]))
		require.NoError(t, err)
		delete(fields, "duration")
		delete(fields, "time")
		calls = append(calls, fields)
	}
	return calls
}

func (l *lines) logger(level slog.Level) *slog.Logger {
	return slog.New(slog.NewJSONHandler(l, &slog.HandlerOptions{Level: level}))
}

// start serves hooks on a real listener, and gives its URL.
func start(t *testing.T, o Options, hooks ...metacontroller.Hook) string {
	t.Helper()
	s, err := New(o, hooks)
	require.NoError(t, err)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	return server.URL
}

func hook(path string, serve func() (any, error)) metacontroller.Hook {
	return metacontroller.Hook{Path: path, Serve: func([]byte, time.Time) (any, error) { return serve() }}
}

func okHook() metacontroller.Hook {
	return hook("/ok/sync", func() (any, error) {
		return metacontroller.CompositeResponse{Status: map[string]bool{"ok": true}}, nil
	})
}

type answer struct {
	code   int
	body   string
	header http.Header
}

func do(t *testing.T, method, url, contentType, body string) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	if contentType != "" {
		r.Header.Set("Content-Type", contentType)
	}
	got, err := http.DefaultClient.Do(r)
	require.NoError(t, err)
	return answerOf(t, got)
}

// dial connects to a server.
func dial(t *testing.T, url string) net.Conn {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	return conn
}

// raw sends bytes as they are, and reads one answer.
func raw(t *testing.T, url, text string) answer {
	t.Helper()
	conn := dial(t, url)
	_, err := io.WriteString(conn, text)
	require.NoError(t, err)
	return readAnswer(t, conn)
}

func readAnswer(t *testing.T, from io.Reader) answer {
	t.Helper()
	got, err := http.ReadResponse(bufio.NewReader(from), nil)
	require.NoError(t, err)
	return answerOf(t, got)
}

func answerOf(t *testing.T, got *http.Response) answer {
	t.Helper()
	b, err := io.ReadAll(got.Body)
	require.NoError(t, err)
	require.NoError(t, got.Body.Close())
	return answer{code: got.StatusCode, body: string(b), header: got.Header}
}

func TestAnswers(t *testing.T) {
	url := start(t, Options{MaxBody: 200}, okHook(),
		hook("/bad/sync", func() (any, error) {
			return nil, fmt.Errorf("decoding parent: %w", &metacontroller.BadRequest{Problem: "the request has no parent"})
		}),
		hook("/missing/sync", func() (any, error) {
			return nil, &metacontroller.MissingGroup{Where: "related", Group: "Pod.v1"}
		}),
		hook("/broken/sync", func() (any, error) { return nil, errors.New("line\nby line\t" + strings.Repeat("é", 900)) }),
		hook("/unwritable/sync", func() (any, error) { return metacontroller.CompositeResponse{}, nil }),
		hook("/panic/sync", func() (any, error) { panic("secret") }),
	)
	const js = "application/json"
	tests := map[string]struct {
		method, path, contentType, body string
		code                            int
		want                            string
	}{
		"a call":                           {"POST", "/ok/sync", js, request, 200, response},
		"a content type with parameters":   {"POST", "/ok/sync", "Application/JSON; charset=utf-8", request, 200, response},
		"a body as large as allowed":       {"POST", "/ok/sync", js, strings.Repeat("x", 200), 200, response},
		"another content type":             {"POST", "/ok/sync", "text/plain", request, 415, "the content type must be application/json"},
		"no content type":                  {"POST", "/ok/sync", "", request, 415, "the content type must be application/json"},
		"a content type that is like JSON": {"POST", "/ok/sync", "application/json5", request, 415, "the content type must be application/json"},
		"an empty body":                    {"POST", "/ok/sync", js, "", 400, "the body is empty"},
		"a body that is too large":         {"POST", "/ok/sync", js, strings.Repeat("x", 201), 413, "the body is larger than 200 bytes, which --max-body can raise"},
		"a request that cannot be read":    {"POST", "/bad/sync", js, request, 400, "the request has no parent"},
		"a missing group":                  {"POST", "/missing/sync", js, request, 500, "the request has no related group Pod.v1"},
		"another error is shortened":       {"POST", "/broken/sync", js, request, 500, "line by line " + strings.Repeat("é", 443) + "..."},
		"an answer that cannot be encoded": {"POST", "/unwritable/sync", js, request, 500, "encoding response: the response has no status"},
		"a panic":                          {"POST", "/panic/sync", js, request, 500, "the hook crashed, and the server's log tells where"},
		"a path that is not there":         {"POST", "/ok/nothing", js, request, 404, "there is nothing at this path"},
		"a path with a slash more":         {"POST", "/ok/sync/", js, request, 404, "there is nothing at this path"},
		"another method":                   {"GET", "/ok/sync", "", "", 405, "this path accepts only the method OPTIONS, POST"},
		"another method on a probe":        {"POST", "/healthz", js, request, 405, "this path accepts only the method OPTIONS, GET, HEAD"},
		"the process lives":                {"GET", "/healthz", "", "", 200, "ok"},
		"the process is ready":             {"GET", "/readyz", "", "", 200, "ok"},
		"a probe by HEAD":                  {"HEAD", "/readyz", "", "", 200, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := do(t, tc.method, url+tc.path, tc.contentType, tc.body)
			assert.Equal(t, tc.want, got.body)
			assert.Equal(t, tc.code, got.code)
			want := "text/plain; charset=UTF-8"
			if tc.want == response {
				want = js
			}
			assert.Equal(t, want, got.header.Get("Content-Type"))
		})
	}
}

func TestCompressedBodyIsRefused(t *testing.T) {
	url := start(t, Options{}, okHook())
	got := raw(t, url, "POST /ok/sync HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 1\r\n\r\n1")
	assert.Equal(t, http.StatusUnsupportedMediaType, got.code)
	assert.Equal(t, "the body must not be compressed", got.body)
}

func TestHookGetsBodyAndTime(t *testing.T) {
	var gotBody []byte
	var gotTime time.Time
	url := start(t, Options{}, metacontroller.Hook{Path: "/x", Serve: func(body []byte, now time.Time) (any, error) {
		gotBody, gotTime = body, now
		return metacontroller.DecoratorResponse{}, nil
	}})
	got := do(t, "POST", url+"/x", "application/json", request)
	require.Equal(t, `{"attachments":[]}`, got.body)
	assert.Equal(t, request, string(gotBody))
	assert.WithinDuration(t, time.Now(), gotTime, time.Minute)
}

func TestNewRejects(t *testing.T) {
	tests := map[string]struct {
		options Options
		paths   []string
		want    string
	}{
		"a path without a slash":    {Options{}, []string{"sync"}, `laying out routes: the path "sync" does not start with a slash, or has a colon or an asterisk`},
		"a path with a parameter":   {Options{}, []string{"/:x"}, `laying out routes: the path "/:x" does not start with a slash, or has a colon or an asterisk`},
		"a path twice":              {Options{}, []string{"/x", "/x"}, "laying out routes: the path /x is there twice"},
		"a path of the server":      {Options{}, []string{"/metrics"}, "laying out routes: the path /metrics is there twice"},
		"a negative number":         {Options{MaxConcurrent: -1}, nil, "checking server options: the number of concurrent calls and the size of a body must be positive"},
		"a timeout before the call": {Options{ReadTimeout: -1}, nil, "checking server options: a timeout must not be negative: -1ns"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var hooks []metacontroller.Hook
			for _, path := range tc.paths {
				hooks = append(hooks, hook(path, nil))
			}
			_, err := New(tc.options, hooks)
			assert.EqualError(t, err, tc.want)
		})
	}
}

func TestLogLines(t *testing.T) {
	var log lines
	url := start(t, Options{Logger: log.logger(slog.LevelDebug)}, okHook(),
		hook("/missing/sync", func() (any, error) { return nil, &metacontroller.MissingGroup{Where: "related", Group: "Pod.v1"} }),
		hook("/panic/sync", func() (any, error) { panic("on\npurpose") }),
	)
	for _, path := range []string{"/ok/sync", "/missing/sync", "/panic/sync", "/ok/sync"} {
		do(t, "POST", url+path, "application/json", request)
	}
	do(t, "POST", url+"/ok/sync", "application/json", "")

	got := log.calls(t)
	require.Len(t, got, 5, "one line per call, and the process lives on after a panic")
	stack, _ := got[2]["stack"].(string)
	assert.Contains(t, stack, "server_test.go", "the stack shows where the hook is")
	delete(got[2], "stack")
	line := func(level, hook string, code, bytes float64, parent, problem string) map[string]any {
		l := map[string]any{"level": level, "msg": "hook call", "hook": hook, "code": code, "bytes": bytes}
		if parent != "" {
			l["parent"] = parent
		}
		if problem != "" {
			l["error"] = problem
		}
		return l
	}
	const parent, size = "v1 Pod data/redis", float64(len(request))
	assert.Equal(t, []map[string]any{
		line("DEBUG", "/ok/sync", 200, size, parent, ""),
		line("ERROR", "/missing/sync", 500, size, parent, "the request has no related group Pod.v1"),
		line("ERROR", "/panic/sync", 500, size, parent, "the hook crashed, and the server's log tells where: panic: on\npurpose"),
		line("DEBUG", "/ok/sync", 200, size, parent, ""),
		line("WARN", "/ok/sync", 400, 0, "", "the body is empty"),
	}, got)
}

func TestLogIsSilentAboutSuccess(t *testing.T) {
	var log lines
	url := start(t, Options{Logger: log.logger(slog.LevelInfo)}, okHook())
	do(t, "POST", url+"/ok/sync", "application/json", request)
	do(t, "POST", url+"/ok/sync", "text/plain", request)
	got := log.calls(t)
	require.Len(t, got, 1)
	assert.InDelta(t, 415, got[0]["code"], 0)
}
