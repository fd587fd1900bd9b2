package agent

import (
	"context"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/agent/generation"
	"github.com/nginx-stream/tcpingress/agent/nginx"
	"github.com/nginx-stream/tcpingress/cli"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// TestMain lets the binary of the tests be the command that is the supervisor of nginx
// for UDP, and those that take something of the kernel away.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "nginx-udp" {
		os.Exit(cli.Run(context.Background(), os.Args, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
	}
	if len(os.Args) > 2 {
		if lack, ok := lesserKernels(os.Args[1]); ok {
			panic(lack.run(os.Args[2:]))
		}
	}
	// Those that can run beside others wait most of the time.
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
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

// killLeftOver ends each nginx for UDP that a test left which killed its supervisor, and
// failed then.
func (r *rig) killLeftOver() {
	all, err := nginx.All("/proc")
	require.NoError(r.t, err)
	for _, x := range all {
		if x.PID == x.Group && strings.Contains(x.Title, filepath.Join(r.shared, bundle.UDPDir)) {
			_ = syscall.Kill(-x.Group, syscall.SIGKILL)
		}
	}
}

func (r *rig) udpProcesses() nginx.Processes {
	return nginx.Processes{PIDFile: filepath.Join(r.shared, bundle.UDPDir, bundle.PIDFile), Proc: "/proc", Supervised: true}
}

// The files of what ran are gone, since the agent had something else follow it.
func TestWhatIsLinkedTakesThePlaceOfWhatIsGone(t *testing.T) {
	r := newRig(t)
	table := l4.Table{rule(l4.UDP, freePort(t), echoUDP(t), "dns")}
	r.start(table)
	live := r.udpStatus().Live
	r.endAgent()
	table = append(table, rule(l4.UDP, freePort(t), echoUDP(t), "other"))
	_, files := generation.Split(r.files(table))
	store := generation.Store{Dir: filepath.Join(r.shared, bundle.UDPDir)}
	next, err := generation.New(&bundle.Index{}, files, &generation.Pod{SharedDir: store.Dir, LoadModules: r.options.LoadModules, ResolvConf: "nameserver 127.0.0.1"})
	require.NoError(t, err)
	require.NoError(t, store.Write(next))
	require.NoError(t, store.Link(next.Name))
	require.NoError(t, store.Clean(next.Name))
	require.Error(t, ask(dialUDP(t, int(table[1].Port)), "question", 100*time.Millisecond), "it was not asked to follow")
	require.NotEqual(t, live, next.Name)
	require.NoError(t, syscall.Kill(-r.udpMaster(), syscall.SIGKILL))
	r.eventually("it serves what is linked", func() bool {
		return ask(dialUDP(t, int(table[1].Port)), "question", 100*time.Millisecond) == nil
	})
	require.NoError(t, asked(t, int(table[0].Port), "question"))
}
