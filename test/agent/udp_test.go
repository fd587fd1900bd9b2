package agent

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/agent/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// dialUDP opens a socket that asks a port.
func dialUDP(t *testing.T, port int) net.Conn {
	t.Helper()
	conn, err := net.Dial("udp", address(port))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// asked asks one question from a socket of its own.
func asked(t *testing.T, port int, question string) error {
	t.Helper()
	return ask(dialUDP(t, port), question, patience)
}

// udpMaster is the nginx that is the youngest.
func (r *rig) udpMaster() int {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.shared, bundle.UDPDir, "nginx-*.pid"))
	require.NoError(r.t, err)
	youngest, number := 0, 0
	for _, file := range files {
		n, err := strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(filepath.Base(file), "nginx-"), ".pid"))
		require.NoError(r.t, err)
		if pid := (nginx.Processes{PIDFile: file, Proc: "/proc"}).Master(); pid != 0 && n > number {
			youngest, number = pid, n
		}
	}
	require.NotZero(r.t, youngest)
	return youngest
}

// udpRunning is how many nginx for UDP there are.
func (r *rig) udpRunning() int {
	r.t.Helper()
	files, err := filepath.Glob(filepath.Join(r.shared, bundle.UDPDir, "nginx-*.pid"))
	require.NoError(r.t, err)
	running := 0
	for _, file := range files {
		if (nginx.Processes{PIDFile: file, Proc: "/proc"}).Master() != 0 {
			running++
		}
	}
	return running
}

// hasItsOwnNginx waits until the supervisor that was started last has one. Until then, what
// the one before left may answer, and will end.
func (r *rig) hasItsOwnNginx() {
	r.t.Helper()
	r.eventually("it has an nginx of its own", func() bool {
		workers, err := r.udpProcesses().Workers()
		return err == nil && len(workers) > 0
	})
}

// A change of TCP is none of UDP: its sessions go on.
func TestSessionsOfUDPOutliveAChangeOfTCP(t *testing.T) {
	r := newRig(t)
	backend := newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), backend.port, "dns")}
	r.start(table)
	conn := dialUDP(t, int(table[0].Port))
	require.NoError(t, ask(conn, "one", patience))
	live := r.udpStatus().Live
	r.change(append(table, rule(l4.TCP, freePort(t), echoTCP(t), "web")))
	require.NoError(t, ask(conn, "two", patience))
	assert.Equal(t, 1, backend.clients(), "it is one session")
	assert.Equal(t, live, r.udpStatus().Live)
	assert.Zero(t, r.udpStatus().Reloads)

	r.change(append(table, rule(l4.UDP, freePort(t), backend.port, "other")))
	require.NoError(t, ask(conn, "three", patience))
	assert.Equal(t, 2, backend.clients(), "after a change of UDP it is another")
}

func TestSessionOfUDPHasOneWorker(t *testing.T) {
	r := newRig(t)
	r.config.Workers = 3
	backend := newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), backend.port, "dns")}
	r.start(table)
	for range 2 {
		before := backend.clients()
		const clients = 12
		for i := range clients {
			conn := dialUDP(t, int(table[0].Port))
			for j := range 10 {
				require.NoError(t, ask(conn, fmt.Sprintf("%d %d", i, j), patience))
			}
		}
		assert.Equal(t, clients, backend.clients()-before)
		table = append(table, rule(l4.UDP, freePort(t), backend.port, "other"))
		r.change(table)
	}
	r.eventually("all three run", func() bool {
		workers, err := r.udpProcesses().Workers()
		workers = slices.DeleteFunc(workers, func(w nginx.Worker) bool { return w.Old })
		return err == nil && len(workers) == 3
	})
}

func TestPortOfUDPThatIsTakenIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.options.Retry = 500 * time.Millisecond
	backend, tcp := newHearing(t), echoTCP(t)
	table := l4.Table{rule(l4.UDP, freePort(t), backend.port, "dns")}
	r.start(table)
	live, second := r.udpStatus().Live, freePort(t)
	taken, err := net.ListenPacket("udp", ":"+strconv.Itoa(second))
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	web := rule(l4.TCP, freePort(t), tcp, "web")
	r.show(r.files(append(table, rule(l4.UDP, second, backend.port, "second"), web)))
	r.eventually("it is refused", func() bool { return r.udpStatus().Refused != nil })
	assert.Regexp(t, `^\[emerg\] bind\(\) to \S+:`+strconv.Itoa(second)+` failed \(98: Address already in use\)$`, r.udpStatus().Refused.Reason)
	_, body := r.get("/readyz")
	assert.Regexp(t, `\nUDP: Generation `+live+` is live since \S+, with 1 rules\.\nUDP: Generation \S+ was refused at \S+: \[emerg\] bind\(\) to `, body)
	r.eventually("TCP does not wait for it", func() bool { return says(int(web.Port), "hello") == nil })
	assert.Equal(t, live, r.udpStatus().Live)
	require.NoError(t, asked(t, int(table[0].Port), "question"))
	assert.Equal(t, 1, r.udpRunning())

	require.NoError(t, taken.Close())
	r.eventually("it is live when the port is free", func() bool { s := r.udpStatus(); return s.Live != live && s.Live != "" && s.Refused == nil })
	require.NoError(t, asked(t, second, "question"))
}

// The configuration before is back while the nginx that had it first still drains.
func TestEarlierConfigurationOfUDPIsBack(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	backend := newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), backend.port, "dns")}
	table[0].IdleTimeout = time.Second
	other := rule(l4.UDP, freePort(t), backend.port, "other")
	other.IdleTimeout = time.Second
	r.start(table)
	first := r.udpStatus().Live
	waits := dialUDP(t, int(table[0].Port))
	_, err := waits.Write([]byte("slow question"))
	require.NoError(t, err)
	r.change(append(table, other))
	r.change(table)
	assert.Equal(t, first, r.udpStatus().Live)
	require.NoError(t, answer(waits, "slow question", patience), "it was asked two configurations ago")
	require.NoError(t, asked(t, int(table[0].Port), "question"))
	require.Error(t, ask(dialUDP(t, int(other.Port)), "question", 200*time.Millisecond), "what was removed is not served")
	r.eventually("those before have ended", func() bool { return r.udpRunning() == 1 })
	time.Sleep(100 * time.Millisecond)
	assert.Equal(t, first, r.udpStatus().Live, "who ended did not take the socket of its generation along")
	assert.Equal(t, 2, r.udpStatus().Reloads)
	require.NoError(t, asked(t, int(table[0].Port), "question"))
	r.change(append(table, other))
	require.NoError(t, asked(t, int(other.Port), "question"), "it is served again")
}

func TestNginxForUDPThatIsKilled(t *testing.T) {
	r := newRig(t)
	backend := newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), backend.port, "dns")}
	r.start(table)
	live := r.udpStatus().Live
	for i := range 3 {
		require.NoError(t, syscall.Kill(-r.udpMaster(), syscall.SIGKILL))
		require.NoError(t, asked(t, int(table[0].Port), "question "+strconv.Itoa(i)), "it waits for the next nginx")
	}
	r.eventually("it is live", func() bool { return r.udpStatus().Live == live })
	assert.Zero(t, r.udpStatus().Refusals)
	assert.Equal(t, 1, r.udpRunning())
}

func TestSupervisorThatIsKilledLeavesNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	backend := newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), backend.port, "dns")}
	r.start(table)
	live, orphan := r.udpStatus().Live, r.udpMaster()
	require.NoError(t, r.udp.cmd.Process.Kill())
	<-r.udp.exited
	r.eventually("the agent notices", func() bool { s := r.udpStatus(); return !s.Running && s.Live == "" })
	code, body := r.get("/readyz")
	assert.Equal(t, 503, code)
	assert.Contains(t, body, "\nUDP: nginx is not running.\n")
	require.NoError(t, asked(t, int(table[0].Port), "question"), "nginx itself goes on")
	r.startUDP()
	r.hasItsOwnNginx()
	r.eventually("it is live again", func() bool { return r.udpStatus().Live == live })
	require.NoError(t, asked(t, int(table[0].Port), "another question"))
	title, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(orphan), "cmdline"))
	assert.Empty(t, title, "the nginx before is gone")
	assert.Equal(t, 1, r.udpRunning())

	second := r.supervise()
	require.Error(t, exec.Command(second[0], second[1:]...).Run(), "there can be one only")
	require.NoError(t, asked(t, int(table[0].Port), "a third question"))
}

func TestOldNginxForUDPAreBounded(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.MaxOldWorkers = 2
	backend := newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), backend.port, "dns")}
	table[0].IdleTimeout = time.Hour
	r.start(table)
	for i := range 6 {
		require.NoError(t, asked(t, int(table[0].Port), "question"))
		r.change(append(l4.Table{table[0]}, rule(l4.UDP, freePort(t), backend.port, "other"+strconv.Itoa(i))))
	}
	r.eventually("the oldest are ended", func() bool { return r.udpRunning() == 3 && r.udpStatus().OldWorkers == 2 })
	assert.Equal(t, 4, r.udpStatus().EndedWorkers)
	series := fmt.Sprintf(`tcpingress_listener_sessions_total{listener="%d/UDP",owner="data/dns/rule"}`, table[0].Port)
	r.eventually("their sessions are counted", func() bool { return r.scrape()[series] == 4 })
	require.NoError(t, asked(t, int(table[0].Port), "question"))
}

// What is asked before the end is answered.
func TestSupervisorEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	backend := newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), backend.port, "dns"), rule(l4.TCP, freePort(t), echoTCP(t), "web")}
	table[0].IdleTimeout = time.Second
	r.start(table)
	conn := dialUDP(t, int(table[0].Port))
	_, err := conn.Write([]byte("slow question"))
	require.NoError(t, err)
	r.eventually("it is heard", func() bool { return backend.heard("slow question") })
	master := r.udpMaster()
	began := time.Now()
	r.endUDP()
	assert.Greater(t, time.Since(began), time.Second, "sessions are given time")
	require.NoError(t, answer(conn, "slow question", time.Millisecond), "the answer came meanwhile")
	title, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(master), "cmdline"))
	assert.Empty(t, title)
	left, err := os.ReadDir(filepath.Join(r.shared, bundle.UDPDir))
	require.NoError(t, err)
	for _, entry := range left {
		assert.Regexp(t, "^conf|^check.pid$", entry.Name(), "only the configuration is left")
	}
	require.NoError(t, says(int(table[1].Port), "hello"), "TCP goes on")
	r.eventually("the agent notices", func() bool { return !r.udpStatus().Running })
	series := fmt.Sprintf(`tcpingress_listener_sessions_total{listener="%d/UDP",owner="data/dns/rule"}`, table[0].Port)
	r.eventually("the session is counted", func() bool { return r.scrape()[series] == 1 })
}

func TestManyListenersOfUDP(t *testing.T) {
	r := newRig(t)
	count := 4000
	if testing.Short() {
		count = 200
	}
	r.config.Workers, r.config.Sessions = 1, 512
	backend := newHearing(t)
	var table l4.Table
	for port := 2000; len(table) < count; port++ {
		conn, err := net.ListenPacket("udp", ":"+strconv.Itoa(port))
		if err != nil {
			continue // somebody has it
		}
		_ = conn.Close()
		table = append(table, rule(l4.UDP, port, backend.port, fmt.Sprintf("rule%d", len(table))))
	}
	r.start(table)
	began := time.Now()
	r.change(table[1:])
	took := time.Since(began)
	for _, i := range []int{1, count / 2, count - 1} {
		require.NoError(t, asked(t, int(table[i].Port), "question"))
	}
	memory := 0
	workers, err := r.udpProcesses().Workers()
	require.NoError(t, err)
	for _, w := range workers {
		memory += memoryOf(w.PID)
	}
	t.Logf("%d listeners of UDP: a change is live after %s; %d workers have %d KiB, the supervisor has %d KiB",
		count, took.Round(time.Millisecond), len(workers), memory, memoryOf(r.udp.cmd.Process.Pid))
	assert.Less(t, memoryOf(r.udp.cmd.Process.Pid), 128<<10)
}

// Each nginx that drains has sockets of its own. When there can be no more, those that
// drain have to go; when one alone wants too many, it is refused.
func TestTooManyOpenFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	backend := newHearing(t)
	var table l4.Table
	for range 30 {
		table = append(table, rule(l4.UDP, freePort(t), backend.port, "dns"))
	}
	r.show(r.files(table))
	r.startAgent()
	r.startNginx()
	r.superviseBy("/bin/sh", "-c", `ulimit -n 200 && exec "$0" "$@"`)
	r.eventually("it is live", func() bool { return r.live() != "" })
	for i := range 4 {
		table[0].Owner.Name = "dns" + strconv.Itoa(i)
		r.change(table)
		require.NoError(t, asked(t, int(table[29].Port), "question"))
		assert.LessOrEqual(t, r.udpRunning(), 3)
	}
	live := r.udpStatus().Live
	many := append(l4.Table{}, table...)
	for range 100 {
		many = append(many, rule(l4.UDP, freePort(t), backend.port, "many"))
	}
	r.show(r.files(many))
	r.eventually("it is refused", func() bool { return r.udpStatus().Refused != nil })
	assert.Equal(t, "[emerg] socket: too many open files", r.udpStatus().Refused.Reason)
	assert.Equal(t, live, r.udpStatus().Live)
	require.NoError(t, asked(t, int(table[29].Port), "question"))
	table[0].Owner.Name = "dns"
	r.change(table)
	require.NoError(t, asked(t, int(table[0].Port), "question"))
}

func TestRangeOfUDP(t *testing.T) {
	r := newRig(t)
	backend := newHearing(t)
	l := rule(l4.UDP, freePort(t), 0, "game")
	for l.EndPort = l.Port; l.EndPort < l.Port+4; {
		if next := int32(freePort(t)); next == l.EndPort+1 {
			l.EndPort = next
		} else {
			l.Port, l.EndPort = next, next
		}
	}
	files := r.files(l4.Table{l})
	for name, text := range files {
		files[name] = strings.ReplaceAll(text, ":$server_port", ":"+strconv.Itoa(backend.port))
	}
	r.show(files)
	r.startAgent()
	r.startNginx()
	r.startUDP()
	r.eventually("it is live", func() bool { return r.live() != "" })
	for _, port := range []int32{l.Port, l.Port + 2, l.EndPort} {
		require.NoError(t, asked(t, int(port), "question"))
	}
}

// Every change edits the port that is asked, too, and the number of workers changes, with
// both versions of IP.
func TestNoAnswerIsLostByPortsThatChange(t *testing.T) {
	r := newRig(t)
	r.config.Workers = 3
	backend := newHearing(t)
	port := freePort(t)
	tableOf := func(change int) l4.Table {
		l := rule(l4.UDP, port, backend.port, "dns"+strconv.Itoa(change%3))
		l.IdleTimeout = time.Duration(500+change) * time.Millisecond // longer than it takes the backend to answer
		return l4.Table{l}
	}
	r.start(tableOf(0))
	var c tally
	var clients sync.WaitGroup
	stop := make(chan struct{})
	for i := range 24 {
		host, kind := "127.0.0.1", quick
		if i%2 == 1 {
			host = "::1"
		}
		if i > 3 {
			kind = slow
		}
		clients.Go(func() { c.asksAt(backend, kind, net.JoinHostPort(host, strconv.Itoa(port)), stop) })
	}
	changes := 40
	if testing.Short() {
		changes = 15
	}
	for i := range changes {
		r.config.Workers = 1 + (i/3)%3
		r.change(tableOf(i + 1))
		time.Sleep(50 * time.Millisecond)
	}
	close(stop)
	clients.Wait()
	t.Logf("%d changes, %d questions", changes, c.datagrams.Load())
	assert.Empty(t, c.failures)
	assert.Greater(t, c.datagrams.Load(), int64(10*changes))
	assert.Equal(t, changes, r.udpStatus().Reloads)
}
