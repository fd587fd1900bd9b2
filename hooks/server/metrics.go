package server

import (
	"net/http"
	"runtime"
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// metrics has a registry of its own, so that nothing else gets into a scrape.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	duration *prometheus.HistogramVec
	bytes    *prometheus.HistogramVec
	inFlight prometheus.Gauge
	// reloads, stale and notAfter tell of certificates and tokens in files.
	reloads  *prometheus.CounterVec
	stale    *prometheus.GaugeVec
	notAfter prometheus.Gauge
}

// Results of a reload.
const (
	resultLoaded = "loaded"
	resultKept   = "kept"
)

func newMetrics(build Build) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tcpingress_hook_requests_total",
			Help: "Hook calls by hook and status code.",
		}, []string{"hook", "code"}),
		duration: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tcpingress_hook_duration_seconds",
			Help: "Time from the header of a hook call to its answer, by hook and status code.",
			// 0.5 ms to 16 s: Metacontroller gives up after 10 s.
			Buckets: prometheus.ExponentialBuckets(0.0005, 2, 16),
		}, []string{"hook", "code"}),
		bytes: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "tcpingress_hook_request_bytes",
			Help:    "Size of the bodies of hook calls that were read whole, by hook.",
			Buckets: prometheus.ExponentialBuckets(1<<10, 4, 9),
		}, []string{"hook"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "tcpingress_hook_requests_in_flight",
			Help: "Hook calls that are running.",
		}),
		reloads: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "tcpingress_reloads_total",
			Help: "Changes of files with certificates or tokens, by result: loaded, or kept where the new content cannot be used.",
		}, []string{"what", "result"}),
		stale: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tcpingress_reload_stale",
			Help: "1 while the files hold something that cannot be used, and what was loaded before is in use.",
		}, []string{"what"}),
		notAfter: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "tcpingress_certificate_not_after_timestamp_seconds",
			Help: "When the server's certificate in use expires, in seconds since 1970; 0 without TLS.",
		}),
	}
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "tcpingress_build_info",
		Help: "Always 1; the labels tell the version.",
		ConstLabels: prometheus.Labels{
			"version": build.Version, "revision": build.Revision, "goversion": runtime.Version(),
		},
	})
	info.Set(1)
	m.registry.MustRegister(m.requests, m.duration, m.bytes, m.inFlight,
		m.reloads, m.stale, m.notAfter, info,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

func (m *metrics) observe(o *outcome) {
	code := strconv.Itoa(o.code)
	m.requests.WithLabelValues(o.path, code).Inc()
	m.duration.WithLabelValues(o.path, code).Observe(o.duration.Seconds())
	if o.body != nil {
		m.bytes.WithLabelValues(o.path).Observe(float64(len(o.body)))
	}
}
