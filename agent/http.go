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
		newCollector(&a.Options, a.sides(), &a.book),
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
		ready, sentences := true, []string(nil)
		for _, s := range a.sides() {
			status := s.status.get()
			ready = ready && status.Live != ""
			for _, sentence := range status.Sentences() {
				sentences = append(sentences, string(s.keeper.protocol)+": "+sentence)
			}
		}
		say(w, ready, sentences)
	})
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) {
		alive, sentences := true, []string(nil)
		for _, s := range a.sides() {
			idle := time.Since(time.Unix(0, s.stepped.Load()))
			alive = alive && idle < a.mostBetweenSteps()
			sentences = append(sentences, fmt.Sprintf("%s: nginx was looked at %s ago.", s.keeper.protocol, idle.Round(time.Millisecond)))
		}
		say(w, alive, sentences)
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
