package agent

import (
	"log/slog"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/nginx-stream/tcpingress/agent/kernel"
	"github.com/nginx-stream/tcpingress/agent/sessions"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// collector makes metrics of what is known at the moment of a scrape.
type collector struct {
	sides  []*side
	book   *sessions.Book
	proc   string
	logger *slog.Logger

	sessions, bytes, seconds, failures, open    *prometheus.Desc
	live, refused                               *prometheus.Desc
	reloads, refusals, starts, oldWorkers, ends *prometheus.Desc
	running, broken, since, pending             *prometheus.Desc
}

func newCollector(o *Options, sides []*side, book *sessions.Book) *collector {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc("tcpingress_"+name, help, labels, nil)
	}
	return &collector{
		sides: sides, book: book, proc: o.Proc, logger: o.Logger,

		sessions: desc("listener_sessions_total", "Sessions that ended, by listener and rule.", "listener", "owner"),
		bytes:    desc("listener_bytes_total", "Bytes of sessions that ended: in to the backend, out to the client.", "listener", "owner", "direction"),
		seconds:  desc("listener_session_seconds", "How long sessions took.", "listener", "owner"),
		failures: desc("listener_failures_total", "Sessions that failed, by cause.", "listener", "owner", "cause"),
		open:     desc("listener_open_connections", "TCP connections of clients that are open now.", "listener"),

		live:       desc("agent_live_generation_info", "1 for the configuration that nginx serves.", "protocol", "generation"),
		refused:    desc("agent_refused_generation_info", "1 for the configuration that was refused last, until a newer one is live.", "protocol", "generation", "reason"),
		reloads:    desc("agent_reloads_total", "Reloads that nginx was asked for.", "protocol"),
		refusals:   desc("agent_refused_generations_total", "Configurations that were refused.", "protocol"),
		starts:     desc("agent_nginx_starts_total", "Processes of nginx that started.", "protocol"),
		oldWorkers: desc("agent_old_workers", "Workers of earlier configurations that have connections still.", "protocol"),
		ends:       desc("agent_ended_workers_total", "Old workers that were ended with their sessions, which are not counted.", "protocol"),
		running:    desc("agent_nginx_running", "Whether there is an nginx.", "protocol"),
		since:      desc("agent_live_since_timestamp_seconds", "When the configuration that nginx serves became live, or was written if an earlier agent saw that; in seconds since 1970.", "protocol"),
		pending:    desc("agent_pending_seconds", "How long nginx has not served what is mounted; 0 if it does.", "protocol"),
		broken:     desc("agent_broken_log_lines_total", "Lines of the access log that could not be read."),
	}
}

// Describe leaves out nothing but the order.
func (c *collector) Describe(descs chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		c.sessions, c.bytes, c.seconds, c.failures, c.open, c.live, c.refused, c.reloads, c.refusals, c.starts, c.oldWorkers, c.ends, c.running, c.broken, c.since, c.pending,
	} {
		descs <- d
	}
}

func (c *collector) Collect(metrics chan<- prometheus.Metric) {
	count := func(desc *prometheus.Desc, value uint64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, float64(value), labels...)
	}
	seconds := func(desc *prometheus.Desc, value float64, labels ...string) {
		metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	gauge := func(desc *prometheus.Desc, value int, labels ...string) { seconds(desc, float64(value), labels...) }
	var listeners []bundle.Header
	for _, s := range c.sides {
		status, protocol := s.status.get(), string(s.keeper.protocol)
		listeners = append(listeners, status.Listeners...)
		count(c.reloads, uint64(status.Reloads), protocol)
		count(c.refusals, uint64(status.Refusals), protocol)
		count(c.starts, uint64(status.Starts), protocol)
		count(c.ends, uint64(status.EndedWorkers), protocol)
		gauge(c.oldWorkers, status.OldWorkers, protocol)
		running := 0
		if status.Running {
			running = 1
		}
		gauge(c.running, running, protocol)
		if status.Live != "" {
			gauge(c.live, 1, protocol, status.Live)
			seconds(c.since, float64(status.LiveSince.UnixMilli())/1000, protocol)
		}
		pending := 0.0
		if !status.PendingSince.IsZero() {
			pending = time.Since(status.PendingSince).Seconds()
		}
		seconds(c.pending, pending, protocol)
		if status.Refused != nil {
			gauge(c.refused, 1, protocol, status.Refused.Generation, strings.ToValidUTF8(status.Refused.Reason, "?"))
		}
	}
	count(c.broken, c.book.Broken())
	possible := possibleCauses(listeners)
	c.book.Each(func(key sessions.Key, counter sessions.Counter) {
		count(c.sessions, counter.Sessions, key.Listener, key.Owner)
		count(c.bytes, counter.In, key.Listener, key.Owner, "in")
		count(c.bytes, counter.Out, key.Listener, key.Owner, "out")
		metrics <- prometheus.MustNewConstHistogram(c.seconds, counter.Sessions, counter.Seconds, cumulative(&counter), key.Listener, key.Owner)
		for _, cause := range sessions.Causes() {
			if n := counter.Failures[cause]; n > 0 || possible[key][cause] {
				count(c.failures, n, key.Listener, key.Owner, cause.String())
			}
		}
	})
	c.collectOpen(listeners, gauge)
}

func (c *collector) collectOpen(listeners []bundle.Header, gauge func(*prometheus.Desc, int, ...string)) {
	ports, err := kernel.Connections(c.proc)
	if err != nil {
		c.logger.Error("open connections cannot be told", slog.Any("error", err))
		return
	}
	told := map[string]bool{}
	for i := range listeners {
		h := &listeners[i]
		if h.Protocol != l4.TCP || told[h.Listener()] {
			continue
		}
		told[h.Listener()] = true
		open := 0
		for port := h.Port; port <= max(h.Port, h.EndPort); port++ {
			open += ports[uint16(port)]
		}
		gauge(c.open, open, h.Listener())
	}
}

// possibleCauses tells which failures a rule can have. They are told of before the
// first one happens, so that it is seen as a change; the others would only be many.
func possibleCauses(listeners []bundle.Header) map[sessions.Key]map[sessions.Cause]bool {
	possible := make(map[sessions.Key]map[sessions.Cause]bool, len(listeners))
	add := func(key sessions.Key, causes ...sessions.Cause) {
		if possible[key] == nil {
			possible[key] = map[sessions.Cause]bool{}
		}
		for _, cause := range causes {
			possible[key][cause] = true
		}
	}
	for i := range listeners {
		h := &listeners[i]
		key := keyOf(h)
		add(key, sessions.DNS, sessions.Allow, sessions.Limit)
		if h.Protocol == l4.UDP {
			add(key, sessions.UDPNoAnswer)
			continue
		}
		add(key, sessions.Connect, sessions.Timeout)
		if h.AcceptProxy {
			add(key, sessions.BadProxyHeader)
		}
		if h.Host != "" {
			add(sessions.Key{Listener: h.Listener()}, sessions.SNI, sessions.PrereadTimeout)
			if h.AcceptProxy {
				add(sessions.Key{Listener: h.Listener()}, sessions.BadProxyHeader)
			}
		}
	}
	return possible
}

func cumulative(c *sessions.Counter) map[float64]uint64 {
	buckets := make(map[float64]uint64, len(c.Durations))
	var total uint64
	for i, bound := range sessions.Buckets() {
		total += c.Durations[i]
		buckets[bound] = total
	}
	return buckets
}
