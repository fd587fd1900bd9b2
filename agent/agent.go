package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/nginx-stream/tcpingress/agent/sessions"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Agent is the agent of a pod: of the nginx that serves TCP, and that for UDP.
type Agent struct {
	Options
	tcp, udp *side
	book     sessions.Book
	log      *sessions.Log
	listener net.Listener
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
	var live liveKeys
	a.tcp = newSide(o, l4.TCP, &a.book, &live)
	a.udp = newSide(o, l4.UDP, &a.book, &live)
	a.log = &sessions.Log{
		Book: &a.book, Path: filepath.Join(o.SharedDir, bundle.AccessLog), Size: o.LogSize, SaveInterval: o.SaveInterval,
		Reopen: a.reopen, InUse: a.inUse,
	}
	a.listener, err = net.Listen("tcp", o.Listen)
	if err != nil {
		return nil, fmt.Errorf("listening for metrics and probes: %w", err)
	}
	return a, nil
}

func (a *Agent) sides() []*side { return []*side{a.tcp, a.udp} }

// reopen makes every nginx that runs leave the access log that was rotated away.
func (a *Agent) reopen() error {
	err := errors.New("nginx is not running")
	for _, s := range a.sides() {
		if s.keeper.processes.Master() == 0 {
			continue
		}
		if err = s.keeper.processes.Reopen(); err != nil {
			break
		}
	}
	return err
}

func (a *Agent) inUse(file os.FileInfo) (bool, error) {
	for _, s := range a.sides() {
		if used, err := s.keeper.processes.HaveOpen(file); used || err != nil {
			return used, err
		}
	}
	return false, nil
}

// Status is what the agent knows of the nginx that serves the protocol.
func (a *Agent) Status(protocol l4.Protocol) Status {
	if protocol == l4.UDP {
		return a.udp.status.get()
	}
	return a.tcp.status.get()
}

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
	for _, s := range a.sides() {
		s.stepped.Store(time.Now().UnixNano())
		if err := s.keeper.takeUp(ctx); err != nil {
			return err
		}
	}
	// What was saved is some seconds old if the agent before was killed.
	if err := a.countSessions(ctx); err != nil {
		a.Logger.ErrorContext(ctx, "counting sessions", slog.Any("error", err))
	}
	return nil
}

func (a *Agent) work(ctx context.Context) {
	var all sync.WaitGroup
	all.Go(func() { a.every(ctx, "counting sessions", a.countSessions) })
	for _, s := range a.sides() {
		all.Go(func() { a.every(ctx, "keeping nginx for "+string(s.keeper.protocol), s.step) })
	}
	all.Wait()
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
