package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nginx-stream/tcpingress/agent/sessions"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Agent is the agent of one nginx.
type Agent struct {
	Options
	keeper   *keeper
	status   statusBox
	book     sessions.Book
	log      *sessions.Log
	listener net.Listener
	// stepped is when the keeper ended a step, in nanoseconds since 1970.
	stepped atomic.Int64
}

// New makes an agent, which listens and does nothing yet.
func New(o Options) (*Agent, error) {
	o = o.withDefaults()
	shared, err := filepath.Abs(o.SharedDir)
	if err != nil {
		return nil, fmt.Errorf("finding shared directory: %w", err)
	}
	o.SharedDir = shared
	a := &Agent{Options: o}
	a.keeper = newKeeper(o, &a.status, func(s *servers) { a.book.Live(s.limits, time.Now()) })
	a.log = &sessions.Log{
		Book: &a.book, Path: filepath.Join(o.SharedDir, bundle.AccessLog), Size: o.LogSize, SaveInterval: o.SaveInterval,
		Reopen: a.keeper.processes.Reopen, InUse: a.keeper.processes.HaveOpen,
	}
	a.listener, err = net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("listening for metrics and probes: %w", err)
	}
	return a, nil
}

// Status is what the agent knows of nginx.
func (a *Agent) Status() Status { return a.status.get() }

// Addr is where metrics and probes are served.
func (a *Agent) Addr() net.Addr { return a.listener.Addr() }

// Run works until the context ends, which is no error. nginx runs on.
func (a *Agent) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	handler, err := a.handler()
	if err != nil {
		return errors.Join(err, a.listener.Close())
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 5 * time.Second, WriteTimeout: time.Minute, IdleTimeout: time.Minute}
	a.stepped.Store(time.Now().UnixNano())
	if err := a.takeUp(ctx); err != nil {
		return errors.Join(err, a.listener.Close())
	}
	served := make(chan error, 1)
	go func() {
		served <- a.serve(server)
		cancel()
	}()
	a.work(ctx)
	return errors.Join(a.log.Close(time.Now()), server.Close(), <-served)
}

// takeUp goes before the first answer: a counter that is not there yet, or is less
// than it was, reads as one that began anew.
func (a *Agent) takeUp(ctx context.Context) error {
	// What was counted comes before what is live: it would be forgotten else.
	if err := a.log.Resume(); err != nil {
		a.Logger.ErrorContext(ctx, "counters begin anew", slog.Any("error", err))
	}
	if err := a.keeper.takeUp(ctx); err != nil {
		return err
	}
	// What was saved is some seconds old if the agent before was killed.
	if err := a.countSessions(ctx); err != nil {
		a.Logger.ErrorContext(ctx, "counting sessions", slog.Any("error", err))
	}
	return nil
}

func (a *Agent) work(ctx context.Context) {
	var both sync.WaitGroup
	both.Go(func() { a.every(ctx, "counting sessions", a.countSessions) })
	both.Go(func() {
		a.every(ctx, "keeping nginx", func(ctx context.Context) error {
			defer func() { a.stepped.Store(time.Now().UnixNano()) }()
			return a.keeper.step(ctx)
		})
	})
	both.Wait()
}

func (a *Agent) countSessions(context.Context) error {
	now := time.Now()
	a.book.Prune(now.Add(-a.SeriesGrace))
	return a.log.Step(now)
}

// every does a step at once and then again and again. A step that fails is told of
// once, and is tried again: a full disk may be emptied.
func (a *Agent) every(ctx context.Context, what string, step func(context.Context) error) {
	ticker := time.NewTicker(a.Poll)
	defer ticker.Stop()
	told := ""
	for {
		switch err := step(ctx); {
		case err == nil || ctx.Err() != nil:
			told = ""
		case err.Error() != told:
			told = err.Error()
			a.Logger.ErrorContext(ctx, what, slog.Any("error", err))
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
