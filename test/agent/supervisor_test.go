package agent

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/agent/nginx"
	"github.com/nginx-stream/tcpingress/cli"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// TestMain lets the binary of the tests be the command that is the supervisor of nginx
// for UDP.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "nginx-udp" {
		os.Exit(cli.Run(context.Background(), os.Args, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	os.Exit(m.Run())
}

// supervisor is the command nginx-udp.
type supervisor struct {
	cmd    *exec.Cmd
	exited chan struct{}
}

func (r *rig) supervise() []string {
	return []string{os.Args[0], "nginx-udp", "--shared-dir", r.shared, "--nginx", r.options.Nginx}
}

// startUDP does what the container for UDP does.
func (r *rig) startUDP() { r.t.Helper(); r.superviseBy() }

// superviseBy does it by way of another command.
func (r *rig) superviseBy(command ...string) {
	r.t.Helper()
	args := append(command, r.supervise()...)
	cmd := exec.Command(args[0], args[1:]...)
	if testing.Verbose() {
		cmd.Stderr = os.Stderr
	}
	require.NoError(r.t, cmd.Start())
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	r.udp = &supervisor{cmd: cmd, exited: exited}
}

// endUDP ends the supervisor as the kubelet does.
func (r *rig) endUDP() {
	r.t.Helper()
	require.NoError(r.t, r.udp.cmd.Process.Signal(syscall.SIGQUIT))
	<-r.udp.exited
	r.udp = nil
}

// killUDP ends the supervisor at once. Its SIGINT leaves no nginx behind.
func (r *rig) killUDP() {
	if r.udp == nil {
		return
	}
	_ = r.udp.cmd.Process.Signal(syscall.SIGINT)
	<-r.udp.exited
	r.udp = nil
}

func (r *rig) udpProcesses() nginx.Processes {
	return nginx.Processes{PIDFile: filepath.Join(r.shared, bundle.UDPDir, bundle.PIDFile), Proc: "/proc", Supervised: true}
}
