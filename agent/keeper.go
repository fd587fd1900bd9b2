package agent

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/nginx-stream/tcpingress/agent/bundledir"
	"github.com/nginx-stream/tcpingress/agent/generation"
	"github.com/nginx-stream/tcpingress/agent/kernel"
	"github.com/nginx-stream/tcpingress/agent/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

const (
	defaultReloadInterval = 2 * time.Second
	defaultMaxOldWorkers  = 16
	// askTimeout is for one question to one socket.
	askTimeout = time.Second
	// askPause is between two questions while a generation is waited for.
	askPause = 3 * time.Millisecond
)

// keeper makes one nginx serve what is mounted for it. All its methods run in one
// goroutine.
type keeper struct {
	Options
	protocol l4.Protocol
	// dir is the directory that this nginx has generations and sockets in.
	dir       string
	store     generation.Store
	processes nginx.Processes
	binary    nginx.Binary
	errorLog  nginx.ErrorLog
	status    *statusBox
	onLive    func(*servers)

	// index is the mounted one that was dealt with last.
	index []byte
	// wanted is what was made of it, nil once nothing is left to do.
	wanted         *generation.Generation
	reloadInterval time.Duration
	maxOldWorkers  int
	// good answered, and is what a refused generation is replaced with.
	good string
	// master is the pid that was met last, 0 for none.
	master     int
	lastReload time.Time
	// silentSince is when a running nginx was first found not to answer, zero if it does.
	silentSince time.Time
	retryAt     time.Time
	// linked is where the error log stood when the link was set last, linkedAt when.
	linked   nginx.Mark
	linkedAt time.Time
	// ran is where the error log stood when nginx was last seen running.
	ran nginx.Mark
	// ipv4Only is whether the kernel has no IPv6.
	ipv4Only bool
	// mounted is the name of what is mounted, "" as long as it cannot be used.
	mounted string
}

func newKeeper(o Options, protocol l4.Protocol, status *statusBox, onLive func(*servers)) *keeper {
	k := &keeper{
		Options:        o,
		protocol:       protocol,
		dir:            o.SharedDir,
		binary:         nginx.Binary{Path: o.Nginx, Timeout: o.CheckTimeout},
		errorLog:       nginx.ErrorLog{Path: filepath.Join(o.SharedDir, bundle.ErrorLog)},
		status:         status,
		onLive:         onLive,
		reloadInterval: defaultReloadInterval,
		maxOldWorkers:  defaultMaxOldWorkers,
		ipv4Only:       !kernel.HasIPv6(),
	}
	if protocol == l4.UDP {
		k.dir = filepath.Join(o.SharedDir, bundle.UDPDir)
		k.errorLog.Path = filepath.Join(o.SharedDir, bundle.UDPErrorLog)
		// The supervisor says where each nginx has its pid.
		k.binary.Directives = "pid " + filepath.Join(k.dir, "check.pid") + ";"
	}
	k.Logger = o.Logger.With(slog.String("protocol", string(protocol)))
	k.store = generation.Store{Dir: k.dir}
	k.processes = nginx.Processes{PIDFile: filepath.Join(k.dir, bundle.PIDFile), Proc: o.Proc, Supervised: protocol == l4.UDP}
	return k
}

// takeUp finds out what nginx serves already, without disturbing it.
func (k *keeper) takeUp(ctx context.Context) error {
	if err := k.store.Prepare(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(k.errorLog.Path), 0o755); err != nil {
		return fmt.Errorf("making directory of logs: %w", err)
	}
	if k.ipv4Only {
		k.Logger.WarnContext(ctx, "the kernel has no IPv6; nginx listens on IPv4 only")
	}
	k.ran = k.errorLog.End()
	if k.master = k.processes.Master(); k.master == 0 {
		return nil
	}
	names, err := k.store.Names()
	if err != nil {
		return err
	}
	for _, name := range names {
		if !k.answers(ctx, name) {
			continue
		}
		// An earlier agent may have ended between the link and the answer.
		if k.store.Linked() != name {
			if err := k.link(name); err != nil {
				return err
			}
		}
		k.Logger.InfoContext(ctx, "nginx is already serving", slog.String("generation", name))
		if err := k.live(name); err != nil {
			return err
		}
		if written := k.store.Written(name); !written.IsZero() {
			k.status.change(func(s *Status) { s.LiveSince = written })
		}
		return nil
	}
	return nil
}

// step looks at everything once, and does what is to be done.
func (k *keeper) step(ctx context.Context) error {
	defer k.noteWhetherPending()
	if err := k.observe(ctx); err != nil {
		return err
	}
	if err := k.readMounted(ctx); err != nil {
		return err
	}
	if k.wanted != nil && !k.status.get().Quitting && !time.Now().Before(k.lastReload.Add(k.reloadInterval)) {
		name := k.wanted.Name
		if err := k.apply(ctx, k.wanted); ctx.Err() != nil {
			return err
		} else if err != nil {
			k.refuse(ctx, name, err.Error()) // such as that the disk is full
		}
	}
	if err := k.boundOldWorkers(ctx); err != nil {
		return err
	}
	return k.boundErrorLog()
}

// readMounted makes a generation of what is mounted, if that is new or was refused a
// while ago.
func (k *keeper) readMounted(ctx context.Context) error {
	raw, err := bundledir.ReadIndex(k.ConfigDir)
	again := k.status.get().Refused != nil && time.Now().After(k.retryAt)
	if err == nil && bytes.Equal(raw, k.index) && !again {
		return nil
	}
	g, set, err := k.readSet()
	if err != nil {
		k.mounted = ""
		text := sentence(err)
		if k.status.get().Waiting != text {
			k.Logger.WarnContext(ctx, "what is mounted cannot be used", slog.String("reason", text))
		}
		k.status.change(func(s *Status) { s.Waiting = text })
		return nil
	}
	k.status.change(func(s *Status) { s.Waiting = "" })
	k.index, k.wanted, k.mounted = raw, g, g.Name
	k.reloadInterval, k.maxOldWorkers = defaultReloadInterval, defaultMaxOldWorkers
	if d, err := time.ParseDuration(set.ReloadInterval); err == nil && d > 0 {
		k.reloadInterval = d
	}
	if set.MaxOldWorkers > 0 {
		k.maxOldWorkers = set.MaxOldWorkers
	}
	return nil
}

func (k *keeper) readSet() (*generation.Generation, *bundledir.Set, error) {
	set, err := bundledir.Read(k.ConfigDir)
	if err != nil {
		return nil, nil, err
	}
	resolvConf, err := os.ReadFile(k.ResolvConf)
	if err != nil && len(set.Resolvers) == 0 {
		return nil, nil, fmt.Errorf("reading resolv.conf: %w", err)
	}
	pod := generation.Pod{SharedDir: k.dir, LoadModules: k.LoadModules, ResolvConf: string(resolvConf), IPv4Only: k.ipv4Only}
	mine, udp := generation.Split(set.Contents)
	if k.protocol == l4.UDP {
		mine = udp
	}
	if _, ok := mine[bundle.MainFile]; !ok {
		return nil, nil, fmt.Errorf("%s does not name the main file for %s", bundle.IndexFile, k.protocol)
	}
	g, err := generation.New(&set.Index, mine, &pod)
	return g, set, err
}

// sentence makes one of an error that is none yet.
func sentence(err error) string {
	if incomplete, ok := errors.AsType[*bundledir.IncompleteError](err); ok {
		return incomplete.Error()
	}
	return "What is mounted cannot be used: " + strings.TrimSuffix(err.Error(), ".") + "."
}

// apply hands a generation to nginx.
func (k *keeper) apply(ctx context.Context, g *generation.Generation) error {
	k.wanted = nil
	if g.Name == k.store.Linked() && (k.master == 0 || k.status.get().Live == g.Name) {
		k.status.change(func(s *Status) { s.Refused = nil })
		return nil
	}
	if err := k.store.Write(g); err != nil {
		return err
	}
	if err := k.binary.Check(ctx, k.store.Main(g.Name)); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		k.refuse(ctx, g.Name, err.Error())
		return k.store.Clean(k.good, k.store.Linked())
	}
	if err := k.link(g.Name); err != nil {
		return err
	}
	// It may have started while the generation was checked.
	if k.processes.Master() == 0 {
		k.Logger.InfoContext(ctx, "generation is written for nginx to start with", slog.String("generation", g.Name))
		return k.store.Clean(k.good, g.Name)
	}
	return k.reloadAndVerify(ctx, g.Name)
}

func (k *keeper) reloadAndVerify(ctx context.Context, name string) error {
	if err := k.reload(ctx); err != nil {
		return err
	}
	return k.verify(ctx, name)
}

// reload counts as one even if nginx is gone by now: it reads the link when it is back.
func (k *keeper) reload(ctx context.Context) error {
	if !k.processes.Supervised { // a supervisor sees to its sockets itself
		if _, err := nginx.RemoveStaleSockets(k.Proc, k.dir); err != nil {
			return err
		}
	}
	k.linked = k.errorLog.End()
	k.lastReload = time.Now()
	k.status.change(func(s *Status) { s.Reloads++ })
	if err := k.processes.Reload(); err != nil {
		k.Logger.WarnContext(ctx, "nginx could not be asked to reload", slog.Any("error", err))
	}
	return nil
}

// verify waits for the answer of a generation that is linked, and goes back to the
// last good one if there is none.
func (k *keeper) verify(ctx context.Context, name string) error {
	if k.waitFor(ctx, name) {
		return k.live(name)
	}
	return k.unanswered(ctx, name)
}

// unanswered goes back to the last good generation.
func (k *keeper) unanswered(ctx context.Context, name string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if k.processes.Master() == 0 {
		k.notLive()
		return nil // the next look at it decides
	}
	complaint := k.errorLog.Since(k.linked)
	reason := complaint
	if reason == "" {
		reason = fmt.Sprintf("nginx did not answer for it within %s, and says nothing about it.", k.AnswerTimeout)
	}
	k.refuse(ctx, name, reason)
	if k.good == "" || k.good == name {
		k.notLive()
		return nil
	}
	if err := k.link(k.good); err != nil {
		return err
	}
	if err := k.store.Clean(k.good); err != nil {
		return err
	}
	// After a complaint nginx has kept all that it had. Another reload would only make
	// old workers, which are bounded.
	if complaint != "" && k.answers(ctx, k.good) {
		return k.live(k.good)
	}
	if err := k.reload(ctx); err != nil {
		return err
	}
	if k.waitFor(ctx, k.good) {
		return k.live(k.good)
	}
	k.notLive()
	return nil
}

func (k *keeper) waitFor(ctx context.Context, name string) bool {
	deadline := time.Now().Add(k.AnswerTimeout)
	for ctx.Err() == nil {
		if k.answers(ctx, name) {
			return true
		}
		if time.Now().After(deadline) {
			return false
		}
		select {
		case <-ctx.Done():
		case <-time.After(askPause):
		}
	}
	return false
}

func (k *keeper) answers(ctx context.Context, name string) bool {
	answer, err := nginx.Ask(ctx, k.store.Socket(name), askTimeout)
	return err == nil && answer == name
}

func (k *keeper) link(name string) error {
	k.linked, k.linkedAt = k.errorLog.End(), time.Now()
	return k.store.Link(name)
}

// live notes that the generation answered.
func (k *keeper) live(name string) error {
	status := k.status.get()
	if status.Live == name && k.good == name {
		return nil
	}
	g, err := k.store.Load(name)
	if err != nil {
		return err
	}
	serves := readServers(g.Files)
	newer := name != k.good
	k.good = name
	k.onLive(serves)
	k.status.change(func(s *Status) {
		s.Running, s.Live, s.LiveSince, s.Listeners = true, name, time.Now(), serves.headers
		if newer {
			s.Refused = nil
		}
	})
	k.Logger.Info("generation is live", slog.String("generation", name), slog.Int("rules", len(serves.headers)))
	return k.store.Clean(name)
}
