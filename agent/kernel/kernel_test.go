package kernel

import (
	"net"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestConnectionsOfATable(t *testing.T) {
	proc := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(proc, "net"), 0o755))
	got, err := Connections(proc)
	require.NoError(t, err, "a machine without tables")
	assert.Empty(t, got)

	head := "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n"
	require.NoError(t, os.WriteFile(filepath.Join(proc, "net", "tcp"), []byte(head+
		"   0: 00000000:18EB 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 1 1\n"+
		"   1: 0100007F:18EB 0100007F:D431 01 00000000:00000000 00:00000000 00000000 0 0 1 1\n"+
		"   2: 0100007F:18EB 0100007F:D432 06 00000000:00000000 00:00000000 00000000 0 0 0 1\n"+
		"   3: 0100007F:D431 0100007F:18EB 01 00000000:00000000 00:00000000 00000000 0 0 1 1\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(proc, "net", "tcp6"), []byte(head+
		"   0: 0000000000000000FFFF00000100007F:18EB 0000000000000000FFFF00000100007F:D433 01 00000000:00000000 00:00000000 00000000 0 0 1 1\n"), 0o600))
	got, err = Connections(proc)
	require.NoError(t, err)
	assert.Equal(t, map[uint16]int{6379: 2, 54321: 1}, got)
}

func TestConnectionsOfThisMachine(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	for range 3 {
		conn, err := net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
	}
	got, err := Connections("/proc")
	require.NoError(t, err)
	assert.Equal(t, 3, got[uint16(listener.Addr().(*net.TCPAddr).Port)])
}
