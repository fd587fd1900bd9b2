package udp

import (
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/agent/kernel"
)

func TestDrained(t *testing.T) {
	now := time.Now()
	served := func() *instance { return &instance{plan: &plan{ports: []uint16{53}, resolverTimeout: 2 * time.Second}} }
	i := served()
	i.leave(now, time.Minute)
	assert.Equal(t, now.Add(3*time.Second), i.settled)
	assert.False(t, i.drained(now.Add(time.Minute-1)), "nobody has said that it is silent")
	assert.True(t, i.drained(now.Add(time.Minute)), "it has no more time")
	i.silent = 1
	assert.False(t, i.drained(now), "once may be a mistake")
	i.silent = 2
	assert.True(t, i.drained(now))
	i.silent, i.ending = 0, now
	assert.True(t, i.drained(now), "it was told to")
	assert.True(t, (&instance{plan: &plan{}}).drained(now), "without ports there is nothing to do")

	i = served()
	i.leave(now, time.Minute)
	i.leave(now.Add(50*time.Second), 20*time.Second)
	assert.Equal(t, now.Add(time.Minute), i.until, "a farewell is not to let it stay longer")
	i.leave(now.Add(50*time.Second), time.Second)
	assert.Equal(t, now.Add(51*time.Second), i.until)
	assert.Equal(t, now.Add(3*time.Second), i.settled, "its sessions have settled long ago")
}

// sleeper is an instance whose only process does nothing, without sockets.
func sleeper(t *testing.T) *instance {
	t.Helper()
	i := &instance{plan: &plan{ports: []uint16{53}}, cmd: exec.Command("sleep", "60"), exited: make(chan struct{})}
	require.NoError(t, i.cmd.Start())
	t.Cleanup(func() { _ = i.cmd.Process.Kill(); _ = i.cmd.Wait() })
	return i
}

func TestCensusIsTakenWhenItIsTime(t *testing.T) {
	now := time.Now()
	silent, unsettled, ended, portless := sleeper(t), sleeper(t), sleeper(t), sleeper(t)
	unsettled.settled = now.Add(time.Hour)
	ended.ending = now
	portless.ports = nil
	all := []*instance{silent, unsettled, ended, portless}
	var c census
	require.NoError(t, c.take("/proc", all, now))
	require.NoError(t, c.take("/proc", all, now), "it is not time again")
	assert.Equal(t, []int{1, 0, 0, 0}, []int{silent.silent, unsettled.silent, ended.silent, portless.silent})
	assert.True(t, c.next.After(now))
	require.NoError(t, c.take("/proc", all, c.next))
	assert.Equal(t, 2, silent.silent)

	proc := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(proc, "net", "udp"), 0o755))
	assert.ErrorContains(t, c.take(proc, all, c.next.Add(time.Hour)), "reading table of connections")
	assert.Equal(t, 2, silent.silent, "what cannot be read is no silence")
}

func TestSessionsOfAProcess(t *testing.T) {
	count := func(resolvers ...netip.AddrPort) int {
		t.Helper()
		peers, err := kernel.Peers("/proc")
		require.NoError(t, err)
		n, err := sessionsOf("/proc", os.Getpid(), peers, resolvers)
		require.NoError(t, err)
		return n
	}
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = server.Close() }()
	address := netip.MustParseAddrPort(server.LocalAddr().String())
	before := count()
	for range 3 {
		conn, err := net.Dial("udp", address.String())
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
	}
	assert.Equal(t, before+3, count())
	assert.Equal(t, before+3, count(netip.MustParseAddrPort("127.0.0.1:53")))
	assert.Equal(t, before+2, count(address), "one may be for questions to the DNS server")

	n, err := sessionsOf("/proc", 1<<30, nil, nil)
	require.NoError(t, err, "it has ended")
	assert.Zero(t, n)
	proc := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(proc, "7"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(proc, "7", "fd"), nil, 0o600))
	_, err = sessionsOf(proc, 7, nil, nil)
	assert.ErrorContains(t, err, "looking at the sockets of nginx")
	dir := filepath.Join(t.TempDir(), strconv.Itoa(7), "fd")
	require.NoError(t, os.MkdirAll(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "3"), nil, 0o600))
	_, err = sessionsOf(filepath.Dir(filepath.Dir(dir)), 7, nil, nil)
	assert.ErrorContains(t, err, "looking at the sockets of nginx", "what cannot be read is no silence")
}
