package udp

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"syscall"
	"time"
)

// drain is what becomes of an nginx that gets no packets any more.
type drain struct {
	// settled is when each of its sessions has its socket, or has failed.
	settled time.Time
	// until is when it shall end, whatever sessions it has.
	until time.Time
	// silent is how often in a row no session was found.
	silent int
	// ending is when it was told to end, zero if it was not.
	ending time.Time
}

// surelySilent is how often no session must be found: while tables are read, one may
// come to stand where was read already.
const surelySilent = 2

// leave begins the drain. What waits in its queues is read at once, and may have to ask
// a DNS server first.
func (i *instance) leave(now time.Time, longest time.Duration) {
	if i.until.IsZero() {
		i.settled = now.Add(i.resolverTimeout + time.Second)
	}
	if until := now.Add(longest); i.until.IsZero() || until.Before(i.until) {
		i.until = until
	}
}

// drained tells whether it has nothing left to do, or no time for it.
func (i *instance) drained(now time.Time) bool {
	return len(i.ports) == 0 || i.silent >= surelySilent || !now.Before(i.until) || !i.ending.IsZero()
}

// retire lets an nginx that was followed stay until its sessions are over.
func (s *Supervisor) retire(ctx context.Context, i *instance) {
	if i.generation != s.current.generation {
		_ = os.Remove(s.store.Socket(i.generation)) // it does not answer for anything now
	}
	if i.gone() {
		s.bury(ctx, i)
		return
	}
	i.leave(time.Now(), s.LongestDrain)
	s.followed = append(s.followed, i)
}

// endDrained looks at all that were followed, and ends who has drained.
func (s *Supervisor) endDrained(ctx context.Context, now time.Time) {
	if err := s.census.take(s.Proc, s.followed, now); err != nil {
		s.Logger.ErrorContext(ctx, "sessions cannot be counted; each nginx that was followed stays as long as it may",
			slog.Duration("at most", s.LongestDrain), slog.Any("error", err))
	}
	staying := s.followed[:0]
	for _, i := range s.followed {
		if i.gone() {
			s.bury(ctx, i)
			continue
		}
		if i.drained(now) {
			i.end(now)
		}
		staying = append(staying, i)
	}
	s.followed = staying
}

// bury clears up after an instance that has ended, once.
func (s *Supervisor) bury(ctx context.Context, i *instance) {
	if i.buried {
		return
	}
	i.buried = true
	// Workers may outlive their master.
	if err := killGroup(s.Proc, i.cmd.Process.Pid); err != nil {
		s.Logger.ErrorContext(ctx, "ending workers of nginx", slog.Any("error", err))
	}
	if err := s.release(i); err != nil {
		s.Logger.ErrorContext(ctx, "closing sockets", slog.Any("error", err))
	}
}

// farewell takes no packets any more, and gives sessions some time.
func (s *Supervisor) farewell(ctx context.Context, signals Signals) error {
	var err error
	for _, g := range s.groups {
		if !s.alone {
			err = errors.Join(err, g.mute())
		}
	}
	began := time.Now()
	if s.current != nil {
		defer func(socket string) { _ = os.Remove(socket) }(s.store.Socket(s.current.generation))
	}
	s.followed, s.current = s.all(), nil
	for _, i := range s.followed {
		i.leave(began, s.Farewell)
	}
	s.Logger.InfoContext(ctx, "ending", slog.Duration("after at most", s.Farewell))
	ticker := time.NewTicker(s.Poll)
	defer ticker.Stop()
	for now := began; ; {
		s.endDrained(ctx, now)
		if len(s.followed) == 0 {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-signals.End:
			return err
		case sig := <-signals.Ask:
			if sig == syscall.SIGUSR1 {
				s.signal(syscall.SIGUSR1)
			}
		case now = <-ticker.C:
		}
	}
}

// endFollowed ends those that drain, so that their sockets can be used again.
func (s *Supervisor) endFollowed(ctx context.Context) {
	s.Logger.WarnContext(ctx, "too many open files; those that drain are ended", slog.Int("number", len(s.followed)))
	s.end(ctx, s.followed)
	s.followed = nil
}

// endAll ends every nginx.
func (s *Supervisor) endAll(ctx context.Context) {
	s.end(ctx, s.all())
	if s.current != nil {
		_ = os.Remove(s.store.Socket(s.current.generation))
	}
}

// end ends instances and waits for them.
func (s *Supervisor) end(ctx context.Context, instances []*instance) {
	for _, i := range instances {
		i.end(time.Now())
	}
	for _, i := range instances {
		select {
		case <-i.exited:
		case <-time.After(time.Until(i.ending.Add(endTimeout))):
			i.kill()
			<-i.exited
		}
		s.bury(ctx, i)
	}
}
