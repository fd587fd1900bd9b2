package main

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// envPlay makes the test binary the demo itself.
const envPlay = "TCPINGRESS_DEMO_PLAY"

func TestMain(m *testing.M) {
	if os.Getenv(envPlay) != "" {
		main()
	}
	os.Exit(m.Run())
}

// demonstration is a demo that runs as a process, with a folder for temporary files
// of its own.
type demonstration struct {
	t      *testing.T
	cmd    *exec.Cmd
	folder string
	lines  *bufio.Scanner
	seen   strings.Builder // of standard output
	stderr bytes.Buffer
}

func begin(t *testing.T, env ...string) *demonstration {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	d := &demonstration{t: t, folder: t.TempDir()}
	d.cmd = exec.CommandContext(ctx, os.Args[0])
	d.cmd.Env = append(os.Environ(), append([]string{envPlay + "=1", "KEEP=", "TMPDIR=" + d.folder}, env...)...)
	d.cmd.Cancel = func() error { return d.cmd.Process.Signal(os.Interrupt) }
	d.cmd.WaitDelay = 30 * time.Second
	d.cmd.Stderr = &d.stderr
	out, err := d.cmd.StdoutPipe()
	require.NoError(t, err)
	d.lines = bufio.NewScanner(out)
	require.NoError(t, d.cmd.Start())
	return d
}

// until reads the story up to a line with this text.
func (d *demonstration) until(text string) string {
	d.t.Helper()
	for d.lines.Scan() {
		d.seen.WriteString(d.lines.Text() + "\n")
		if strings.Contains(d.lines.Text(), text) {
			return d.lines.Text()
		}
	}
	err := d.cmd.Wait()
	require.FailNow(d.t, "the story ended before "+text, "%v\n%s\n%s", err, d.seen.String(), d.stderr.String())
	return ""
}

func (d *demonstration) interrupt() {
	d.t.Helper()
	require.NoError(d.t, d.cmd.Process.Signal(syscall.SIGINT))
}

// ends waits for the end, and expects an exit code and nothing that is left.
func (d *demonstration) ends(code int) string {
	d.t.Helper()
	for d.lines.Scan() {
		d.seen.WriteString(d.lines.Text() + "\n")
	}
	_ = d.cmd.Wait()
	said := d.seen.String() + d.stderr.String()
	require.Equal(d.t, code, d.cmd.ProcessState.ExitCode(), said)
	left, err := os.ReadDir(d.folder)
	require.NoError(d.t, err)
	assert.Empty(d.t, left, "temporary files are left")
	assert.Empty(d.t, processes(d.t, d.folder), "processes are left")
	for _, m := range regexp.MustCompile(`//(127\.0\.0\.1:\d+)`).FindAllStringSubmatch(said, -1) {
		conn, err := net.DialTimeout("tcp", m[1], time.Second)
		if assert.ErrorIs(d.t, err, syscall.ECONNREFUSED, "somebody listens on %s", m[1]) {
			continue
		}
		_ = conn.Close()
	}
	return said
}

// processes gives those that know the folder, by their arguments or (on Linux) their
// environment, which all that the demo starts inherit.
func processes(t *testing.T, folder string) []string {
	t.Helper()
	var found []string
	if runtime.GOOS != "linux" {
		out, err := exec.CommandContext(t.Context(), "ps", "-axww", "-o", "command").Output()
		require.NoError(t, err)
		for line := range strings.Lines(string(out)) {
			if strings.Contains(line, folder) {
				found = append(found, line)
			}
		}
		return found
	}
	all, err := filepath.Glob("/proc/[0-9]*")
	require.NoError(t, err)
	for _, dir := range all {
		command, _ := os.ReadFile(dir + "/cmdline")
		environ, _ := os.ReadFile(dir + "/environ")
		if bytes.Contains(append(command, environ...), []byte(folder)) {
			found = append(found, dir+" "+string(command))
		}
	}
	return found
}

func TestDemoTellsItsStoryAndStays(t *testing.T) {
	d := begin(t, "KEEP=1")
	line := d.until("export KUBECONFIG=")
	require.NotEmpty(t, processes(t, d.folder), "the control plane runs, and must be seen to")

	shell := exec.CommandContext(t.Context(), "sh", "-c", line+"; kubectl get tcpingress -n games cache")
	out, err := shell.CombinedOutput()
	require.NoError(t, err, string(out))
	assert.Contains(t, string(out), "203.0.113.7")

	d.interrupt()
	said := d.ends(0)
	for _, text := range []string{
		"1. A control plane and the hooks\n",
		"decoratorcontroller.metacontroller.k8s.io/tcpingress-expose created\n",
		"$ kubectl apply -f manifests/examples\n",
		"AddressPending\n",
		"$ kubectl get tcpingress -A\n",
		"5432/TCP   demo/postgres/primary\n",
		"$ kubectl apply -f test/e2e/demo/second-claim.yaml\n",
		"Service mail does not exist",
		`"2525": demo/mail:smtp` + "\n",
		"9. The holder goes, the next in line takes over\n",
		"10. Bytes through nginx\n",
		"Everything is stopped and removed.",
	} {
		at := strings.Index(said, text)
		require.GreaterOrEqual(t, at, 0, "%q does not follow:\n%s", text, said)
		said = said[at+len(text):]
	}
	if _, err := findNginx(t.Context()); err == nil {
		assert.Contains(t, d.seen.String(), "games/cache:6379 heard: hello on 6379/TCP\n")
	} else {
		assert.Contains(t, d.seen.String(), "apt-get install nginx libnginx-mod-stream")
	}
}

func TestNothingIsLeftAfterAnInterrupt(t *testing.T) {
	for name, when := range map[string]string{
		"while the control plane starts":  "1. A control plane",
		"while the manifests are applied": "$ kubectl apply -k",
		"while TCPIngresses are judged":   "tcpingress.nginx-stream.dev/redis created",
	} {
		t.Run(name, func(t *testing.T) {
			d := begin(t)
			d.until(when)
			d.interrupt()
			assert.Contains(t, d.ends(interrupted), "demo: interrupted; everything is stopped and removed\n")
		})
	}
}

func TestNothingIsLeftAfterAFailure(t *testing.T) {
	ends, err := exec.LookPath("false")
	require.NoError(t, err)
	kinds, err := filepath.Abs("metacontroller-kinds.yaml")
	require.NoError(t, err)
	d := begin(t, "METACONTROLLER_BIN="+ends, "METACONTROLLER_CRDS="+kinds)
	said := d.ends(1)
	assert.Contains(t, said, "has ended")
	assert.NotContains(t, said, "Everything is stopped and removed.")
}

func TestAReaderWhoLeavesIsAFailure(t *testing.T) {
	t.Parallel()
	read, write := io.Pipe()
	require.NoError(t, read.Close())
	s := &story{to: write}
	s.title("Nobody listens")
	require.ErrorIs(t, s.err, io.ErrClosedPipe)
}
