package kernel

import (
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

func TestPeersOfThisMachine(t *testing.T) {
	want := map[uint64]netip.AddrPort{}
	for _, host := range []string{"127.0.0.1", "::1"} {
		listener, err := net.ListenPacket("udp", net.JoinHostPort(host, "0"))
		require.NoError(t, err)
		defer func() { _ = listener.Close() }()
		conn, err := net.Dial("udp", listener.LocalAddr().String())
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		want[inodeOf(t, conn.(*net.UDPConn))] = netip.MustParseAddrPort(listener.LocalAddr().String())
		defer func(inode uint64) {
			got, err := Peers("/proc")
			require.NoError(t, err)
			assert.NotContains(t, got, inode, "one that listens has no peer")
		}(inodeOf(t, listener.(*net.UDPConn)))
	}
	got, err := Peers("/proc")
	require.NoError(t, err)
	for inode, peer := range want {
		assert.Equal(t, peer, got[inode])
	}
}

func inodeOf(t *testing.T, conn *net.UDPConn) uint64 {
	t.Helper()
	raw, err := conn.SyscallConn()
	require.NoError(t, err)
	var stat unix.Stat_t
	require.NoError(t, raw.Control(func(fd uintptr) { err = unix.Fstat(int(fd), &stat) }))
	require.NoError(t, err)
	return stat.Ino
}

func TestPeersThatCannotBeRead(t *testing.T) {
	got, err := Peers(t.TempDir())
	require.NoError(t, err, "a machine without tables")
	assert.Empty(t, got)
	for _, line := range []string{
		"1: 0100007F:18EB 0100007F 01 00000000:00000000 00:00000000 00000000 0 0 1",
		"1: 0100007F:18EB 0100007F:D431F 01 00000000:00000000 00:00000000 00000000 0 0 1",
		"1: 0100007F:18EB 01007F:D431 01 00000000:00000000 00:00000000 00000000 0 0 1",
		"1: 0100007F:18EB 0100007F0100007F:D431 01 00000000:00000000 00:00000000 00000000 0 0 1",
		"1: 0100007F:18EB 0100007F:D431 01 00000000:00000000 00:00000000 00000000 0 0 x",
	} {
		proc := t.TempDir()
		require.NoError(t, os.Mkdir(filepath.Join(proc, "net"), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(proc, "net", "udp"), []byte(line+"\n"), 0o600))
		_, err := Peers(proc)
		assert.ErrorContains(t, err, "reading table of connections", line)
	}
}
