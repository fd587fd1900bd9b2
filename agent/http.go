package agent

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// handler serves metrics and probes.
func (a *Agent) handler() (http.Handler, error) {
	registry := prometheus.NewRegistry()
	for _, c := range []prometheus.Collector{
		newCollector(&a.Options, &a.status, &a.book),
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	} {
		if err := registry.Register(c); err != nil {
			return nil, fmt.Errorf("registering metrics: %w", err)
		}
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{MaxRequestsInFlight: 2}))
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		status := a.status.get()
		say(w, status.Live != "", status.Sentences())
	})
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		idle := time.Since(time.Unix(0, a.stepped.Load()))
		say(w, idle < a.mostBetweenSteps(), []string{fmt.Sprintf("nginx was looked at %s ago.", idle.Round(time.Millisecond))})
	})
	return mux, nil
}

func say(w http.ResponseWriter, good bool, sentences []string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	if !good {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = w.Write([]byte(strings.Join(sentences, "\n") + "\n"))
}

// mostBetweenSteps is long enough for a step that checks, waits in vain, and restores.
func (a *Agent) mostBetweenSteps() time.Duration {
	return 2*a.Poll + a.CheckTimeout + 3*a.AnswerTimeout + 30*time.Second
}

// serve serves until the server is shut down.
func (a *Agent) serve(server *http.Server) error {
	if err := server.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serving metrics: %w", err)
	}
	return nil
}
