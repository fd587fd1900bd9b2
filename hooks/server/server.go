package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/nginx-stream/tcpingress/hooks/admission"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// Server answers hook calls, probes and scrapes. Make it with New.
type Server struct {
	options Options
	echo    *echo.Echo
	metrics *metrics
	// The slots have an element per running call.
	hookSlots, reviewSlots chan struct{}
	ready                  atomic.Bool
	// identity is nil without TLS.
	identity *identity
	guard    guard
	files    reloader
}

// New makes a Server of hooks, and of reviews if it shall answer the API server's
// admission too. It reads the files that the options name, and listens on nothing
// before Run.
func New(options Options, hooks []metacontroller.Hook, reviews ...admission.Hook) (*Server, error) {
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("checking server options: %w", err)
	}
	options = options.withDefaults()
	s := &Server{
		options:     options,
		echo:        echo.New(),
		metrics:     newMetrics(options.Build),
		hookSlots:   make(chan struct{}, options.MaxConcurrent),
		reviewSlots: make(chan struct{}, maxReviews),
	}
	s.ready.Store(true)
	s.files = reloader{logger: options.Logger, metrics: s.metrics}
	s.watchFiles()
	if err := s.files.start(); err != nil {
		return nil, err
	}
	if err := s.routes(hooks, reviews); err != nil {
		return nil, fmt.Errorf("laying out routes: %w", err)
	}
	return s, nil
}

// Handler gives the routes without a listener.
func (s *Server) Handler() http.Handler { return s.echo }

// Run listens and serves until the context ends, then shuts down: it is no longer
// ready, waits for the drain delay, stops listening, and lets calls in flight finish.
// An error means that it could not listen, or had to break calls off.
func (s *Server) Run(ctx context.Context) error {
	listener, err := s.listen(ctx)
	if err != nil {
		return fmt.Errorf("listening: %w", err)
	}
	return s.Serve(ctx, listener)
}

// watchFiles says which files there are, and what is made of them.
func (s *Server) watchFiles() {
	o := s.options
	watch := func(what string, load func([][]byte) error, paths ...string) {
		s.files.sets = append(s.files.sets, &fileSet{what: what, paths: paths, load: load})
	}
	if o.TLSCertFile != "" {
		s.identity = &identity{notAfter: s.metrics.notAfter}
		watch("certificate", s.identity.loadPair, o.TLSCertFile, o.TLSKeyFile)
	}
	if o.ClientCAFile != "" {
		s.guard.certificate = true
		watch("client-ca", s.identity.loadClients, o.ClientCAFile)
	}
	if o.HookTokenFile != "" {
		s.guard.tokens = &tokens{}
		watch("tokens", s.guard.tokens.load, o.HookTokenFile)
	}
}

func (s *Server) listen(ctx context.Context) (net.Listener, error) {
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", s.options.Listen)
}

// Serve is Run on a listener of the caller's, which it closes.
func (s *Server) Serve(ctx context.Context, listener net.Listener) error {
	o := s.options
	httpServer := &http.Server{
		Handler:           s.echo,
		ReadHeaderTimeout: o.ReadHeaderTimeout,
		ReadTimeout:       o.ReadTimeout,
		WriteTimeout:      o.WriteTimeout,
		IdleTimeout:       o.IdleTimeout,
		// Calls in flight outlive ctx, on purpose.
		BaseContext: func(net.Listener) context.Context { return context.WithoutCancel(ctx) },
		ErrorLog:    slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug),
	}
	scheme := "http"
	if s.identity != nil {
		scheme = "https"
		listener = s.identity.wrap(listener)
	} else if s.guard.tokens != nil {
		o.Logger.Warn("tokens travel unencrypted: without a certificate, hooks are served over HTTP")
	}
	o.Logger.Info("listening", "address", listener.Addr().String(), "scheme", scheme)
	watching, stopWatching := context.WithCancel(context.WithoutCancel(ctx))
	defer stopWatching()
	go s.files.run(watching, o.ReloadInterval)
	ended := make(chan error, 1)
	go func() { ended <- httpServer.Serve(listener) }()

	select {
	case err := <-ended:
		return fmt.Errorf("serving: %w", err)
	case <-ctx.Done():
	}
	s.ready.Store(false)
	// Answers now close their connection, so that clients come back elsewhere.
	httpServer.SetKeepAlivesEnabled(false)
	o.Logger.Info("shutting down", "drainDelay", max(o.DrainDelay, 0).String())
	select {
	case err := <-ended:
		return fmt.Errorf("serving: %w", err)
	case <-time.After(o.DrainDelay):
	}
	return s.shutdown(context.WithoutCancel(ctx), httpServer)
}

func (s *Server) shutdown(ctx context.Context, httpServer *http.Server) error {
	ctx, cancel := context.WithTimeout(ctx, s.options.ShutdownTimeout)
	defer cancel()
	if err := httpServer.Shutdown(ctx); err != nil {
		return fmt.Errorf("breaking off calls that took too long: %w", errors.Join(err, httpServer.Close()))
	}
	s.options.Logger.Info("shut down")
	return nil
}
