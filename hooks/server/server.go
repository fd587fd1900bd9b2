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

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// Server answers hook calls, probes and scrapes. Make it with New.
type Server struct {
	options Options
	echo    *echo.Echo
	metrics *metrics
	// slots has an element per running hook call.
	slots chan struct{}
	ready atomic.Bool
}

// New makes a Server of the hooks. It listens on nothing before Run.
func New(options Options, hooks []metacontroller.Hook) (*Server, error) {
	if err := options.validate(); err != nil {
		return nil, fmt.Errorf("checking server options: %w", err)
	}
	options = options.withDefaults()
	s := &Server{
		options: options,
		echo:    echo.New(),
		metrics: newMetrics(options.Build),
		slots:   make(chan struct{}, options.MaxConcurrent),
	}
	s.ready.Store(true)
	if err := s.routes(hooks); err != nil {
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

// listen is where TLS will be added.
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
	o.Logger.Info("listening", "address", listener.Addr().String())
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
