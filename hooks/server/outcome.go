package server

import (
	"context"
	"log/slog"
	"net/http"
	"time"
)

// outcome is what happened to one call.
type outcome struct {
	path     string
	code     int
	duration time.Duration
	body     []byte
	// problem is nil for 200.
	problem *problem
	// undelivered is why the answer could not be written.
	undelivered error
}

func (o *outcome) level() slog.Level {
	switch {
	case o.code >= http.StatusInternalServerError:
		return slog.LevelError
	case o.code >= http.StatusBadRequest, o.undelivered != nil:
		return slog.LevelWarn
	default:
		return slog.LevelDebug
	}
}

// log writes the line of a call.
func (s *Server) log(ctx context.Context, to *call, o *outcome) {
	level := o.level()
	if !s.options.Logger.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("hook", o.path),
		slog.Int("code", o.code),
		slog.String("duration", o.duration.Round(time.Microsecond).String()),
		slog.Int("bytes", len(o.body)),
	}
	if subject := to.subject(o.body); subject != "" {
		attrs = append(attrs, slog.String("parent", subject))
	}
	if p := o.problem; p != nil {
		attrs = append(attrs, slog.String("error", p.Error()))
		if p.stack != "" {
			attrs = append(attrs, slog.String("stack", p.stack))
		}
	}
	if o.undelivered != nil {
		attrs = append(attrs, slog.String("undelivered", o.undelivered.Error()))
	}
	s.options.Logger.LogAttrs(ctx, level, "hook call", attrs...)
}
