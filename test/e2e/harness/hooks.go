package harness

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// Hooks are the replicas of the hook server, real processes of the real binary.
type Hooks struct {
	bin       string
	logs      string
	locks     *locks
	mu        sync.Mutex
	addresses []string
	replicas  []*process // nil where one is down
}

// buildHooks compiles the project's binary into dir.
func buildHooks(ctx context.Context, repository, dir string) (string, error) {
	bin := filepath.Join(dir, "tcpingress")
	build := exec.CommandContext(ctx, "go", "build", "-o", bin, ".")
	build.Dir = repository
	// Interrupted, it removes its temporary files.
	build.Cancel = func() error { return build.Process.Signal(os.Interrupt) }
	build.WaitDelay = grace
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the hooks: %w: %s", err, out)
	}
	return bin, nil
}

// newHooks starts n replicas and waits until they are ready.
func newHooks(ctx context.Context, bin, logs string, n int, l *locks) (*Hooks, error) {
	addresses, err := freePorts(n)
	if err != nil {
		return nil, err
	}
	h := &Hooks{bin: bin, logs: logs, locks: l, addresses: addresses, replicas: make([]*process, n)}
	for i := range n {
		if err := h.Start(ctx, i); err != nil {
			return nil, errors.Join(err, h.stop())
		}
	}
	return h, nil
}

// Start starts a replica that is down, on the address that it had, and waits until
// it is ready.
func (h *Hooks) Start(ctx context.Context, replica int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	log := filepath.Join(h.logs, fmt.Sprintf("hooks-%d.log", replica))
	args := append([]string{"serve", "--listen=" + h.addresses[replica], "--shutdown-delay=0s", "--max-concurrent=64"}, h.locks.flags()...)
	p, err := startProcess(log, h.bin, args...)
	if err != nil {
		return err
	}
	h.replicas[replica] = p
	return awaitFrom(ctx, h.locks.client(), p, h.locks.scheme()+"://"+h.addresses[replica]+"/readyz")
}

// Stop ends a replica as a rollout would: calls in flight are answered.
func (h *Hooks) Stop(replica int) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := h.replicas[replica]
	h.replicas[replica] = nil
	if p == nil {
		return nil
	}
	return p.stop()
}

// Crash ends a replica with its calls in flight.
func (h *Hooks) Crash(replica int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if p := h.replicas[replica]; p != nil {
		p.kill()
		h.replicas[replica] = nil
	}
}

// Program is the binary that runs.
func (h *Hooks) Program() string { return h.bin }

// Addresses are where the replicas listen.
func (h *Hooks) Addresses() []string { return h.addresses }

// PIDs are the process ids of the replicas that run.
func (h *Hooks) PIDs() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	var pids []int
	for _, p := range h.replicas {
		if p != nil {
			pids = append(pids, p.cmd.Process.Pid)
		}
	}
	return pids
}

// up gives the addresses of the replicas that run, as endpoints of a Service would.
func (h *Hooks) up() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var addresses []string
	for i, p := range h.replicas {
		if p != nil {
			addresses = append(addresses, h.addresses[i])
		}
	}
	return addresses
}

func (h *Hooks) stop() error {
	var errs []error
	for i := range h.replicas {
		errs = append(errs, h.Stop(i))
	}
	return errors.Join(errs...)
}

// await returns when url answers 200, or the process that should answer has ended.
func await(ctx context.Context, p *process, url string) error {
	return awaitFrom(ctx, http.DefaultClient, p, url)
}

func awaitFrom(ctx context.Context, client *http.Client, p *process, url string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	for {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
		if err != nil {
			return fmt.Errorf("asking %s: %w", url, err)
		}
		response, err := client.Do(request)
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", url, ctx.Err())
		case <-p.done:
			return fmt.Errorf("waiting for %s: %s has ended", url, p.cmd.Path)
		case <-time.After(20 * time.Millisecond):
		}
	}
}
