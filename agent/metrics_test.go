package agent

import (
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/agent/sessions"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// A pedantic registry refuses what is not described, or told twice.
func TestMetrics(t *testing.T) {
	proc := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(proc, "net"), 0o755))
	socket := func(port int, state string) string {
		return fmt.Sprintf("   0: 0100007F:%04X 0100007F:D431 %s 00000000:00000000 00:00000000 00000000 0 0 1 1\n", port, state)
	}
	require.NoError(t, os.WriteFile(filepath.Join(proc, "net", "tcp"), []byte("  sl  local_address rem_address   st\n"+
		socket(29999, "01")+socket(30000, "01")+socket(30000, "0A")+socket(30002, "01")+socket(30003, "01")+socket(8443, "01")), 0o600))
	a := &Agent{Options: Options{Proc: proc, Logger: slog.New(slog.DiscardHandler)}}
	texts := []string{
		"# 30000-30002/TCP game/world/tcp -> game/world:*",
		"# 8443/TCP/a.example.com data/a/tls -> data/a:1 accept",
		"# 8443/TCP/b.example.com data/b/tls -> data/b:1 accept",
		"# 53/UDP dns/dns/udp -> dns/dns:53",
	}
	serves := readServers(map[string]string{"servers-00.conf": strings.Join(texts, "\n") + "\n"})
	require.Len(t, serves.headers, len(texts))
	a.book.Live(serves.limits, time.Now())
	a.tcp, a.udp = &side{keeper: &keeper{protocol: l4.TCP}}, &side{keeper: &keeper{protocol: l4.UDP}}
	a.tcp.status.change(func(s *Status) {
		s.Running, s.Live, s.LiveSince, s.Listeners = true, "abc", time.UnixMilli(1500), serves.headers
		s.Refused = &Refusal{Generation: "def", Reason: "[emerg] \xff"}
	})
	registry := prometheus.NewPedanticRegistry()
	require.NoError(t, registry.Register(newCollector(&a.Options, a.sides(), &a.book)))
	families, err := registry.Gather()
	require.NoError(t, err)
	var got []string
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			var labels []string
			for _, label := range metric.GetLabel() {
				labels = append(labels, label.GetValue())
			}
			value := metric.GetGauge().GetValue() + metric.GetCounter().GetValue() + float64(metric.GetHistogram().GetSampleCount())
			got = append(got, fmt.Sprintf("%s%v %v", strings.TrimPrefix(family.GetName(), "tcpingress_"), labels, value))
		}
	}
	zeros := func(name string, labels ...string) []string {
		list := make([]string, 0, len(labels))
		for _, label := range labels {
			list = append(list, name+"["+label+"] 0")
		}
		return list
	}
	owners := []string{"30000-30002/TCP game/world/tcp", "53/UDP dns/dns/udp", "8443/TCP ", "8443/TCP data/a/tls", "8443/TCP data/b/tls"}
	want := slices.Concat(
		[]string{"listener_open_connections[30000-30002/TCP] 2", "listener_open_connections[8443/TCP] 1"},
		zeros("listener_sessions_total", owners...), zeros("listener_session_seconds", owners...),
		zeros("listener_failures_total",
			"allow 30000-30002/TCP game/world/tcp", "connect 30000-30002/TCP game/world/tcp", "dns 30000-30002/TCP game/world/tcp",
			"limit 30000-30002/TCP game/world/tcp", "timeout 30000-30002/TCP game/world/tcp",
			"allow 53/UDP dns/dns/udp", "dns 53/UDP dns/dns/udp", "limit 53/UDP dns/dns/udp", "udp_no_answer 53/UDP dns/dns/udp",
			"bad_proxy_header 8443/TCP ", "preread_timeout 8443/TCP ", "sni 8443/TCP "),
		[]string{
			"agent_live_generation_info[abc TCP] 1", "agent_live_since_timestamp_seconds[TCP] 1.5",
			"agent_refused_generation_info[def TCP [emerg] ?] 1", "agent_nginx_running[TCP] 1", "agent_nginx_running[UDP] 0", "agent_pending_seconds[TCP] 0",
		},
	)
	for _, line := range want {
		assert.True(t, slices.Contains(got, line), "%s is missing", line)
	}
	assert.NotContains(t, strings.Join(got, "\n"), "listener_open_connections[53/UDP]", "the kernel knows no sessions of UDP")
}

// BenchmarkScrape is what one scrape of many listeners costs, and what the counters
// keep in memory.
func BenchmarkScrape(b *testing.B) {
	const listeners = 4000
	a := &Agent{Options: Options{Proc: "/proc", Logger: slog.New(slog.DiscardHandler)}}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	headers := make([]bundle.Header, 0, listeners)
	live := map[sessions.Key]sessions.Limits{}
	for i := range listeners {
		h := bundle.Header{Key: l4.Key{Protocol: l4.TCP, Port: int32(1 + i)}, Owner: fmt.Sprintf("namespace/name-%d/rule", i)}
		headers = append(headers, h)
		live[keyOf(&h)] = sessions.Limits{}
	}
	a.book.Live(live, time.Now())
	a.tcp, a.udp = &side{keeper: &keeper{protocol: l4.TCP}}, &side{keeper: &keeper{protocol: l4.UDP}}
	a.tcp.status.change(func(s *Status) { s.Live, s.Listeners = "abc", headers })
	runtime.GC()
	runtime.ReadMemStats(&after)
	handler, err := a.handler()
	require.NoError(b, err)
	server := httptest.NewServer(handler)
	defer server.Close()
	var size int64
	for b.Loop() {
		response, err := http.Get(server.URL + "/metrics")
		require.NoError(b, err)
		size, err = io.Copy(io.Discard, response.Body)
		require.NoError(b, err)
		require.NoError(b, response.Body.Close())
	}
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/1024, "KiB-kept")
	b.ReportMetric(float64(size)/1024, "KiB/scrape")
}
