package nginx

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestRemoveStaleSockets(t *testing.T) {
	dir := t.TempDir()
	listen := func(name string) *net.UnixListener {
		l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, name), Net: "unix"})
		require.NoError(t, err)
		l.SetUnlinkOnClose(false)
		return l
	}
	alive := listen("gen-a.sock")
	defer func() { _ = alive.Close() }()
	require.NoError(t, listen("gen-b.sock").Close())
	removed, err := RemoveStaleSockets("/proc", dir)
	require.NoError(t, err)
	assert.Equal(t, 1, removed)
	assert.FileExists(t, filepath.Join(dir, "gen-a.sock"))
	assert.NoFileExists(t, filepath.Join(dir, "gen-b.sock"))
}
