package agent

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/nginx-stream/tcpingress/agent/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// servedByOne tells that nobody else has sockets on the port: packets of many clients all
// are answered, by way of the configuration that is live.
func (r *rig) servedByOne(port int, backend *hearing) {
	r.t.Helper()
	before := backend.clients()
	const clients = 10
	for i := range clients {
		require.NoError(r.t, asked(r.t, port, "question "+strconv.Itoa(i)))
	}
	assert.Equal(r.t, clients, backend.clients()-before)
}

// The supervisor is killed before its nginx has written down its pid.
func TestSupervisorThatIsKilledWhileItStartsNginx(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before, after := newHearing(t), newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), before.port, "dns")}
	r.show(r.files(table))
	r.startAgent()
	r.startNginx()
	pid := filepath.Join(t.TempDir(), "pid")
	stock := r.options.Nginx
	r.options.Nginx = filepath.Join(t.TempDir(), "slow-nginx")
	writeScript(t, r.options.Nginx, fmt.Sprintf("echo $$ >%s\nsleep 1\nexec %s \"$@\"\n", pid, stock))
	r.eventually("it is linked", func() bool {
		_, err := os.Stat(filepath.Join(r.shared, bundle.UDPDir, bundle.ConfLink))
		return err == nil
	})
	r.startUDP()
	orphan := 0
	r.eventually("it starts", func() bool {
		text, _ := os.ReadFile(pid)
		_, err := fmt.Sscan(string(text), &orphan)
		return err == nil
	})
	require.NoError(t, r.udp.cmd.Process.Kill())
	<-r.udp.exited
	t.Cleanup(func() { _ = syscall.Kill(-orphan, syscall.SIGKILL) })
	r.options.Nginx = stock
	r.startUDP()
	r.hasItsOwnNginx()
	r.eventually("it is live", func() bool { return r.udpStatus().Live != "" })
	left, err := nginx.InGroup("/proc", orphan)
	require.NoError(t, err)
	assert.False(t, left)
	time.Sleep(1200 * time.Millisecond) // by now it would have its sockets
	table[0].Backend.Port = int32(after.port)
	r.change(table)
	r.servedByOne(int(table[0].Port), after)
}

// Workers outlive a master that is killed, if nobody is there to end them.
func TestWorkersThatAreLeftOver(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	before, after := newHearing(t), newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), before.port, "dns")}
	r.start(table)
	master := r.udpMaster()
	t.Cleanup(func() { _ = syscall.Kill(-master, syscall.SIGKILL) })
	require.NoError(t, r.udp.cmd.Process.Kill())
	require.NoError(t, syscall.Kill(master, syscall.SIGKILL))
	<-r.udp.exited
	r.eventually("the agent notices", func() bool { return !r.udpStatus().Running })
	r.startUDP()
	r.hasItsOwnNginx()
	r.eventually("it is live", func() bool { return r.udpStatus().Live != "" })
	left, err := nginx.InGroup("/proc", master)
	require.NoError(t, err)
	assert.False(t, left)
	table[0].Backend.Port = int32(after.port)
	r.change(table)
	r.servedByOne(int(table[0].Port), after)
}

// After the machine was started anew, the pid of a file that is left may be that of the
// nginx for TCP.
func TestPIDThatIsSomebodyElses(t *testing.T) {
	r := newRig(t)
	table := l4.Table{rule(l4.UDP, freePort(t), newHearing(t).port, "dns"), rule(l4.TCP, freePort(t), echoTCP(t), "web")}
	r.show(r.files(table))
	r.startAgent()
	r.startNginx()
	r.eventually("TCP is live", func() bool { return r.status().Live != "" })
	udp := filepath.Join(r.shared, bundle.UDPDir)
	stale := []string{filepath.Join(udp, "nginx-3.pid"), filepath.Join(udp, "gen-0123456789abcdef.sock"), filepath.Join(udp, "gen-0123456789abcdef.sock.hidden")}
	for _, path := range stale {
		require.NoError(t, os.WriteFile(path, []byte(strconv.Itoa(r.nginx.Process.Pid)+"\n"), 0o600))
	}
	r.startUDP()
	r.eventually("UDP is live", func() bool { return r.udpStatus().Live != "" })
	require.NoError(t, says(int(table[1].Port), "hello"), "it is left alone")
	for _, path := range stale {
		assert.NoFileExists(t, path)
	}
}

// A port can be shared with somebody else. Its sockets would have numbers that are ours.
func TestPortOfUDPThatSomebodyShares(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	backend := newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), backend.port, "dns")}
	r.start(table)
	second := freePort(t)
	sharing := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		return c.Control(func(fd uintptr) { _ = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
	}}
	taken, err := sharing.ListenPacket(t.Context(), "udp4", "0.0.0.0:"+strconv.Itoa(second))
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	r.show(r.files(append(table, rule(l4.UDP, second, backend.port, "second"))))
	r.eventually("it is refused", func() bool { return r.udpStatus().Refused != nil })
	assert.Equal(t, "[emerg] bind() to 0.0.0.0:"+strconv.Itoa(second)+" failed (98: Address already in use)", r.udpStatus().Refused.Reason)
	require.NoError(t, asked(t, int(table[0].Port), "question"))
}

// One that begins while another ends has the pid file in its place.
func TestSupervisorBeginsWhileAnotherEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	table := l4.Table{rule(l4.UDP, freePort(t), newHearing(t).port, "dns")}
	table[0].IdleTimeout = time.Second
	r.start(table)
	live, before := r.udpStatus().Live, r.udp
	require.NoError(t, before.cmd.Process.Signal(syscall.SIGTERM))
	time.Sleep(200 * time.Millisecond)
	r.startUDP()
	<-before.exited
	r.eventually("the agent finds it", func() bool {
		return r.udpProcesses().Master() == r.udp.cmd.Process.Pid && r.udpStatus().Live == live
	})
	require.NoError(t, asked(t, int(table[0].Port), "question"))
}
