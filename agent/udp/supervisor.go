// Package udp runs the nginx that serves UDP. When nginx reloads, its old workers drop
// the answers that they wait for. So it is not reloaded here: at SIGHUP another nginx is
// started beside the one that runs, gets all packets from the moment when it answers,
// and the one before stays until its sessions are over.
//
// A generation in the shared directory and signals enter; processes of nginx, and a
// packet filter that says which of them gets the packets, leave. It does not know where
// a generation comes from, nor who looks at it.
package udp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/nginx-stream/tcpingress/agent/generation"
	"github.com/nginx-stream/tcpingress/agent/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Supervisor runs nginx. All its methods run in one goroutine.
type Supervisor struct {
	Options
	store  generation.Store
	groups map[address]*group
	// current gets the packets, nil for none.
	current *instance
	// followed are those before, the oldest first.
	followed []*instance
	census   census
	// alone is whether one nginx has to end before the next begins.
	alone  bool
	number int
	// tried is the generation that was taken up last, whether or not it is served.
	tried string
	// retryAt is when, while none serves, one is started again at the earliest.
	retryAt time.Time
	retries int
}

// New makes a Supervisor.
func New(o Options) *Supervisor {
	o = o.withDefaults()
	return &Supervisor{Options: o, store: generation.Store{Dir: o.Dir}, groups: map[address]*group{}}
}

// Run works until a signal ends it, or the context does, which is the same as SIGINT.
func (s *Supervisor) Run(ctx context.Context, signals Signals) (err error) {
	if err := os.MkdirAll(s.Dir, 0o755); err != nil {
		return fmt.Errorf("making directory: %w", err)
	}
	pid, err := lock(ctx, s.Dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock(pid)) }()
	if err := canSteer(); err != nil {
		s.alone = true
		s.Logger.WarnContext(ctx, "each change of UDP ends the nginx before, and the answers that it waits for are lost", slog.Any("error", err))
	}
	if err := killOrphans(ctx, &s.Options); err != nil {
		return err
	}
	defer s.endAll(ctx)
	s.reload(ctx)
	ticker := time.NewTicker(s.Poll)
	defer ticker.Stop()
	for {
		select { // whoever asks, however often, does not keep it from ending
		case sig := <-signals.End:
			return s.ended(ctx, sig, signals)
		default:
		}
		select {
		case <-ctx.Done():
			return nil
		case sig := <-signals.End:
			return s.ended(ctx, sig, signals)
		case sig := <-signals.Ask:
			if sig == syscall.SIGHUP {
				s.reload(ctx)
			} else {
				s.signal(syscall.SIGUSR1)
			}
		case <-ticker.C:
			s.look(ctx, time.Now())
		}
	}
}

// reload takes up the generation that is linked, if it is not the one that runs.
func (s *Supervisor) reload(ctx context.Context) {
	name := s.store.Linked()
	s.tried = name
	if name == "" || s.serves(ctx, name) {
		return
	}
	p, err := readPlan(s.store.Path(name), name)
	if err == nil {
		err = s.start(ctx, p)
		if errors.Is(err, unix.EMFILE) && len(s.followed) > 0 {
			s.endFollowed(ctx)
			err = s.start(ctx, p)
		}
	}
	if err != nil {
		s.complain(ctx, name, err)
		s.backOff(time.Now())
	} else {
		s.retries = 0
	}
}

func (s *Supervisor) backOff(now time.Time) {
	s.retries++
	s.retryAt = now.Add(min(time.Second<<min(s.retries, 5), 30*time.Second))
}

func (s *Supervisor) serves(ctx context.Context, name string) bool {
	return s.current != nil && s.current.generation == name && !s.current.gone() && answers(ctx, s.store.Socket(name), name)
}

// start starts an nginx, lets it have all packets, and retires the one before.
func (s *Supervisor) start(ctx context.Context, p *plan) error {
	began, before := time.Now(), s.current
	if before != nil && s.died(before) {
		s.bury(ctx, before) // what waits for it goes to the next
	}
	if s.alone {
		if err := s.makeWay(ctx, p); err != nil {
			return err
		}
	}
	next, err := s.launch(p)
	if err != nil {
		return err
	}
	socket := s.store.Socket(p.generation)
	if err := next.await(ctx, hidden(socket), s.AnswerTimeout); err != nil {
		s.discard(ctx, next)
		return err
	}
	if before != nil && !before.buried && s.died(before) {
		// What came since waits in its sockets, and not in those of the next.
		s.discard(ctx, next)
		s.bury(ctx, before)
		return s.start(ctx, p)
	}
	s.current = next
	if err := errors.Join(s.steer(next), reveal(socket)); err != nil {
		s.Logger.ErrorContext(ctx, "packets cannot be led to the right nginx", slog.Any("error", err))
	}
	if before != nil {
		s.retire(ctx, before)
	}
	s.Logger.InfoContext(ctx, "nginx serves UDP", slog.String("generation", p.generation), slog.Int("ports", len(p.ports)),
		slog.Int("pid", next.cmd.Process.Pid), slog.Duration("after", time.Since(began)), slog.Int("draining", len(s.followed)))
	return nil
}

// died tells whether none of its processes is left, also if nobody has said so yet.
func (s *Supervisor) died(i *instance) bool {
	if i.gone() {
		return true
	}
	if left, err := nginx.InGroup(s.Proc, i.cmd.Process.Pid); err != nil || left {
		return false
	}
	<-i.exited
	return true
}

// discard ends an nginx that has not served.
func (s *Supervisor) discard(ctx context.Context, i *instance) {
	i.kill()
	<-i.exited
	_ = os.Remove(hidden(s.store.Socket(i.generation)))
	s.bury(ctx, i)
}

// launch starts an nginx with sockets that get nothing yet.
func (s *Supervisor) launch(p *plan) (*instance, error) {
	seats := make(map[*group]*seat, 2*len(p.ports))
	undo := func(err error) (*instance, error) {
		return nil, errors.Join(err, s.release(&instance{seats: seats}))
	}
	for _, port := range p.ports {
		for _, a := range p.addresses(port) {
			g := s.groups[a]
			if g == nil {
				g = &group{address: a}
				s.groups[a] = g
			}
			chair, err := g.take(p.workers)
			seats[g] = chair
			if err != nil {
				delete(seats, g)
				return undo(errors.Join(err, s.trim(g)))
			}
		}
	}
	stream, err := openStream(s.store.Socket(p.generation))
	if err != nil {
		return undo(err)
	}
	defer func() { _ = stream.Close() }() // nginx has it
	s.number++
	next, err := launch(&s.Options, s.number, p, seats, stream)
	if err != nil {
		_ = os.Remove(hidden(s.store.Socket(p.generation)))
		return undo(err)
	}
	return next, nil
}

// steer leads all packets to the instance, and those to ports that it does not serve
// nowhere.
func (s *Supervisor) steer(i *instance) error {
	var err error
	for _, g := range s.groups {
		if s.alone {
			g.chosen = i.seats[g]
		} else if chair := i.seats[g]; chair != nil {
			err = errors.Join(err, g.choose(chair))
		} else {
			err = errors.Join(err, g.mute())
		}
	}
	return err
}

// release gives back what an instance had that is gone.
func (s *Supervisor) release(i *instance) error {
	var err error
	for g, chair := range i.seats {
		chair.taken = false
		err = errors.Join(err, s.trim(g))
	}
	if i.pidFile != "" {
		_ = os.Remove(i.pidFile) // one that was killed left it
	}
	return err
}

// trim closes the sockets of an address that nobody needs.
func (s *Supervisor) trim(g *group) error {
	err := g.trim()
	if len(g.seats) == 0 {
		delete(s.groups, g.address)
	}
	return err
}

// look ends who has drained, and starts the current one again if it died.
func (s *Supervisor) look(ctx context.Context, now time.Time) {
	s.endDrained(ctx, now)
	// The first one may have been linked when there was nobody to tell, and what kept it
	// from being served may be over.
	if s.current == nil && (s.store.Linked() != s.tried || !now.Before(s.retryAt)) {
		s.reload(ctx)
	}
	if s.current == nil || !s.current.gone() || now.Before(s.retryAt) {
		return
	}
	s.revive(ctx, now)
}

// revive starts the current one again. Packets that came meanwhile wait for it.
func (s *Supervisor) revive(ctx context.Context, now time.Time) {
	dead := s.current
	s.Logger.ErrorContext(ctx, "nginx has ended, and is started again", slog.String("generation", dead.generation), slog.String("how", dead.cmd.ProcessState.String()))
	s.bury(ctx, dead)
	if _, err := os.Stat(dead.config); err != nil && s.store.Linked() != dead.generation {
		s.reload(ctx) // its files were removed, since another one was to follow
		if s.current != dead {
			return
		}
	}
	if err := s.start(ctx, dead.plan); err != nil {
		s.complain(ctx, dead.generation, err)
		s.backOff(now)
		return
	}
	s.retries = 0
}

// complain says in nginx's own log what keeps a generation from being served, where the
// agent looks for it.
func (s *Supervisor) complain(ctx context.Context, name string, reason error) {
	s.Logger.ErrorContext(ctx, "generation is not served", slog.String("generation", name), slog.Any("error", reason))
	file, err := os.OpenFile(filepath.Join(s.SharedDir, bundle.UDPErrorLog), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err == nil {
		_, err = fmt.Fprintf(file, "%s [emerg] %d#%d: %v\n", time.Now().Format("2006/01/02 15:04:05"), os.Getpid(), os.Getpid(), reason)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		s.Logger.ErrorContext(ctx, "writing error log", slog.Any("error", err))
	}
}

func (s *Supervisor) signal(sig syscall.Signal) {
	for _, i := range s.all() {
		i.signal(sig)
	}
}

func (s *Supervisor) all() []*instance {
	if s.current == nil {
		return s.followed
	}
	return append(slices.Clip(s.followed), s.current)
}

// ended does what is left to do after a signal to end.
func (s *Supervisor) ended(ctx context.Context, sig os.Signal, signals Signals) error {
	if sig == syscall.SIGINT {
		return nil
	}
	return s.farewell(ctx, signals)
}
