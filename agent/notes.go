package agent

import (
	"context"
	"log/slog"
	"time"
)

// noteComplaint keeps what nginx has said since it last ran, as long as it does not.
func (k *keeper) noteComplaint() {
	if k.master != 0 {
		k.ran = k.errorLog.End()
		k.status.change(func(s *Status) { s.Complaint = "" })
		return
	}
	complaint := k.errorLog.Since(k.ran)
	k.status.change(func(s *Status) { s.Complaint = complaint })
}

// noteWhetherPending notes since when what is mounted is not what nginx serves.
func (k *keeper) noteWhetherPending() {
	k.status.change(func(s *Status) {
		switch {
		case k.mounted != "" && s.Live == k.mounted:
			s.PendingSince = time.Time{}
		case s.PendingSince.IsZero():
			s.PendingSince = time.Now()
		}
	})
}

func (k *keeper) notLive() {
	k.status.change(func(s *Status) { s.Live = "" })
}

func (k *keeper) refuse(ctx context.Context, name, reason string) {
	now := time.Now()
	k.retryAt = now.Add(k.Retry)
	k.Logger.ErrorContext(ctx, "generation was refused", slog.String("generation", name), slog.String("reason", reason))
	k.status.change(func(s *Status) {
		s.Refusals++
		s.Refused = &Refusal{Generation: name, Reason: reason, At: now}
	})
}
