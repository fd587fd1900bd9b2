package agent

import (
	"context"
	"fmt"
	"log/slog"
	"os"
)

// boundOldWorkers ends workers that are too many.
func (k *keeper) boundOldWorkers(ctx context.Context) error {
	left, ended, err := k.processes.EndOldest(k.maxOldWorkers)
	if ended > 0 {
		k.Logger.WarnContext(ctx, "old workers were ended, with their sessions", slog.Int("ended", ended), slog.Int("left", left))
	}
	k.status.change(func(s *Status) {
		s.OldWorkers = left
		s.EndedWorkers += ended
	})
	return err
}

// boundErrorLog begins a new error log when it is large, and keeps the one before.
func (k *keeper) boundErrorLog() error {
	info, err := os.Stat(k.errorLog.Path)
	if err != nil || info.Size() < k.LogSize || k.master == 0 {
		return nil //nolint:nilerr // there is none yet
	}
	if err := os.Rename(k.errorLog.Path, k.errorLog.Path+".1"); err != nil {
		return fmt.Errorf("rotating error log: %w", err)
	}
	return k.processes.Reopen()
}
