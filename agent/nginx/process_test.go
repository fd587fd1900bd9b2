package nginx

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// standIn writes a /proc in which nobody can be signalled.
func standIn(t *testing.T, pidFile string, titles map[int]string) Processes {
	t.Helper()
	dir := t.TempDir()
	p := Processes{PIDFile: filepath.Join(dir, "nginx.pid"), Proc: filepath.Join(dir, "proc")}
	require.NoError(t, os.WriteFile(p.PIDFile, []byte(pidFile), 0o600))
	for pid, title := range titles {
		path := filepath.Join(p.Proc, fmt.Sprint(pid))
		require.NoError(t, os.MkdirAll(path, 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(path, "cmdline"), []byte(title+"\x00\x00"), 0o600))
		parent := 7
		if pid > 1000 {
			parent = 8
		}
		stat := fmt.Sprintf("%d (nginx) x) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %d 0 0", pid, parent, 5000-pid)
		require.NoError(t, os.WriteFile(filepath.Join(path, "stat"), []byte(stat), 0o600))
	}
	return p
}

func TestMaster(t *testing.T) {
	tests := map[string]struct {
		pidFile string
		titles  map[int]string
		want    int
	}{
		"it runs":                         {pidFile: "7\n", titles: map[int]string{7: "nginx: master process nginx -g daemon off;"}, want: 7},
		"an empty file of nginx -t":       {pidFile: "", titles: map[int]string{7: "nginx: master process nginx"}},
		"nobody has that pid":             {pidFile: "7\n"},
		"somebody else has that pid":      {pidFile: "7\n", titles: map[int]string{7: "tcpingress agent"}},
		"a zombie is not running":         {pidFile: "7\n", titles: map[int]string{7: ""}},
		"a negative pid would be a group": {pidFile: "-7\n", titles: map[int]string{7: "nginx: master process nginx"}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := standIn(t, tc.pidFile, tc.titles)
			assert.Equal(t, tc.want, p.Master())
			if tc.want == 0 {
				assert.EqualError(t, p.Reload(), "nginx is not running")
				workers, err := p.Workers()
				require.NoError(t, err)
				assert.Empty(t, workers)
			}
		})
	}
}

func TestWorkers(t *testing.T) {
	p := standIn(t, "7\n", map[int]string{
		7:    "nginx: master process nginx",
		20:   "nginx: worker process",
		21:   "nginx: worker process is shutting down",
		22:   "nginx: worker process is shutting down",
		23:   "nginx: cache manager process",
		1001: "nginx: worker process",
	})
	got, err := p.Workers()
	require.NoError(t, err)
	assert.Equal(t, []Worker{{PID: 22, Old: true, master: 7, ending: true}, {PID: 21, Old: true, master: 7, ending: true}, {PID: 20, master: 7}}, got)
	left, ended, err := p.EndOldest(2)
	require.NoError(t, err)
	assert.Equal(t, []int{2, 0}, []int{left, ended})
}

// A supervisor is told by its lock, since it may have any title, and its workers by
// their masters.
func TestSupervised(t *testing.T) {
	p := standIn(t, "7\n", map[int]string{
		7:    "tcpingress nginx-udp",
		8:    "nginx: master process nginx",
		30:   "nginx: master process nginx",
		1001: "nginx: worker process",
		1002: "nginx: worker process is shutting down",
	})
	p.Supervised = true
	assert.Zero(t, p.Master(), "nobody holds the lock")
	lock, err := os.Open(p.PIDFile)
	require.NoError(t, err)
	defer func() { _ = lock.Close() }()
	require.NoError(t, unix.Flock(int(lock.Fd()), unix.LOCK_EX))
	assert.Equal(t, 7, p.Master())
	got, err := p.Workers()
	require.NoError(t, err)
	assert.Equal(t, []Worker{{PID: 1002, Old: true, master: 8, ending: true}, {PID: 1001, master: 8}}, got)

	// A younger master follows.
	require.NoError(t, os.WriteFile(filepath.Join(p.Proc, "8", "stat"), []byte("8 (nginx) S 7 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1 0 0"), 0o600))
	got, err = p.Workers()
	require.NoError(t, err)
	assert.Equal(t, []Worker{{PID: 1002, Old: true, master: 8, ending: true}, {PID: 1001, Old: true, master: 8}}, got)
	left, ended, err := p.EndOldest(1)
	require.NoError(t, err)
	assert.Equal(t, []int{1, 0}, []int{left, ended}, "one is old, and one ends already")
}

func TestQuitting(t *testing.T) {
	assert.False(t, Quitting(nil), "it starts")
	assert.False(t, Quitting([]Worker{{Old: true}, {}}))
	assert.True(t, Quitting([]Worker{{Old: true}, {Old: true}}))
}
