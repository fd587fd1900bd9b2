package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
	"github.com/nginx-stream/tcpingress/test/nginx/process"
)

// plane is something that forwards to the backend.
type plane struct {
	name string
	port int32
	// pid is that of the process that forwards.
	pid int
}

const (
	written      = "written by hand"
	writtenAgain = "the same again"
	cutting      = "by hand, without proxy_half_close"
	rendered     = "rendered"
	direct       = "rendered, hosts"
	apart        = "rendered, hosts with timeouts of their own"
	haproxy      = "HAProxy"
)

// scene is all that runs.
type scene struct {
	planes  []*plane
	backend net.Listener
	dns     *process.DNS
	ends    []func()
}

func (s *scene) close() {
	for _, end := range s.ends {
		end()
	}
}

func newScene(ctx context.Context, dir string) (s *scene, err error) {
	s = &scene{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	s.backend, err = net.Listen("tcp", "127.0.0.2:0") //nolint:noctx // it ends at once
	if err != nil {
		return nil, err
	}
	s.ends = append(s.ends, func() { _ = s.backend.Close() })
	go echo(s.backend)
	if s.dns, err = process.NewDNS(); err != nil {
		return nil, err
	}
	s.ends = append(s.ends, func() { _ = s.dns.Close() })
	s.dns.Set("bench/echo", "127.0.0.2")
	ports, err := freePorts(7)
	if err != nil {
		return nil, err
	}
	for i, name := range []string{written, writtenAgain, cutting} {
		half := map[bool]string{true: "off", false: "on"}[name == cutting]
		if err := s.nginx(ctx, filepath.Join(dir, "w"+strconv.Itoa(i)), func(dir string) map[string]string { return s.byHand(dir, ports[i], half) },
			&plane{name: name, port: ports[i]}); err != nil {
			return nil, err
		}
	}
	if err := s.nginx(ctx, filepath.Join(dir, "r"), func(dir string) map[string]string { return s.rendered(dir, ports[3:6]) },
		&plane{name: rendered, port: ports[3]}, &plane{name: direct, port: ports[4]}, &plane{name: apart, port: ports[5]}); err != nil {
		return nil, err
	}
	return s, s.haproxy(ctx, dir, ports[6])
}

// nginx starts one with the files, for the planes.
func (s *scene) nginx(ctx context.Context, dir string, files func(dir string) map[string]string, planes ...*plane) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	n, err := process.New(dir, s.dns.Address)
	if err != nil {
		return err
	}
	if err := n.Write("one", files(dir)); err != nil {
		return err
	}
	if err := n.Start(ctx, "one"); err != nil {
		return err
	}
	s.ends = append(s.ends, func() { _ = n.Stop() })
	children, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", n.PID(), n.PID()))
	if err != nil {
		return err
	}
	for _, p := range planes {
		if p.pid, err = strconv.Atoi(strings.Fields(string(children))[0]); err != nil {
			return err
		}
		s.planes = append(s.planes, p)
	}
	return nil
}

func (s *scene) backendPort() int32 { return int32(s.backend.Addr().(*net.TCPAddr).Port) }

// rendered has a port of one rule, one that two rules share, and one on which each of
// the two has a server of its own.
func (s *scene) rendered(dir string, ports []int32) map[string]string {
	rule := func(name string, port int32, hosts ...string) l4.Listener {
		return l4.Listener{
			Owner: l4.Owner{Namespace: "bench", Name: name, Rule: "r"}, Protocol: l4.TCP, Port: port, Hosts: hosts,
			Backend: l4.Backend{Namespace: "bench", Service: "echo", Port: s.backendPort()},
		}
	}
	slow := rule("slow", ports[2], "slow.example.com")
	slow.IdleTimeout = time.Hour
	return nginx.New(nginx.Config{Namespace: "bench", Name: "bench", Dir: dir, Workers: 1, Sessions: 1024, ClusterDomain: "cluster.local"}).Files(l4.Table{
		rule("plain", ports[0]),
		rule("one", ports[1], host), rule("two", ports[1], "two.example.com"),
		rule("apart", ports[2], host), slow,
	})
}

// byHand is what a person would write for one port: as many workers, buffers and log
// lines, but a fixed address. half is about connections that are closed by one side.
func (s *scene) byHand(dir string, port int32, half string) map[string]string {
	return map[string]string{bundle.MainFile: fmt.Sprintf(`include modules.conf;
worker_processes 1;
worker_rlimit_nofile 4096;
pid %[1]s/nginx.pid;
error_log %[1]s/log/error.log warn;
events {
    worker_connections 2624;
}
stream {
    proxy_socket_keepalive on;
    proxy_half_close %[4]s;
    log_format session escape=json '{"t":$msec,"l":"%[2]d/TCP","o":"bench/plain/r","s":$status,"d":$session_time,"out":$bytes_sent,"rcv":$bytes_received,"ua":"$upstream_addr","us":"$upstream_bytes_sent","ur":"$upstream_bytes_received","uc":"$upstream_connect_time"}';
    access_log %[1]s/log/access.log session buffer=64k flush=1s;
    include generation.conf;
    server {
        listen %[2]d;
        listen [::]:%[2]d;
        proxy_pass 127.0.0.2:%[3]d;
    }
}
`, dir, port, s.backendPort(), half)}
}

// haproxy starts HAProxy with one thread, and without a log.
func (s *scene) haproxy(ctx context.Context, dir string, port int32) error {
	binary, err := exec.LookPath("haproxy")
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench: haproxy is missing, and measured is what there is; on Debian: apt-get install haproxy")
		return nil
	}
	file := filepath.Join(dir, "haproxy.cfg")
	if err := os.WriteFile(file, fmt.Appendf(nil, `global
    nbthread 1
    maxconn 2048
defaults
    mode tcp
    timeout connect 60s
    timeout client 10m
    timeout server 10m
listen bench
    bind :::%d v4v6
    server echo 127.0.0.2:%d
`, port, s.backendPort()), 0o600); err != nil {
		return err
	}
	command := exec.CommandContext(ctx, binary, "-db", "-f", file)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	if err := command.Start(); err != nil {
		return err
	}
	s.ends = append(s.ends, func() {
		_ = command.Process.Kill()
		_ = command.Wait()
	})
	for range 500 {
		if c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port)); err == nil { //nolint:noctx // it ends at once
			s.planes = append(s.planes, &plane{haproxy, port, command.Process.Pid})
			return c.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
	return errors.New("haproxy does not answer")
}

// cpu is how long the process has run.
func (p *plane) cpu() (time.Duration, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/schedstat", p.pid))
	if err != nil {
		return 0, err
	}
	nanoseconds, err := strconv.ParseInt(strings.Fields(string(text))[0], 10, 64)
	return time.Duration(nanoseconds), err
}

// freePorts finds ports below those of outgoing connections.
func freePorts(n int) ([]int32, error) {
	var ports []int32
	for port := int32(20_000 + os.Getpid()%5000); port < 32_000; port++ {
		l, err := net.Listen("tcp", fmt.Sprintf(":%d", port)) //nolint:gosec,noctx // as nginx will
		if err != nil {
			continue
		}
		_ = l.Close()
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, errors.New("no free ports")
}
