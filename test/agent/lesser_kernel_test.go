package agent

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/nginx-stream/tcpingress/agent/kernel"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// lack is something that a kernel may not have: system calls with this argument fail.
type lack struct {
	number, argument, value uint32
	errno                   syscall.Errno
}

// lesserKernels are commands that run another one as on such a kernel.
func lesserKernels(name string) (lack, bool) {
	switch name {
	case "without-ipv6": // started with ipv6.disable=1
		return lack{unix.SYS_SOCKET, 0, unix.AF_INET6, unix.EAFNOSUPPORT}, true
	case "without-steering": // some sandboxes
		return lack{unix.SYS_SETSOCKOPT, 2, unix.SO_ATTACH_REUSEPORT_CBPF, unix.ENOPROTOOPT}, true
	default:
		return lack{}, false
	}
}

// run becomes the command.
func (l lack) run(command []string) error {
	const number, arguments, size = 0, 16, 8 // in struct seccomp_data
	lowWord := arguments + size*l.argument
	if isBigEndian() {
		lowWord += 4
	}
	raw, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: number, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: l.number, SkipTrue: 3},
		bpf.LoadAbsolute{Off: lowWord, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: l.value, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(l.errno)},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ALLOW},
	})
	if err != nil {
		return err
	}
	filter := make([]unix.SockFilter, len(raw))
	for i, r := range raw {
		filter[i] = unix.SockFilter{Code: r.Op, Jt: r.Jt, Jf: r.Jf, K: r.K}
	}
	program := unix.SockFprog{Len: uint16(len(filter)), Filter: &filter[0]}
	runtime.LockOSThread() // it is of this thread, and goes along with exec
	if err := unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl: %w", err)
	}
	if err := unix.Prctl(unix.PR_SET_SECCOMP, unix.SECCOMP_MODE_FILTER, uintptr(unsafe.Pointer(&program)), 0, 0); err != nil {
		return fmt.Errorf("prctl: %w", err)
	}
	return syscall.Exec(command[0], command, os.Environ())
}

func isBigEndian() bool {
	one := uint16(1)
	return *(*byte)(unsafe.Pointer(&one)) == 0
}

// onLesserKernel runs tests of this package there, and gives what they print.
func onLesserKernel(t *testing.T, kernel string, tests ...string) string {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), self, kernel, self, "-test.short", "-test.v", "-test.run=^("+strings.Join(tests, "|")+")$")
	cmd.Env = append(os.Environ(), "LESSER_KERNEL="+kernel, otherPorts())
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return string(out)
}

func TestKernelWithoutIPv6(t *testing.T) {
	if os.Getenv("LESSER_KERNEL") == "" {
		t.Parallel()
		out := onLesserKernel(t, "without-ipv6", t.Name(), "TestChangeIsLive", "TestSupervisorEnds", "TestSessionOfUDPHasOneWorker")
		assert.Contains(t, out, "nginx listens on IPv4 only")
		return
	}
	require.False(t, kernel.HasIPv6())
	r := newRig(t)
	backend := newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), backend.port, "dns"), rule(l4.TCP, freePort(t), echoTCP(t), "web")}
	r.start(table)
	for range 2 {
		require.NoError(t, asked(t, int(table[0].Port), "question"))
		require.NoError(t, says(int(table[1].Port), "hello"))
		table = append(table, rule(l4.UDP, freePort(t), backend.port, "other"), rule(l4.TCP, freePort(t), echoTCP(t), "other"))
		r.change(table)
	}
}

// Where packets cannot be led, answers are lost at a change, as they are by nginx, but
// questions are not, and nothing else is worse.
func TestKernelWithoutSteering(t *testing.T) {
	if os.Getenv("LESSER_KERNEL") == "" {
		t.Parallel()
		out := onLesserKernel(t, "without-steering", t.Name(), "TestNginxForUDPThatIsKilled", "TestPortOfUDPThatIsTakenIsRefused", "TestSupervisorEnds")
		assert.Contains(t, out, "each change of UDP ends the nginx before")
		return
	}
	r := newRig(t)
	r.config.Workers = 2
	backend := newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), backend.port, "dns")}
	r.start(table)
	var c tally
	var clients sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		clients.Go(func() { c.asks(backend, quick, int(table[0].Port), stop) })
	}
	const questions = 60
	for i := 0; c.datagrams.Load() < questions; i++ {
		require.Less(t, i, 20)
		other := rule(l4.UDP, freePort(t), backend.port, "other")
		r.change(append(l4.Table{table[0]}, other))
		require.NoError(t, asked(t, int(other.Port), "question"))
		assert.Equal(t, 1, r.udpRunning())
		time.Sleep(50 * time.Millisecond)
	}
	close(stop)
	clients.Wait()
	r.change(l4.Table{rule(l4.UDP, freePort(t), backend.port, "another")})
	r.config.Workers = 1
	r.change(table)
	require.NoError(t, asked(t, int(table[0].Port), "question"), "its sockets were closed meanwhile")
	t.Logf("%d questions, %d answers lost", c.datagrams.Load(), len(c.failures))
	for _, failure := range c.failures {
		assert.Contains(t, failure, "answer to a question that the backend heard")
	}
}
