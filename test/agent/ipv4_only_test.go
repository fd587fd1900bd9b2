package agent

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"

	"github.com/nginx-stream/tcpingress/agent/kernel"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// withoutIPv6 is the command that runs another one as on a kernel that was started with
// ipv6.disable=1.
const withoutIPv6 = "without-ipv6"

// runWithoutIPv6 becomes the command, for which there are no sockets of IPv6.
func runWithoutIPv6(command []string) error {
	const number, firstArgument = 0, 16 // in struct seccomp_data
	firstWord := uint32(firstArgument)
	if isBigEndian() {
		firstWord += 4
	}
	raw, err := bpf.Assemble([]bpf.Instruction{
		bpf.LoadAbsolute{Off: number, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.SYS_SOCKET, SkipTrue: 3},
		bpf.LoadAbsolute{Off: firstWord, Size: 4},
		bpf.JumpIf{Cond: bpf.JumpNotEqual, Val: unix.AF_INET6, SkipTrue: 1},
		bpf.RetConstant{Val: unix.SECCOMP_RET_ERRNO | uint32(unix.EAFNOSUPPORT)},
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

func TestKernelWithoutIPv6(t *testing.T) {
	if kernel.HasIPv6() {
		self, err := os.Executable()
		require.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), self, withoutIPv6, self, "-test.short", "-test.v",
			"-test.run=^(TestKernelWithoutIPv6|TestChangeIsLive|TestSupervisorEnds|TestSessionOfUDPHasOneWorker)$")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		assert.Contains(t, string(out), "nginx listens on IPv4 only")
		return
	}
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
