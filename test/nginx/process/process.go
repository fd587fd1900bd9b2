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

	"github.com/nginx-stream/tcpingress/agent/generation"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Nginx is an nginx with its directory.
type Nginx struct {
	// Dir is what bundle.SharedDir is in a pod.
	Dir string
	// Resolver is the address of the DNS server, "127.0.0.1:5353".
	Resolver string

	binary string
	// modules loads the stream module where it is not built in.
	modules string
	// masters are nginx for TCP, and that for UDP if there are files for it.
	masters []*master
}

// master is one nginx.
type master struct {
	command *exec.Cmd
	ended   chan struct{}
}

// forUDP names the folder with the files for UDP.
func forUDP(folder string) string { return folder + "-udp" }

// New finds nginx, and makes the folders that it needs below dir.
func New(dir, resolver string) (*Nginx, error) {
	binary, err := exec.LookPath("nginx")
	if err != nil {
		return nil, fmt.Errorf("looking for nginx, which these tests run: %w; on Debian: apt-get install nginx libnginx-mod-stream", err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "log"), 0o755); err != nil {
		return nil, err
	}
	n := &Nginx{Dir: dir, Resolver: resolver, binary: binary}
	module, err := StreamModule(binary)
	if err != nil {
		return nil, err
	}
	if module != "" {
		n.modules = "load_module " + module + ";\n"
	}
	return n, nil
}

// Write puts files, and what the agent adds to them, into a folder of the directory.
func (n *Nginx) Write(folder string, files map[string]string) error {
	tcp, udp := generation.Split(files)
	if err := n.write(folder, tcp); err != nil || len(udp) == 0 {
		return err
	}
	return n.write(forUDP(folder), udp)
}

func (n *Nginx) write(folder string, files map[string]string) error {
	dir := filepath.Join(n.Dir, folder)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	all := map[string]string{
		bundle.ModulesFile:    n.modules,
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

// folders lists the folder and that for UDP, if there is one.
func (n *Nginx) folders(folder string) []string {
	if _, err := os.Stat(filepath.Join(n.Dir, forUDP(folder))); err != nil {
		return []string{folder}
	}
	return []string{folder, forUDP(folder)}
}

// Check runs nginx -t on a folder.
func (n *Nginx) Check(ctx context.Context, folder string) error {
	for _, folder := range n.folders(folder) {
		out, err := exec.CommandContext(ctx, n.binary, append(n.arguments(folder, ""), "-t", "-q")...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("nginx -t: %w: %s", err, out)
		}
	}
	return nil
}

// arguments of nginx. The files for UDP say nothing of a pid.
func (n *Nginx) arguments(folder, directives string) []string {
	if strings.HasSuffix(folder, forUDP("")) {
		directives += "pid " + filepath.Join(n.Dir, "udp.pid") + ";"
	}
	args := []string{"-p", n.Dir, "-c", filepath.Join(n.Dir, folder, bundle.MainFile)}
	if directives != "" {
		args = append(args, "-g", directives)
	}
	return args
}

// Start starts nginx with a folder, and waits until its generation answers.
func (n *Nginx) Start(ctx context.Context, folder string) error {
	for _, folder := range n.folders(folder) {
		m := &master{ended: make(chan struct{})}
		m.command = exec.CommandContext(ctx, n.binary, n.arguments(folder, "daemon off;")...)
		m.command.Cancel = func() error { return m.command.Process.Signal(syscall.SIGTERM) }
		m.command.WaitDelay = 5 * time.Second
		m.command.Stderr = io.Discard
		if err := m.command.Start(); err != nil {
			return err
		}
		go func() { _ = m.command.Wait(); close(m.ended) }()
		n.masters = append(n.masters, m)
	}
	return n.Await(ctx, folder, 10*time.Second)
}

// Await waits until the generation of a folder answers.
func (n *Nginx) Await(ctx context.Context, folder string, limit time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for _, folder := range n.folders(folder) {
		for !n.Answers(folder) {
			for _, m := range n.masters {
				select {
				case <-ctx.Done():
					return fmt.Errorf("the generation %s does not answer; nginx says: %s", folder, n.Errors())
				case <-m.ended:
					return fmt.Errorf("nginx ended; it says: %s", n.Errors())
				case <-time.After(2 * time.Millisecond):
				}
			}
		}
	}
	return nil
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
func (n *Nginx) Reload() error {
	var err error
	for _, m := range n.masters {
		err = errors.Join(err, m.command.Process.Signal(syscall.SIGHUP))
	}
	return err
}

// PID is that of the master for TCP.
func (n *Nginx) PID() int { return n.masters[0].command.Process.Pid }

// Stop ends nginx and waits for it.
func (n *Nginx) Stop() error {
	for _, m := range n.masters {
		_ = m.command.Process.Signal(syscall.SIGTERM)
		select {
		case <-m.ended:
		case <-time.After(10 * time.Second):
			_ = m.command.Process.Kill()
			return errors.New("nginx did not end within 10 s")
		}
	}
	return nil
}

// Errors gives the ends of nginx' own logs.
func (n *Nginx) Errors() string {
	var all []string
	for _, file := range []string{bundle.ErrorLog, bundle.UDPErrorLog} {
		text, err := os.ReadFile(filepath.Join(n.Dir, file))
		if err != nil {
			all = append(all, err.Error())
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		all = append(all, lines[max(0, len(lines)-10):]...)
	}
	return strings.Join(all, "\n")
}
