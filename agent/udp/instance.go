package udp

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nginx-stream/tcpingress/agent/nginx"
)

const (
	// askTimeout is for one question to a socket, askPause between two.
	askTimeout = time.Second
	askPause   = 3 * time.Millisecond
	// endTimeout is how long an nginx may take to write its sessions into the log.
	endTimeout = 5 * time.Second
)

// instance is one nginx.
type instance struct {
	*plan
	cmd     *exec.Cmd
	pidFile string
	seats   map[*group]*seat
	drain
	// exited is closed when it has; buried tells that it was cleared up after it.
	exited chan struct{}
	buried bool
}

// inheritance is nginx's environment variable with the numbers of the sockets that it
// shall use instead of opening them (https://nginx.org/en/docs/control.html, upgrading
// the executable).
const inheritance = "NGINX"

// launch starts an nginx with the sockets.
func launch(o *Options, number int, p *plan, seats map[*group]*seat, stream *os.File) (*instance, error) {
	i := &instance{plan: p, seats: seats, pidFile: filepath.Join(o.Dir, pidPrefix+strconv.Itoa(number)+pidSuffix), exited: make(chan struct{})}
	i.cmd = exec.Command(o.Nginx, "-e", "stderr", "-c", p.config, "-g", directives(i.pidFile))
	if o.Stderr != nil {
		i.cmd.Stderr = &chatter{to: o.Stderr}
		i.cmd.WaitDelay = endTimeout // a worker may outlive its master
	}
	i.cmd.ExtraFiles = append(i.cmd.ExtraFiles, stream)
	for _, s := range seats {
		i.cmd.ExtraFiles = append(i.cmd.ExtraFiles, s.files...)
	}
	// In this order, none has to make way for another while they get their numbers.
	slices.SortFunc(i.cmd.ExtraFiles, func(a, b *os.File) int { return descriptor(a) - descriptor(b) })
	var numbers strings.Builder
	for n := range i.cmd.ExtraFiles {
		const first = 3 // after stdin, stdout and stderr
		numbers.WriteString(strconv.Itoa(first+n) + ";")
	}
	i.cmd.Env = append(os.Environ(), inheritance+"="+numbers.String())
	// Its workers are in its group, so that none outlives it.
	i.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := i.cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting nginx: %w", err)
	}
	go func() {
		_ = i.cmd.Wait() // how it ended, it has said itself
		close(i.exited)
	}()
	return i, nil
}

func (i *instance) gone() bool {
	select {
	case <-i.exited:
		return true
	default:
		return false
	}
}

// await waits until the generation's socket answers.
func (i *instance) await(ctx context.Context, socket string, timeout time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	for {
		if answers(ctx, socket, i.generation) {
			return nil
		}
		select {
		case <-i.exited:
			return errors.New("nginx has ended")
		case <-ctx.Done():
			return fmt.Errorf("nginx does not answer: %w", ctx.Err())
		case <-time.After(askPause):
		}
	}
}

func answers(ctx context.Context, socket, generation string) bool {
	answer, err := nginx.Ask(ctx, socket, askTimeout)
	return err == nil && answer == generation
}

// end tells it to end, or sees to it that it does.
func (i *instance) end(now time.Time) {
	switch {
	case i.ending.IsZero():
		i.ending = now
		i.signal(syscall.SIGQUIT)
	case now.Sub(i.ending) > endTimeout:
		i.kill()
	}
}

// signal tells the master.
func (i *instance) signal(sig syscall.Signal) {
	if !i.gone() {
		_ = i.cmd.Process.Signal(sig) // it may have ended just now
	}
}

// kill ends the master and its workers.
func (i *instance) kill() { _ = syscall.Kill(-i.cmd.Process.Pid, syscall.SIGKILL) }
