// The tests are about the agent beside the real nginx, which the tests start and end
// themselves. They speak to the loopback addresses only.
package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/agent"
	"github.com/nginx-stream/tcpingress/agent/generation"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
	"github.com/nginx-stream/tcpingress/test/nginx/process"
)

// rig is an nginx and an agent, with the directories that they share.
type rig struct {
	t             *testing.T
	shared, mount string
	options       agent.Options
	config        nginx.Config

	nginx  *exec.Cmd
	exited chan struct{}
	udp    *supervisor
	// shown is what was mounted last.
	shown map[string]string
	agent *agent.Agent
	stop  context.CancelFunc
	ended chan error
}

func newRig(t *testing.T) *rig {
	t.Helper()
	binary, err := exec.LookPath("nginx")
	require.NoError(t, err, "these tests need nginx: apt-get install nginx libnginx-mod-stream")
	dir := t.TempDir()
	r := &rig{t: t, shared: filepath.Join(dir, "run"), mount: filepath.Join(dir, "etc")}
	// A socket's path has at most 107 bytes.
	if len(r.shared) > 60 {
		short, err := os.MkdirTemp("", "agent") //nolint:usetesting // the path of t.TempDir is too long for sockets
		require.NoError(t, err)
		t.Cleanup(func() { _ = os.RemoveAll(short) })
		r.shared, r.mount = filepath.Join(short, "run"), filepath.Join(short, "etc")
	}
	require.NoError(t, os.Mkdir(r.shared, 0o755))
	require.NoError(t, os.Mkdir(r.mount, 0o755))
	resolvConf := filepath.Join(filepath.Dir(r.mount), "resolv.conf")
	require.NoError(t, os.WriteFile(resolvConf, []byte("nameserver 127.0.0.1\n"), 0o600))
	var modules []string
	module, err := process.StreamModule(binary)
	require.NoError(t, err)
	if module != "" {
		modules = []string{module}
	}
	r.options = agent.Options{
		ConfigDir: r.mount, SharedDir: r.shared, Nginx: binary, LoadModules: modules, ResolvConf: resolvConf,
		Listen: "127.0.0.1:0", Poll: 20 * time.Millisecond, Retry: time.Hour, SaveInterval: 50 * time.Millisecond,
	}
	if testing.Verbose() {
		r.options.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
	}
	r.config = nginx.Config{
		Namespace: "tcpingress", Name: "edge", Dir: r.shared, Workers: 1, Sessions: 4096, ClusterDomain: "cluster.local",
		Resolvers: []netip.Addr{netip.MustParseAddr("127.0.0.1")}, ResolverTimeout: 200 * time.Millisecond,
		ReloadInterval: 50 * time.Millisecond, MaxOldWorkers: 256,
	}
	t.Cleanup(r.killLeftOver)
	t.Cleanup(r.endNginx)
	t.Cleanup(r.killUDP)
	t.Cleanup(r.endAgent)
	return r
}

// nowhere is a Service whose name stays, and has no address.
const nowhere = "nowhere"

// files renders a table, with backends at 127.0.0.1 instead of names.
func (r *rig) files(table l4.Table) map[string]string {
	files := nginx.New(r.config).Files(table)
	service := regexp.MustCompile(`[a-z0-9-]+\.data\.svc\.cluster\.local`)
	for name, content := range files {
		files[name] = service.ReplaceAllStringFunc(content, func(name string) string {
			if strings.HasPrefix(name, nowhere+".") {
				return name
			}
			return "127.0.0.1"
		})
	}
	// As in the pod, where nothing is root, all processes of nginx have one uid.
	if os.Getuid() == 0 {
		files[bundle.MainFile] = "user root;\n" + files[bundle.MainFile]
		files[bundle.UDPFile] = "user root;\n" + files[bundle.UDPFile]
	}
	return files
}

// show mounts files, after it has made the index fit.
func (r *rig) show(files map[string]string) {
	r.t.Helper()
	r.shown = maps.Clone(files)
	files = maps.Clone(files)
	r.index(files)
	r.showAsIs(files)
}

func (r *rig) index(files map[string]string) {
	r.t.Helper()
	var index bundle.Index
	require.NoError(r.t, json.Unmarshal([]byte(files[bundle.IndexFile]), &index))
	index.Files = map[string]string{}
	for name, content := range files {
		if name != bundle.IndexFile {
			index.Files[name] = bundle.Sum(content)
		}
	}
	raw, err := json.Marshal(index)
	require.NoError(r.t, err)
	files[bundle.IndexFile] = string(raw)
}

// showAsIs does what the kubelet does: a new directory, and then the link to it.
func (r *rig) showAsIs(files map[string]string) {
	r.t.Helper()
	data, err := os.MkdirTemp(r.mount, "..")
	require.NoError(r.t, err)
	for name, content := range files {
		require.NoError(r.t, os.WriteFile(filepath.Join(data, name), []byte(content), 0o600))
		link := filepath.Join(r.mount, name)
		if _, err := os.Lstat(link); err != nil {
			require.NoError(r.t, os.Symlink(filepath.Join("..data", name), link))
		}
	}
	old, _ := os.Readlink(filepath.Join(r.mount, "..data"))
	draft := filepath.Join(r.mount, "..data_tmp")
	require.NoError(r.t, os.Symlink(filepath.Base(data), draft))
	require.NoError(r.t, os.Rename(draft, filepath.Join(r.mount, "..data")))
	if old != "" {
		require.NoError(r.t, os.RemoveAll(filepath.Join(r.mount, old)))
	}
}

func (r *rig) startAgent() {
	r.t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	a, err := agent.New(r.options)
	require.NoError(r.t, err)
	ended := make(chan error, 1)
	go func() { ended <- a.Run(ctx) }()
	r.agent, r.stop, r.ended = a, stop, ended
}

func (r *rig) endAgent() {
	r.t.Helper()
	if r.stop == nil {
		return
	}
	r.stop()
	r.stop = nil
	require.NoError(r.t, <-r.ended)
}

// startNginx does what the command of the container does.
func (r *rig) startNginx() {
	r.t.Helper()
	stale, _ := filepath.Glob(filepath.Join(r.shared, "*.sock"))
	for _, path := range stale {
		require.NoError(r.t, os.Remove(path))
	}
	main := filepath.Join(r.shared, bundle.ConfLink, bundle.MainFile)
	r.eventually("the agent writes a configuration", func() bool { _, err := os.Stat(main); return err == nil })
	cmd := exec.Command(r.options.Nginx, "-e", "stderr", "-c", main, "-g", "daemon off;")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	require.NoError(r.t, cmd.Start())
	exited := make(chan struct{})
	go func() { _ = cmd.Wait(); close(exited) }()
	r.nginx, r.exited = cmd, exited
}

// status is that of the nginx for TCP.
func (r *rig) status() agent.Status { return r.agent.Status(l4.TCP) }

// udpStatus is that of the nginx for UDP.
func (r *rig) udpStatus() agent.Status { return r.agent.Status(l4.UDP) }

// live names both generations that are live, "" if either is none.
func (r *rig) live() string {
	tcp, udp := r.status().Live, r.udpStatus().Live
	if tcp == "" || udp == "" {
		return ""
	}
	return tcp + " " + udp
}

// endNginx kills the whole process group, as the container runtime does.
func (r *rig) endNginx() {
	if r.nginx == nil {
		return
	}
	_ = syscall.Kill(-r.nginx.Process.Pid, syscall.SIGKILL)
	<-r.exited
	r.nginx = nil
}

func (r *rig) start(table l4.Table) {
	r.t.Helper()
	r.show(r.files(table))
	r.startAgent()
	r.startNginx()
	r.startUDP()
	r.eventually("the first generation is live", func() bool { return r.live() != "" })
}

// change shows a table and waits until it is live.
func (r *rig) change(table l4.Table) {
	r.t.Helper()
	r.changeTo(r.files(table))
}

// changeTo shows files and waits until each nginx serves those that are for it.
func (r *rig) changeTo(files map[string]string) {
	r.t.Helper()
	before := map[l4.Protocol]string{l4.TCP: r.status().Live, l4.UDP: r.udpStatus().Live}
	old := r.shown
	r.show(files)
	tcpOld, udpOld := generation.Split(old)
	tcp, udp := generation.Split(files)
	delete(tcpOld, bundle.IndexFile)
	delete(tcp, bundle.IndexFile)
	if !maps.Equal(tcpOld, tcp) {
		r.eventually("the new generation for TCP is live", func() bool { s := r.status(); return s.Live != "" && s.Live != before[l4.TCP] })
	}
	if !maps.Equal(udpOld, udp) {
		r.eventually("the new generation for UDP is live", func() bool { s := r.udpStatus(); return s.Live != "" && s.Live != before[l4.UDP] })
	}
}

func (r *rig) eventually(what string, condition func() bool) {
	r.t.Helper()
	deadline := time.Now().Add(20 * time.Second)
	for !condition() {
		if time.Now().After(deadline) {
			status := ""
			if r.agent != nil {
				tcp, udp := r.status(), r.udpStatus()
				status = strings.Join(append(tcp.Sentences(), udp.Sentences()...), " ")
			}
			r.t.Fatalf("waited in vain until %s; %s", what, status)
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// rule is a listener that leads to a port of the loopback address.
func rule(protocol l4.Protocol, port, backend int, name string) l4.Listener {
	return l4.Listener{
		Owner: l4.Owner{Namespace: "data", Name: name, Rule: "rule"}, Protocol: protocol, Port: int32(port),
		Backend: l4.Backend{Namespace: "data", Service: name, Port: int32(backend)},
	}
}

// freePort gives a port that nobody listens on, outside the range of outgoing
// connections.
func freePort(t *testing.T) int {
	t.Helper()
	ports.Lock()
	defer ports.Unlock()
	for ports.next < 32000 {
		ports.next++
		tcp, err := net.Listen("tcp", net.JoinHostPort("", strconv.Itoa(ports.next)))
		if err != nil {
			continue
		}
		udp, err := net.ListenPacket("udp", net.JoinHostPort("", strconv.Itoa(ports.next)))
		_ = tcp.Close()
		if err == nil {
			_ = udp.Close()
			return ports.next
		}
	}
	t.Fatal("no port is free between 21000 and 32000")
	return 0
}

// ports are handed out once each.
var ports = struct { //nolint:gochecknoglobals // the tests of this package share the ports of one machine
	sync.Mutex
	next, others int
}{next: firstPort()}

// firstPorts is the environment variable that names the first port to a process that
// runs tests of this package beside others.
const firstPorts = "TEST_PORTS_FROM"

// firstPort differs from that of another process, most likely, or as it was told.
func firstPort() int {
	if n, err := strconv.Atoi(os.Getenv(firstPorts)); err == nil {
		return n
	}
	return 21000 + os.Getpid()%20*200
}

// otherPorts is the environment of a process whose ports are nobody's here.
func otherPorts() string {
	ports.Lock()
	defer ports.Unlock()
	ports.others++
	const first, each = 27000, 500
	return firstPorts + "=" + strconv.Itoa(first+ports.others*each)
}

// echoTCP serves a TCP echo and gives its port.
func echoTCP(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = conn.Close() }()
				buffer := make([]byte, 4096)
				for {
					n, err := conn.Read(buffer)
					if err != nil {
						return
					}
					if _, err := conn.Write(buffer[:n]); err != nil {
						return
					}
				}
			}()
		}
	}()
	return l.Addr().(*net.TCPAddr).Port
}

// echoUDP serves a UDP echo and gives its port.
func echoUDP(t *testing.T) int {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(buffer[:n], from)
		}
	}()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

// says opens a connection, sends a text, and wants it back.
func says(port int, text string) error {
	conn, err := net.DialTimeout("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)), 2*time.Second)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	return exchange(conn, text)
}

// exchange sends a text and wants it back.
func exchange(conn net.Conn, text string) error {
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte(text)); err != nil {
		return err
	}
	answer := make([]byte, 0, len(text))
	for len(answer) < len(text) {
		n, err := conn.Read(answer[len(answer):cap(answer)])
		answer = answer[:len(answer)+n]
		if err != nil {
			return err
		}
	}
	if string(answer) != text {
		return errors.New("another answer: " + fmt.Sprintf("%q", answer))
	}
	return nil
}

// linked is the generation that nginx would start with.
func (r *rig) linked() string {
	target, _ := os.Readlink(filepath.Join(r.shared, bundle.ConfLink))
	return strings.TrimPrefix(target, bundle.ConfLink+"-")
}
