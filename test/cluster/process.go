package cluster

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"time"
)

// process is a program that we started, in a process group of its own.
type process struct {
	name string
	log  string
	pid  int
	done chan struct{} // closed when it has ended
	err  error         // how it ended; read after done
}

// startProcess starts a program whose output is appended to the file log.
func startProcess(name, path string, args []string, log string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening the log of %s: %w", name, err)
	}
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = processAttributes()
	p := &process{name: name, log: log, done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// Linux ends the program when the thread that started it ends, not the process. So this thread stays.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer func() { _ = out.Close() }()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err == nil {
			p.err = cmd.Wait()
			close(p.done)
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return p, nil
}

// running tells whether it has not ended yet.
func (p *process) running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// exited describes an end that was not asked for. It is a syscall.EADDRINUSE if the log says so.
func (p *process) exited() error {
	cause := p.err
	if cause == nil {
		cause = errors.New("exit status 0")
	}
	end := strings.Join(tail(p.log, 15), "\n")
	if strings.Contains(end, syscall.EADDRINUSE.Error()) {
		cause = fmt.Errorf("%w, %w", cause, syscall.EADDRINUSE)
	}
	return fmt.Errorf("%s has ended by itself: %w; the end of its log:\n%s", p.name, cause, end)
}

// stop asks the process to end and makes it, should it take longer than grace. It returns when the process is gone.
func (p *process) stop(grace time.Duration) error {
	if !p.running() {
		return nil
	}
	_ = syscall.Kill(-p.pid, syscall.SIGTERM)
	select {
	case <-p.done:
		return nil
	case <-time.After(grace):
	}
	_ = syscall.Kill(-p.pid, syscall.SIGKILL)
	select {
	case <-p.done:
		return nil
	case <-time.After(10 * time.Second):
		return fmt.Errorf("stopping %s: process %d is still there", p.name, p.pid)
	}
}
