package agent

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/nginx-stream/tcpingress/agent/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// observe meets new masters, and finds out whether what is linked is served.
func (k *keeper) observe(ctx context.Context) error {
	master := k.processes.Master()
	workers, err := k.processes.Workers()
	if err != nil {
		return err
	}
	k.status.change(func(s *Status) { s.Running, s.Quitting = master != 0, nginx.Quitting(workers) })
	name := k.store.Linked()
	met := master != k.master
	k.master = master
	if met {
		k.silentSince = time.Time{}
	}
	k.noteComplaint()
	switch {
	case master == 0:
		k.notLive()
		return k.replaceWhatKeepsNginxFromStarting(ctx, name)
	case name == "":
		return nil
	case nginx.Quitting(workers):
		if !k.answers(ctx, name) {
			k.notLive()
		}
		return nil
	case met:
		k.Logger.InfoContext(ctx, "nginx has started", slog.Int("pid", master))
		k.status.change(func(s *Status) { s.Starts++ })
		return k.meet(ctx, name)
	case k.answers(ctx, name):
		k.silentSince = time.Time{}
		return k.live(name)
	default:
		k.notLive()
		now := time.Now()
		if k.silentSince.IsZero() {
			k.silentSince = now
		}
		if now.Before(k.retryAt) || now.Sub(k.silentSince) < k.AnswerTimeout {
			return nil
		}
		k.retryAt = time.Now().Add(k.Retry)
		k.Logger.WarnContext(ctx, "nginx does not serve what is linked; reloading", slog.String("generation", name))
		return k.reloadAndVerify(ctx, name)
	}
}

// replaceWhatKeepsNginxFromStarting is for a generation that was written while nginx
// was down, and with which it does not come up, such as one with a port that is taken.
func (k *keeper) replaceWhatKeepsNginxFromStarting(ctx context.Context, name string) error {
	// nginx complains of a port that is taken, and tries again for some seconds.
	if k.good == "" || name == k.good || time.Since(k.linkedAt) < k.AnswerTimeout {
		return nil
	}
	reason := k.errorLog.Since(k.linked)
	if reason == "" {
		return nil
	}
	k.refuse(ctx, name, reason)
	return k.link(k.good)
}

// meet waits for the answer of an nginx that has started. It may have begun with what was
// linked a moment before: then it is asked to reload.
func (k *keeper) meet(ctx context.Context, name string) error {
	for deadline := time.Now().Add(k.AnswerTimeout); ctx.Err() == nil; time.Sleep(askPause) {
		switch {
		case k.answers(ctx, name):
			return k.live(name)
		case time.Now().After(deadline), k.processes.Master() == 0:
			return k.unanswered(ctx, name)
		case k.answersForAnother(ctx, name):
			return k.reloadAndVerify(ctx, name)
		}
	}
	return ctx.Err()
}

// answersForAnother tells whether a socket of another generation answers.
func (k *keeper) answersForAnother(ctx context.Context, name string) bool {
	sockets, err := filepath.Glob(filepath.Join(k.dir, bundle.GenerationSocket("*")))
	if err != nil {
		return false
	}
	return slices.ContainsFunc(sockets, func(socket string) bool {
		answer, err := nginx.Ask(ctx, socket, askTimeout)
		return err == nil && answer != name && k.store.Socket(answer) == socket
	})
}
