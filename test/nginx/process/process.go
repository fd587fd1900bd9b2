// Package process runs the real nginx for tests, with files as the renderer makes
// them and what the agent adds, in a directory of its own.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Nginx is an nginx with its directory.
type Nginx struct {
	// Dir is what bundle.SharedDir is in a pod.
	Dir string
	// Resolver is the address of the DNS server, "127.0.0.1:5353".
	Resolver string

	binary  string
	command *exec.Cmd
	ended   chan struct{}
}

// New finds nginx, and makes the folders that it needs below dir.
func New(dir, resolver string) (*Nginx, error) {
	binary, err := exec.LookPath("nginx")
	if err != nil {
		return nil, fmt.Errorf("looking for nginx, which these tests run: %w; on Debian: apt-get install nginx libnginx-mod-stream", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "log"), 0o755); err != nil {
		return nil, err
	}
	return &Nginx{Dir: dir, Resolver: resolver, binary: binary}, nil
}

// modules loads the stream module where it is not built in.
func (n *Nginx) modules() string {
	for _, dir := range []string{"/usr/lib/nginx/modules", "/usr/share/nginx/modules"} {
		path := filepath.Join(dir, "ngx_stream_module.so")
		if _, err := os.Stat(path); err == nil {
			return "load_module " + path + ";\n"
		}
	}
	return ""
}

// Write puts files, and what the agent adds to them, into a folder of the directory.
func (n *Nginx) Write(folder string, files map[string]string) error {
	dir := filepath.Join(n.Dir, folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	all := map[string]string{
		bundle.ModulesFile:    n.modules(),
		bundle.ResolverFile:   "resolver " + n.Resolver + " valid=1s ipv6=off;\nresolver_timeout 1s;\n",
		bundle.GenerationFile: fmt.Sprintf("server {\n    listen unix:%s/%s;\n    access_log off;\n    return %s;\n}\n", n.Dir, bundle.GenerationSocket(folder), folder),
	}
	maps.Copy(all, files)
	for name, text := range all {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// Check runs nginx -t on a folder.
func (n *Nginx) Check(ctx context.Context, folder string) error {
	out, err := exec.CommandContext(ctx, n.binary, "-t", "-q", "-p", n.Dir, "-c", filepath.Join(n.Dir, folder, bundle.MainFile)).CombinedOutput()
	if err != nil {
		return fmt.Errorf("nginx -t: %w: %s", err, out)
	}
	return nil
}

// Start starts nginx with a folder, and waits until its generation answers.
func (n *Nginx) Start(ctx context.Context, folder string) error {
	n.command = exec.CommandContext(ctx, n.binary, "-p", n.Dir, "-c", filepath.Join(n.Dir, folder, bundle.MainFile), "-g", "daemon off;")
	n.command.Cancel = func() error { return n.command.Process.Signal(syscall.SIGTERM) }
	n.command.WaitDelay = 5 * time.Second
	n.command.Stderr = io.Discard
	if err := n.command.Start(); err != nil {
		return err
	}
	n.ended = make(chan struct{})
	go func() { _ = n.command.Wait(); close(n.ended) }()
	return n.Await(ctx, folder, 10*time.Second)
}

// Await waits until the generation of a folder answers.
func (n *Nginx) Await(ctx context.Context, folder string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		if n.Answers(folder) {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("the generation %s does not answer; nginx says: %s", folder, n.Errors())
		case <-n.ended:
			return fmt.Errorf("nginx ended; it says: %s", n.Errors())
		case <-time.After(2 * time.Millisecond):
		}
	}
}

// Answers tells whether the generation of a folder is live.
func (n *Nginx) Answers(folder string) bool {
	connection, err := net.DialTimeout("unix", filepath.Join(n.Dir, bundle.GenerationSocket(folder)), time.Second)
	if err != nil {
		return false
	}
	defer func() { _ = connection.Close() }()
	_ = connection.SetDeadline(time.Now().Add(time.Second))
	answer, _ := io.ReadAll(connection)
	return string(answer) == folder
}

// Reload makes nginx read its files again; they are those of the folder it was started with.
func (n *Nginx) Reload() error { return n.command.Process.Signal(syscall.SIGHUP) }

// PID is that of the master.
func (n *Nginx) PID() int { return n.command.Process.Pid }

// Stop ends nginx and waits for it.
func (n *Nginx) Stop() error {
	if n.command == nil {
		return nil
	}
	_ = n.command.Process.Signal(syscall.SIGTERM)
	select {
	case <-n.ended:
		return nil
	case <-time.After(10 * time.Second):
		_ = n.command.Process.Kill()
		return errors.New("nginx did not end within 10 s")
	}
}

// Errors gives the end of nginx' own log.
func (n *Nginx) Errors() string {
	text, err := os.ReadFile(filepath.Join(n.Dir, bundle.ErrorLog))
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-10):], "\n")
}
