package agent

import (
	"context"
	"log/slog"
	"time"
)

// Agent is the agent of one nginx.
type Agent struct {
	Options
	keeper *keeper
	status statusBox
}

// New makes an agent, which does nothing yet.
func New(o Options) *Agent {
	a := &Agent{Options: o.withDefaults()}
	a.keeper = newKeeper(a.Options, &a.status)
	return a
}

// Status is what the agent knows of nginx.
func (a *Agent) Status() Status { return a.status.get() }

// Run works until the context ends, which is no error. nginx runs on.
func (a *Agent) Run(ctx context.Context) error {
	if err := a.keeper.takeUp(ctx); err != nil {
		return err
	}
	a.every(ctx, "keeping nginx", a.keeper.step)
	return nil
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
