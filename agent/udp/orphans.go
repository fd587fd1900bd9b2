package udp

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nginx-stream/tcpingress/agent/nginx"
)

const (
	pidPrefix = "nginx-"
	pidSuffix = ".pid"
)

// directives are given to each nginx besides its file.
func directives(pidFile string) string { return "daemon off; pid " + pidFile + ";" }

// killGroup kills a master and its workers, and waits until none is left: as long as one
// is, the kernel has their sockets.
func killGroup(proc string, group int) error {
	for deadline := time.Now().Add(endTimeout); ; time.Sleep(askPause) {
		left, err := nginx.InGroup(proc, group)
		if err != nil || !left {
			return err
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("process group %d does not end", group)
		}
		if err := syscall.Kill(-group, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			return fmt.Errorf("killing process group %d: %w", group, err)
		}
	}
}

// killOrphans ends each nginx that an earlier supervisor left when it was killed: it has
// sockets in our groups, whose numbers nobody knows any more. What they left in the
// directory is removed.
func killOrphans(ctx context.Context, o *Options) error {
	groups, err := orphans(o)
	if err != nil {
		return fmt.Errorf("looking for an nginx that was left over: %w", err)
	}
	for _, group := range groups {
		o.Logger.WarnContext(ctx, "ending an nginx that was left over", slog.Int("pid", group))
		if err := killGroup(o.Proc, group); err != nil {
			return fmt.Errorf("ending an nginx that was left over: %w", err)
		}
	}
	for _, pattern := range []string{pidPrefix + "*" + pidSuffix, "gen-*.sock", hidden("gen-*.sock")} {
		files, err := filepath.Glob(filepath.Join(o.Dir, pattern))
		if err != nil {
			return fmt.Errorf("looking for what was left over: %w", err)
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("removing what was left over: %w", err)
			}
		}
	}
	return nil
}

// orphans gives the process groups of masters of ours. A master is known by the pid file
// that it was told to write, which may not be written yet. If it is dead and its workers
// are not, the pid file names their group. A pid file alone proves nothing: by now, the
// pid may be that of the nginx for TCP.
func orphans(o *Options) ([]int, error) {
	all, err := nginx.All(o.Proc)
	if err != nil {
		return nil, err
	}
	alive, withWorkers := map[int]bool{}, map[int]bool{}
	var groups []int
	mark := strings.TrimSuffix(directives(filepath.Join(o.Dir, pidPrefix)), ";")
	for _, x := range all {
		alive[x.PID] = true
		if nginx.IsWorker(x.Title) {
			withWorkers[x.Group] = true
		}
		if x.PID == x.Group && strings.Contains(x.Title, mark) {
			groups = append(groups, x.Group)
		}
	}
	files, err := filepath.Glob(filepath.Join(o.Dir, pidPrefix+"*"+pidSuffix))
	if err != nil {
		return nil, fmt.Errorf("looking for pid files: %w", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, fmt.Errorf("reading pid file: %w", err)
		}
		if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && !alive[pid] && withWorkers[pid] {
			groups = append(groups, pid)
		}
	}
	return groups, nil
}
