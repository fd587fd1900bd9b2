package bench

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/server"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress"
)

// worlds are the sizes that are measured. The 10,000 belong to eight classes: a
// Service cannot have that many ports.
func worlds() []World {
	return []World{{100, 1}, {1000, 1}, {10000, 8}}
}

func (w World) String() string { return fmt.Sprintf("ingresses=%d/classes=%d", w.Ingresses, w.Classes) }

func listen(tb testing.TB) string {
	tb.Helper()
	srv, err := server.New(server.Options{}, tcpingress.Hooks())
	require.NoError(tb, err)
	ts := httptest.NewServer(srv.Handler())
	tb.Cleanup(ts.Close)
	return ts.URL
}

func post(tb testing.TB, url string, body []byte) []byte {
	tb.Helper()
	res, err := http.Post(url, "application/json", bytes.NewReader(body)) //nolint:noctx // bounded by the test
	require.NoError(tb, err)
	answer, err := io.ReadAll(res.Body)
	require.NoError(tb, err)
	require.NoError(tb, res.Body.Close())
	require.Equal(tb, http.StatusOK, res.StatusCode, string(answer))
	return answer
}

// BenchmarkScan is the measure: what encoding/json needs to see that the bytes of
// a class sync are JSON.
func BenchmarkScan(b *testing.B) {
	for _, w := range worlds() {
		b.Run(w.String(), func(b *testing.B) {
			body := settled(b, w)
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				if !json.Valid(body) {
					b.Fatal("not JSON")
				}
			}
		})
	}
}

// BenchmarkClassSync is a class sync in steady state over HTTP.
func BenchmarkClassSync(b *testing.B) {
	for _, w := range worlds() {
		b.Run(w.String(), func(b *testing.B) {
			body, url := settled(b, w), listen(b)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				post(b, url+"/tcpingressclass/sync", body)
			}
			b.ReportMetric(float64(len(body))/float64(w.Ingresses), "request-B/ingress")
		})
	}
}

// BenchmarkClassHook is the same without HTTP and without encoding the answer.
func BenchmarkClassHook(b *testing.B) {
	for _, w := range worlds() {
		b.Run(w.String(), func(b *testing.B) {
			body := settled(b, w)
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			for b.Loop() {
				_, err := Serve(tcpingress.Hooks(), "/tcpingressclass/sync", body)
				require.NoError(b, err)
			}
		})
	}
}

// BenchmarkIngressSync is a TCPIngress sync over HTTP beside 1,000 others.
func BenchmarkIngressSync(b *testing.B) {
	w := World{Ingresses: 1000, Classes: 1}
	answer, err := Serve(tcpingress.Hooks(), "/tcpingressclass/sync", w.Class())
	require.NoError(b, err)
	body, err := w.Ingress(answer)
	require.NoError(b, err)
	url := listen(b)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		post(b, url+"/tcpingress/sync", body)
	}
}

func settled(tb testing.TB, w World) []byte {
	tb.Helper()
	answer, err := Serve(tcpingress.Hooks(), "/tcpingressclass/sync", w.Class())
	require.NoError(tb, err)
	body, err := w.Settled(answer)
	require.NoError(tb, err)
	return body
}

// TestWorldsAreRealistic keeps the benchmarks honest: objects of about 2 KB, all
// of them accepted and, once the children are there, live.
func TestWorldsAreRealistic(t *testing.T) {
	t.Parallel()
	w := World{Ingresses: 100, Classes: 1}
	body := settled(t, w)
	require.InDelta(t, 2048, float64(len(encode(w.ingress(0)))), 700)
	answer, err := Serve(tcpingress.Hooks(), "/tcpingressclass/sync", body)
	require.NoError(t, err)
	require.Equal(t, 100, bytes.Count(answer, []byte(`"live":true`)), "every rule is live")
}
