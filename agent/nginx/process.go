// Package nginx handles the nginx beside the agent: which processes it has, whether
// it accepts a configuration, which generation it really serves, and what it
// complains about. It knows nothing of where a configuration comes from.
package nginx

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// Titles that nginx gives its processes.
const (
	masterTitle    = "nginx: master process"
	oldWorkerTitle = "nginx: worker process is shutting down"
	workerTitle    = "nginx: worker process"
)

// Processes finds nginx by its pid file and by /proc.
type Processes struct {
	// PIDFile is written by the master.
	PIDFile string
	// Proc is /proc.
	Proc string
}

// Worker is a process of nginx that serves connections.
type Worker struct {
	PID int
	// Started is in clock ticks since the machine did.
	Started uint64
	// Old is whether it serves only what it had when a newer generation came.
	Old bool
}

// Master is the pid of the running nginx, 0 for none. A pid file alone proves
// nothing: "nginx -t" leaves an empty one, and SIGKILL one that may by now name
// somebody else.
func (p Processes) Master() int {
	text, err := os.ReadFile(p.PIDFile)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 1 || !strings.HasPrefix(p.title(pid), masterTitle) {
		return 0
	}
	return pid
}

// Reload asks nginx to load its files.
func (p Processes) Reload() error { return p.signal(syscall.SIGHUP) }

// Reopen asks nginx to open its log files by their names again.
func (p Processes) Reopen() error { return p.signal(syscall.SIGUSR1) }

func (p Processes) signal(sig syscall.Signal) error {
	pid := p.Master()
	if pid == 0 {
		return errors.New("nginx is not running")
	}
	if err := syscall.Kill(pid, sig); err != nil {
		return fmt.Errorf("signalling nginx: %w", err)
	}
	return nil
}

// Workers are those of the running nginx, the oldest first.
func (p Processes) Workers() ([]Worker, error) {
	master := p.Master()
	if master == 0 {
		return nil, nil
	}
	entries, err := os.ReadDir(p.Proc)
	if err != nil {
		return nil, fmt.Errorf("reading processes: %w", err)
	}
	var workers []Worker
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		parent, started, ok := p.stat(pid)
		title := p.title(pid)
		if !ok || parent != master || !strings.HasPrefix(title, workerTitle) {
			continue
		}
		workers = append(workers, Worker{PID: pid, Started: started, Old: strings.HasPrefix(title, oldWorkerTitle)})
	}
	slices.SortFunc(workers, func(a, b Worker) int {
		if a.Started != b.Started {
			return int(int64(a.Started) - int64(b.Started))
		}
		return a.PID - b.PID
	})
	return workers, nil
}

// Quitting tells whether nginx was asked to end and waits for its last connections.
// It must not be asked to reload then: it would start anew.
func Quitting(workers []Worker) bool {
	return len(workers) > 0 && !slices.ContainsFunc(workers, func(w Worker) bool { return !w.Old })
}

// EndOldest ends old workers, with the connections that they have, until at most that
// many are left. It gives the number of old workers left, and that of those it ended.
//
// Those without TCP connections go first, then the oldest: a UDP session of an old
// worker is of no use, since nginx lets no answer through any more, and yet it keeps
// the worker until it is idle for too long.
func (p Processes) EndOldest(keep int) (left, ended int, err error) {
	workers, err := p.Workers()
	if err != nil {
		return 0, 0, err
	}
	workers = slices.DeleteFunc(workers, func(w Worker) bool { return !w.Old })
	left = len(workers)
	if left <= keep {
		return left, 0, nil
	}
	connections, err := p.tcpConnections()
	if err != nil {
		return left, 0, err
	}
	var idle, busy []Worker
	for _, w := range workers {
		if p.hasAny(w.PID, connections) {
			busy = append(busy, w)
		} else {
			idle = append(idle, w)
		}
	}
	workers = append(idle, busy...)
	for ; left > keep; left-- {
		w := workers[ended]
		if err := syscall.Kill(w.PID, syscall.SIGTERM); err != nil && !errors.Is(err, syscall.ESRCH) {
			return left, ended, fmt.Errorf("ending old worker: %w", err)
		}
		ended++
	}
	return left, ended, nil
}

// tcpConnections are the open ones, as links of descriptors name them.
func (p Processes) tcpConnections() (map[string]bool, error) {
	connections := map[string]bool{}
	for _, name := range []string{"tcp", "tcp6"} {
		text, err := os.ReadFile(filepath.Join(p.Proc, "net", name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading connections: %w", err)
		}
		for line := range strings.Lines(string(text)) {
			const state, inode, listens = 3, 9, "0A"
			if fields := strings.Fields(line); len(fields) > inode && fields[state] != listens {
				connections["socket:["+fields[inode]+"]"] = true
			}
		}
	}
	return connections, nil
}

func (p Processes) hasAny(pid int, sockets map[string]bool) bool {
	dir := filepath.Join(p.Proc, strconv.Itoa(pid), "fd")
	entries, err := os.ReadDir(dir)
	if err != nil {
		return !errors.Is(err, fs.ErrNotExist) // it may have some
	}
	return slices.ContainsFunc(entries, func(entry os.DirEntry) bool {
		target, err := os.Readlink(filepath.Join(dir, entry.Name()))
		return err == nil && sockets[target]
	})
}

// title is the command line. That of a zombie is empty.
func (p Processes) title(pid int) string {
	text, err := os.ReadFile(filepath.Join(p.Proc, strconv.Itoa(pid), "cmdline"))
	if err != nil {
		return ""
	}
	return strings.TrimRight(string(text), "\x00 ")
}

// stat reads parent and start time. The name, in parentheses, may hold anything.
func (p Processes) stat(pid int) (parent int, started uint64, ok bool) {
	text, err := os.ReadFile(filepath.Join(p.Proc, strconv.Itoa(pid), "stat"))
	if err != nil {
		return 0, 0, false
	}
	end := strings.LastIndexByte(string(text), ')')
	fields := strings.Fields(string(text[end+1:]))
	const parentField, startedField = 1, 19 // counted from the field after the name
	if end < 0 || len(fields) <= startedField {
		return 0, 0, false
	}
	parent, err = strconv.Atoi(fields[parentField])
	if err != nil {
		return 0, 0, false
	}
	started, err = strconv.ParseUint(fields[startedField], 10, 64)
	return parent, started, err == nil
}

// HaveOpen tells whether nginx has the file open. Descriptors that may not be looked
// at are passed over.
func (p Processes) HaveOpen(file os.FileInfo) (bool, error) {
	workers, err := p.Workers()
	if err != nil {
		return false, err
	}
	pids := []int{p.Master()}
	for _, w := range workers {
		pids = append(pids, w.PID)
	}
	for _, pid := range pids {
		paths, err := filepath.Glob(filepath.Join(p.Proc, strconv.Itoa(pid), "fd", "*"))
		if err != nil {
			return false, fmt.Errorf("looking at open files: %w", err)
		}
		for _, path := range paths {
			if info, err := os.Stat(path); err == nil && os.SameFile(info, file) {
				return true, nil
			}
		}
	}
	return false, nil
}
