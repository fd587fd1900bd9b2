package nginx

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestComplaint(t *testing.T) {
	tests := map[string]struct{ log, want string }{
		"nothing":              {},
		"nothing grave":        {log: "2026/12/01 03:46:18 [warn] 2671#2671: deleting socket /x\n2026/12/01 03:46:18 [error] 1#1: *5 connect() failed\n"},
		"nginx -t":             {log: "nginx: [emerg] unknown directive \"x\" in /run/a:3\nnginx: configuration file /run/a test failed\n", want: `[emerg] unknown directive "x" in /run/a:3`},
		"the first is the one": {log: "2026/12/01 03:48:31 [emerg] 4236#4236: bind() to 0.0.0.0:80 failed (98: Address already in use)\n2026/12/01 03:48:31 [emerg] 4236#4236: still could not bind()\n", want: "[emerg] bind() to 0.0.0.0:80 failed (98: Address already in use)"},
		"a port that came free is not": {
			log:  "x [emerg] 1#1: bind() to 0.0.0.0:80 failed\nx [emerg] 1#1: bind() to 0.0.0.0:81 failed\nx [emerg] 1#1: bind() to [::]:81 failed\nx [emerg] 1#1: bind() to 0.0.0.0:81 failed\nx [emerg] 1#1: bind() to [::]:81 failed\nx [emerg] 1#1: still could not bind()\nx [emerg] 1#1: later\n",
			want: "[emerg] bind() to 0.0.0.0:81 failed",
		},
		"nothing but that": {log: "x [emerg] 1#1: still could not bind()\n", want: "[emerg] still could not bind()"},
		"an alert":         {log: "2026/12/01 03:48:31 [alert] 1#1: worker process 7 exited on signal 9", want: "[alert] worker process 7 exited on signal 9"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) { assert.Equal(t, tc.want, Complaint(tc.log)) })
	}
}

func TestErrorLog(t *testing.T) {
	l := ErrorLog{Path: filepath.Join(t.TempDir(), "error.log")}
	none := l.End()
	assert.Empty(t, l.Since(none))
	require.NoError(t, os.WriteFile(l.Path, []byte("x [emerg] 1#1: one\n"), 0o600))
	assert.Equal(t, "[emerg] one", l.Since(none))
	mark := l.End()
	assert.Empty(t, l.Since(mark))
	require.NoError(t, os.WriteFile(l.Path, []byte("x [emerg] 1#1: one\nx [emerg] 1#1: two\n"), 0o600))
	assert.Equal(t, "[emerg] two", l.Since(mark))
	require.NoError(t, os.Rename(l.Path, l.Path+".1"))
	require.NoError(t, os.WriteFile(l.Path, []byte("x [emerg] 1#1: three, in a new file that is longer\n"), 0o600))
	assert.Equal(t, "[emerg] three, in a new file that is longer", l.Since(mark), "the log was rotated")
}

func TestCheck(t *testing.T) {
	path, err := exec.LookPath("nginx")
	require.NoError(t, err, "this test needs nginx: apt-get install nginx libnginx-mod-stream")
	dir := t.TempDir()
	config := filepath.Join(dir, "nginx.conf")
	text := "pid " + dir + "/nginx.pid;\nerror_log " + dir + "/error.log;\nevents {}\n"
	b := Binary{Path: path, Timeout: 10 * time.Second}

	require.NoError(t, os.WriteFile(config, []byte(text), 0o600))
	require.NoError(t, b.Check(t.Context(), config))
	assert.Zero(t, Processes{PIDFile: filepath.Join(dir, "nginx.pid"), Proc: "/proc"}.Master(), "the pid file that nginx -t leaves is empty")

	require.NoError(t, os.WriteFile(config, []byte(text+"nonsense;\n"), 0o600))
	var refused *RefusedError
	require.ErrorAs(t, b.Check(t.Context(), config), &refused)
	assert.Equal(t, `[emerg] unknown directive "nonsense" in `+config+":4", refused.Line)

	b.Path = filepath.Join(dir, "no-nginx")
	err = b.Check(t.Context(), config)
	require.ErrorContains(t, err, "running nginx")
	assert.NotErrorAs(t, err, &refused, "that says nothing of the configuration")
}

func TestAsk(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "gen.sock")
	_, err := Ask(t.Context(), socket, time.Second)
	require.ErrorContains(t, err, "asking nginx")

	listener, err := net.Listen("unix", socket)
	require.NoError(t, err)
	defer func() { _ = listener.Close() }()
	go func() {
		for _, answer := range []string{"abc", ""} {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Write([]byte(answer))
			if answer != "" {
				_ = conn.Close()
			}
		}
	}()
	got, err := Ask(t.Context(), socket, time.Second)
	require.NoError(t, err)
	assert.Equal(t, "abc", got)
	_, err = Ask(t.Context(), socket, 50*time.Millisecond)
	require.ErrorIs(t, err, os.ErrDeadlineExceeded, "somebody who does not close")
}
