// Package nginx handles the nginx beside the agent: which processes it has, whether
// it accepts a configuration, which generation it really serves, and what it
// complains about. It knows nothing of where a configuration comes from.
package nginx

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
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
	// Supervised is whether the pid file is that of a supervisor, which keeps it locked
	// and whose children are masters: one that is followed stays beside the next.
	Supervised bool
}

// Worker is a process of nginx that serves connections.
type Worker struct {
	PID int
	// Old is whether it serves only what it had when a newer generation came.
	Old bool
	// master is the pid of its parent.
	master int
	// ending is whether it was told to end.
	ending bool
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
	switch {
	case err != nil, pid < 1:
		return 0
	case p.Supervised && !locked(p.PIDFile), !p.Supervised && !strings.HasPrefix(p.title(pid), masterTitle):
		return 0
	default:
		return pid
	}
}

// locked tells whether somebody keeps the file locked.
func locked(path string) bool {
	file, err := os.Open(path)
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }()
	return errors.Is(unix.Flock(int(file.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
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

// process is what /proc tells of one.
type process struct {
	pid, parent int
	started     uint64
	title       string
}

// masters are those that the pid file leads to, the oldest first, and all is every
// process of nginx that there is.
func (p Processes) masters() (masters, all []process, err error) {
	first := p.Master()
	if first == 0 {
		return nil, nil, nil
	}
	entries, err := os.ReadDir(p.Proc)
	if err != nil {
		return nil, nil, fmt.Errorf("reading processes: %w", err)
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		title := p.title(pid)
		parent, started, ok := p.stat(pid)
		if ok && strings.HasPrefix(title, "nginx: ") {
			all = append(all, process{pid: pid, parent: parent, started: started, title: title})
		}
	}
	slices.SortFunc(all, func(a, b process) int { return cmp.Or(cmp.Compare(a.started, b.started), a.pid-b.pid) })
	for _, x := range all {
		if x.pid == first || p.Supervised && x.parent == first && strings.HasPrefix(x.title, masterTitle) {
			masters = append(masters, x)
		}
	}
	return masters, all, nil
}

// Workers are those of the running nginx, the oldest first.
func (p Processes) Workers() ([]Worker, error) {
	masters, all, err := p.masters()
	if err != nil {
		return nil, err
	}
	var workers []Worker
	for i, master := range masters {
		followed := i < len(masters)-1
		for _, x := range all {
			if x.parent == master.pid && strings.HasPrefix(x.title, workerTitle) {
				ending := strings.HasPrefix(x.title, oldWorkerTitle)
				workers = append(workers, Worker{PID: x.pid, Old: followed || ending, master: master.pid, ending: ending})
			}
		}
	}
	return workers, nil
}

// Quitting tells whether nginx was asked to end and waits for its last connections.
// It must not be asked to reload then: it would start anew.
func Quitting(workers []Worker) bool {
	return len(workers) > 0 && !slices.ContainsFunc(workers, func(w Worker) bool { return !w.Old })
}

// EndOldest ends old workers, with the connections that they have, until at most that
// many are left. It gives the number of old workers left, and that of those it ended.
// One that is supervised goes with all workers of its master, and writes down first what
// its sessions have had: whoever was told that already is left in peace. The youngest of
// those stays, however many workers it has: answers to the last questions come from it,
// and while the next nginx starts it is the one that serves.
func (p Processes) EndOldest(keep int) (left, ended int, err error) {
	workers, err := p.Workers()
	if err != nil {
		return 0, 0, err
	}
	workers = slices.DeleteFunc(workers, func(w Worker) bool { return !w.Old })
	if p.Supervised {
		workers = slices.DeleteFunc(workers, func(w Worker) bool { return w.ending })
	}
	left = len(workers)
	told := map[int]bool{}
	for _, w := range workers {
		if left <= keep && !told[w.master] || p.Supervised && w.master == workers[len(workers)-1].master {
			break
		}
		pid, sig := w.PID, syscall.SIGTERM
		if p.Supervised {
			pid, sig = w.master, syscall.SIGQUIT
		}
		if !told[pid] {
			told[pid] = true
			if err := syscall.Kill(pid, sig); err != nil && !errors.Is(err, syscall.ESRCH) {
				return left, ended, fmt.Errorf("ending old worker: %w", err)
			}
		}
		left--
		ended++
	}
	return left, ended, nil
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
	masters, all, err := p.masters()
	if err != nil {
		return false, err
	}
	for _, x := range all {
		isMaster := func(m process) bool { return m.pid == x.pid || m.pid == x.parent }
		if !slices.ContainsFunc(masters, isMaster) {
			continue
		}
		paths, err := filepath.Glob(filepath.Join(p.Proc, strconv.Itoa(x.pid), "fd", "*"))
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
