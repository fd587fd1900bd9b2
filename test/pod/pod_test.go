// Package pod runs the shell lines of the containers of provider Nginx with the real
// nginx: what the kubelet would do with them, but in a folder of the test.
package pod

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/workload"
	"github.com/nginx-stream/tcpingress/test/nginx/process"
)

const deadline = 20 * time.Second

// scripts gives the start of nginx and what is run before each of the containers ends,
// with a short sleep in place of a long one.
func scripts(t *testing.T, dir string) (start, stopNginx, stopAgent string) {
	t.Helper()
	pod := workload.Deployment(&workload.Settings{Namespace: "edge", Name: "c", Image: "nginx", AgentImage: "agent"}, nil).Spec.Template.Spec
	require.Len(t, pod.Containers, 3)
	here := func(command []string) string {
		require.Equal(t, []string{"/bin/sh", "-c"}, command[:2])
		return strings.ReplaceAll(strings.ReplaceAll(command[2], bundle.SharedDir, dir), "sleep 15", "sleep 1")
	}
	nginx, agent := pod.Containers[0], pod.Containers[2]
	return here(nginx.Command), here(nginx.Lifecycle.PreStop.Exec.Command), here(agent.Lifecycle.PreStop.Exec.Command)
}

// writeConf is what the agent would hand over, at its least.
func writeConf(t *testing.T, dir string, port int) {
	t.Helper()
	conf := filepath.Join(dir, bundle.ConfLink)
	require.NoError(t, os.Mkdir(conf, 0o755))
	module, err := process.StreamModule("nginx")
	require.NoError(t, err)
	if module != "" {
		module = "load_module " + module + ";\n"
	}
	text := fmt.Sprintf("%spid %s;\nerror_log %s;\nevents {}\nstream {\n  server { listen unix:%s/gen-x.sock; return x; }\n  server { listen 127.0.0.1:%d; proxy_pass 127.0.0.1:%d; }\n}\n",
		module, filepath.Join(dir, bundle.PIDFile), filepath.Join(dir, bundle.ErrorLog), dir, port, echo(t))
	// As the agent does it: the folder is there when all that is in it is.
	require.NoError(t, os.WriteFile(filepath.Join(conf, "new"), []byte(text), 0o600))
	require.NoError(t, os.Rename(filepath.Join(conf, "new"), filepath.Join(conf, bundle.MainFile)))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// echo sends back what it gets.
func echo(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close() //nolint:errcheck // it was the client who ended
				buf := make([]byte, 64)
				for {
					n, err := c.Read(buf)
					if err != nil {
						return
					}
					if _, err := c.Write(buf[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, l.Close())
	return l.Addr().(*net.TCPAddr).Port
}

func eventually(t *testing.T, what string, check func() bool) {
	t.Helper()
	require.Eventually(t, check, deadline, 20*time.Millisecond, what)
}

func says(t *testing.T, c net.Conn) {
	t.Helper()
	require.NoError(t, c.SetDeadline(time.Now().Add(deadline)))
	_, err := c.Write([]byte("hello"))
	require.NoError(t, err)
	buf := make([]byte, 5)
	_, err = c.Read(buf)
	require.NoError(t, err)
	assert.Equal(t, "hello", string(buf))
}

// TestPodStartsAndEnds: sockets that a killed nginx left are removed, nginx waits for
// its configuration, and at the end sessions may go on until their clients end them,
// but no new ones begin; the agent stays until then.
func TestPodStartsAndEnds(t *testing.T) {
	t.Parallel()
	_, err := exec.LookPath("nginx")
	require.NoError(t, err, "install nginx and its stream module: apt-get install nginx libnginx-mod-stream")
	dir, port := t.TempDir(), freePort(t)
	start, stopNginx, stopAgent := scripts(t, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "gen-x.sock"), nil, 0o600))

	ctx, cancel := context.WithTimeout(t.Context(), 3*deadline)
	defer cancel()
	nginx := exec.CommandContext(ctx, "/bin/sh", "-c", start)
	// Workers end with a master that ends by itself.
	nginx.Cancel = func() error { return nginx.Process.Signal(syscall.SIGTERM) }
	nginx.WaitDelay = time.Second
	var out strings.Builder
	nginx.Stdout, nginx.Stderr = &out, &out
	require.NoError(t, nginx.Start())
	ended := make(chan error, 1)
	go func() { ended <- nginx.Wait() }()

	eventually(t, "the left socket is removed", func() bool { return !exists(filepath.Join(dir, "gen-x.sock")) })
	assert.False(t, exists(filepath.Join(dir, bundle.PIDFile)), "nginx waits")
	writeConf(t, dir, port)
	address := fmt.Sprintf("127.0.0.1:%d", port)
	var session net.Conn
	eventually(t, "nginx listens", func() bool {
		session, err = net.Dial("tcp", address)
		return err == nil
	})
	says(t, session)

	// The nginx for UDP still runs.
	udp := filepath.Join(dir, bundle.UDPDir, bundle.PIDFile)
	require.NoError(t, os.Mkdir(filepath.Dir(udp), 0o755))
	require.NoError(t, os.WriteFile(udp, []byte("1\n"), 0o600))

	agentEnded := make(chan error, 1)
	go func() { agentEnded <- exec.CommandContext(ctx, "/bin/sh", "-c", stopAgent).Run() }()
	stopped := make(chan error, 1)
	go func() { stopped <- exec.CommandContext(ctx, "/bin/sh", "-c", stopNginx).Run() }()
	eventually(t, "nothing new begins", func() bool {
		c, err := net.Dial("tcp", address)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	})
	says(t, session)
	select {
	case <-stopped:
		assert.Fail(t, "the container would end with a session")
	case <-agentEnded:
		assert.Fail(t, "the agent would end before the session")
	case <-time.After(1500 * time.Millisecond):
	}
	require.NoError(t, session.Close())
	select {
	case err := <-stopped:
		stopped <- err
	case <-time.After(deadline):
		assert.Fail(t, "the container of nginx does not end")
	}
	select {
	case <-agentEnded:
		assert.Fail(t, "the agent would end before the nginx for UDP")
	case <-time.After(1500 * time.Millisecond):
	}
	require.NoError(t, os.Remove(udp))
	for what, end := range map[string]chan error{"nginx": ended, "its last line": stopped, "the agent's": agentEnded} {
		select {
		case err := <-end:
			assert.NoError(t, err, "%s: %s", what, &out)
		case <-time.After(deadline):
			assert.Fail(t, "it does not end", what)
		}
	}
}
