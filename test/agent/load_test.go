package agent

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/agent/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// tally counts what clients did, and keeps what went wrong.
type tally struct {
	exchanges, connects, datagrams, again atomic.Int64

	mu       sync.Mutex
	failures []string
}

func (c *tally) failed(what string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failures = append(c.failures, what+": "+err.Error())
}

// holds exchanges data on one connection until told to stop.
func (c *tally) holds(port int, pause time.Duration, stop <-chan struct{}) {
	conn, err := net.DialTimeout("tcp", address(port), 5*time.Second)
	if err != nil {
		c.failed("opening a connection to hold", err)
		return
	}
	defer func() { _ = conn.Close() }()
	for i := 0; ; i++ {
		if err := exchange(conn, "held "+strconv.Itoa(i)); err != nil {
			c.failed("held connection", err)
			return
		}
		c.exchanges.Add(1)
		select {
		case <-stop:
			return
		case <-time.After(pause):
		}
	}
}

// opens opens connections, one after the other.
func (c *tally) opens(port int, stop <-chan struct{}) {
	for i := 0; !stopped(stop); i++ {
		if err := says(port, "new "+strconv.Itoa(i)); err != nil {
			c.failed("new connection", err)
		}
		c.connects.Add(1)
		time.Sleep(5 * time.Millisecond)
	}
}

// asks sends datagrams and wants each back, on a socket of its own every few times.
// A question is asked twice: nginx drops the answers that its old workers still wait
// for when they are told to end, which no configuration changes.
func (c *tally) asks(port int, stop <-chan struct{}) {
	for i := 0; !stopped(stop); i += 20 {
		conn, err := net.Dial("udp", address(port))
		if err != nil {
			c.failed("opening a UDP socket", err)
			return
		}
		for j := range 20 {
			question := fmt.Sprintf("question %08d", i+j)
			if ask(conn, question, 500*time.Millisecond) != nil {
				c.again.Add(1)
				if err := ask(conn, question, 5*time.Second); err != nil {
					c.failed("second try of a datagram", err)
				}
			}
			c.datagrams.Add(1)
			time.Sleep(5 * time.Millisecond)
		}
		_ = conn.Close()
	}
}

// ask passes over late answers to earlier questions.
func ask(conn net.Conn, question string, patience time.Duration) error {
	if err := conn.SetDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte(question)); err != nil {
		return err
	}
	answer := make([]byte, 64)
	for {
		n, err := conn.Read(answer)
		if err != nil || string(answer[:n]) == question {
			return err
		}
	}
}

func stopped(stop <-chan struct{}) bool {
	select {
	case <-stop:
		return true
	default:
		return false
	}
}

// memoryOf is the resident memory of a process in KiB.
func memoryOf(pid int) int {
	text, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "smaps_rollup"))
	for line := range bytes.Lines(text) {
		// Shared pages are divided among those who share them.
		if fields := strings.Fields(string(line)); len(fields) > 1 && fields[0] == "Pss:" {
			n, _ := strconv.Atoi(fields[1])
			return n
		}
	}
	return 0
}

func (r *rig) processes() nginx.Processes {
	return nginx.Processes{PIDFile: filepath.Join(r.shared, bundle.PIDFile), Proc: "/proc"}
}

func TestNoConnectionIsLostWhileTheConfigurationChanges(t *testing.T) {
	r := newRig(t)
	held, changes := 500, 100
	if testing.Short() {
		held, changes = 50, 15
	}
	tcp, udp := echoTCP(t), echoUDP(t)
	unchanged := l4.Table{
		rule(l4.TCP, freePort(t), tcp, "held"),
		rule(l4.TCP, freePort(t), tcp, "opened"),
		rule(l4.UDP, freePort(t), udp, "asked"),
	}
	unchanged[2].IdleTimeout = time.Second
	heldPort, openedPort, askedPort := int(unchanged[0].Port), int(unchanged[1].Port), int(unchanged[2].Port)
	var others []int
	for range 10 {
		others = append(others, freePort(t))
	}
	r.start(unchanged)

	var c tally
	stop := make(chan struct{})
	var clients sync.WaitGroup
	for range held {
		clients.Go(func() { c.holds(heldPort, 500*time.Millisecond, stop) })
	}
	for range 2 {
		clients.Go(func() { c.opens(openedPort, stop) })
		clients.Go(func() { c.asks(askedPort, stop) })
	}
	r.eventually("all connections are open", func() bool { return c.exchanges.Load() >= int64(held) })

	processes := r.processes()
	peak, memory := 0, 0
	refusals := 0
	started := time.Now()
	done := 0
	for i := range changes {
		if time.Since(started) > time.Minute {
			break // a slow machine
		}
		// Listeners come, go, and lead elsewhere.
		table := slices.Clone(unchanged)
		for j, port := range others {
			if (i+j)%3 != 0 {
				name := "other" + strconv.Itoa((i+j)%7)
				table = append(table, rule(l4.TCP, port, tcp, name))
			}
		}
		if i%10 == 5 {
			files := r.files(table)
			files[bundle.MainFile] += "nonsense " + strconv.Itoa(i) + ";\n"
			r.show(files)
			refusals++
			r.eventually("the broken configuration is refused", func() bool { return r.agent.Status().Refusals == refusals })
		}
		r.change(table)
		done++
		// Some connections of each configuration stay, so that old workers do.
		clients.Go(func() { c.holds(heldPort, 500*time.Millisecond, stop) })
		workers, err := processes.Workers()
		require.NoError(t, err)
		if old := len(workers) - 1; old > peak {
			peak, memory = old, 0
			for _, w := range workers[:old] {
				memory += memoryOf(w.PID)
			}
		}
	}
	took := time.Since(started)
	close(stop)
	clients.Wait()

	t.Logf("%d changes in %s, %d broken ones refused; %d exchanges on %d connections, %d new connections, %d datagrams of which %d twice; at most %d old workers with %d KiB together",
		done, took.Round(time.Millisecond), refusals, c.exchanges.Load(), held+done, c.connects.Load(), c.datagrams.Load(), c.again.Load(), peak, memory)
	assert.Empty(t, c.failures)
	assert.GreaterOrEqual(t, done, changes/2)
	assert.LessOrEqual(t, c.again.Load(), int64(2*r.agent.Status().Reloads), "each reload ends at most what each of the askers waits for")
	assert.Positive(t, peak)
	r.eventually("the last old worker ends", func() bool { return r.agent.Status().OldWorkers == 0 })
	assert.Zero(t, r.agent.Status().EndedWorkers)
}

// oneAccepts waits until there are so many old workers and one other. Until the worker
// before is asked to end, and a moment longer, it takes connections too.
func (r *rig) oneAccepts(old int) {
	r.t.Helper()
	r.eventually("one worker accepts", func() bool {
		workers, err := r.processes().Workers()
		if err != nil || len(workers) != old+1 {
			return false
		}
		return !slices.ContainsFunc(workers[:old], func(w nginx.Worker) bool { return !w.Old }) && !workers[old].Old
	})
	time.Sleep(200 * time.Millisecond)
}

func TestOldWorkersAreBounded(t *testing.T) {
	r := newRig(t)
	r.config.MaxOldWorkers = 2
	tcp := echoTCP(t)
	table := l4.Table{rule(l4.TCP, freePort(t), tcp, "held")}
	r.start(table)
	var held []net.Conn
	for i := range 5 {
		r.oneAccepts(min(i, 2))
		conn, err := net.Dial("tcp", address(int(table[0].Port)))
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		require.NoError(t, exchange(conn, "hello"))
		held = append(held, conn)
		r.change(append(slices.Clone(table), rule(l4.TCP, freePort(t), tcp, "other"+strconv.Itoa(i))))
	}
	r.eventually("the oldest are ended", func() bool { s := r.agent.Status(); return s.EndedWorkers == 3 && s.OldWorkers == 2 })
	for i, conn := range held {
		if err := exchange(conn, "hello"); i < 3 {
			require.Error(t, err, "connection %d was of a worker that was ended", i)
		} else {
			require.NoError(t, err, "connection %d", i)
		}
	}
	assert.Equal(t, 3.0, r.scrape()["tcpingress_agent_ended_workers_total"])
}

func TestNoSessionIsLostWhileTheLogIsRotated(t *testing.T) {
	r := newRig(t)
	r.options.LogSize = 20_000
	each := 600
	if testing.Short() {
		each = 150
	}
	tcp := echoTCP(t)
	table := l4.Table{rule(l4.TCP, freePort(t), tcp, "one"), rule(l4.TCP, freePort(t), tcp, "two")}
	r.start(table)
	// A buffer that is written at once makes more of a race than one a second.
	unbuffered := func(files map[string]string) map[string]string {
		for name, text := range files {
			files[name] = strings.ReplaceAll(text, " buffer=64k flush=1s", "")
		}
		return files
	}
	before := r.agent.Status().Live
	r.show(unbuffered(r.files(table)))
	r.eventually("it is live", func() bool { s := r.agent.Status(); return s.Live != "" && s.Live != before })

	var c tally
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for j := range each {
				if err := says(int(table[i%2].Port), strconv.Itoa(j)); err != nil {
					c.failed("new connection", err)
				}
			}
		})
	}
	done := make(chan struct{})
	go func() { clients.Wait(); close(done) }()
	log := filepath.Join(r.shared, bundle.AccessLog)
	rotations, reloads := 0, 0
	rotating := false
	for i := 0; !stopped(done); i++ {
		_, err := os.Stat(log + ".1")
		if rotating && err != nil {
			rotations++
		}
		rotating = err == nil
		switch i % 100 {
		case 50: // the agent ends at any moment
			r.endAgent()
			r.startAgent()
		case 90:
			reloads++
			r.show(unbuffered(r.files(append(slices.Clone(table), rule(l4.TCP, freePort(t), tcp, "other")))))
		}
		time.Sleep(3 * time.Millisecond)
	}
	assert.Empty(t, c.failures)
	series := func(port int32, name string) string {
		return fmt.Sprintf(`tcpingress_listener_sessions_total{listener="%d/TCP",owner="data/%s/rule"}`, port, name)
	}
	want := float64(4 * each)
	r.eventually("all sessions are counted", func() bool {
		m := r.scrape()
		return m[series(table[0].Port, "one")] >= want && m[series(table[1].Port, "two")] >= want
	})
	time.Sleep(200 * time.Millisecond)
	m := r.scrape()
	assert.Equal(t, want, m[series(table[0].Port, "one")])
	assert.Equal(t, want, m[series(table[1].Port, "two")])
	assert.Zero(t, m["tcpingress_agent_broken_log_lines_total"])
	assert.Positive(t, rotations)
	t.Logf("%d sessions, all counted; at least %d rotations, %d reloads", 8*each, rotations, reloads)
}

func TestOldWorkersWithoutConnectionsAreEndedFirst(t *testing.T) {
	r := newRig(t)
	r.config.MaxOldWorkers = 1
	tcp, udp := echoTCP(t), echoUDP(t)
	table := l4.Table{rule(l4.TCP, freePort(t), tcp, "held"), rule(l4.UDP, freePort(t), udp, "asked")}
	r.start(table)
	held, err := net.Dial("tcp", address(int(table[0].Port)))
	require.NoError(t, err)
	defer func() { _ = held.Close() }()
	require.NoError(t, exchange(held, "hello"))
	for i := range 2 {
		r.oneAccepts(i)
		// A session that nobody ends keeps the worker for ten minutes.
		conn, err := net.Dial("udp", address(int(table[1].Port)))
		require.NoError(t, err)
		defer func() { _ = conn.Close() }()
		require.NoError(t, ask(conn, "question", time.Second))
		r.change(append(slices.Clone(table), rule(l4.TCP, freePort(t), tcp, "other"+strconv.Itoa(i))))
	}
	r.eventually("one is ended", func() bool { s := r.agent.Status(); return s.EndedWorkers == 1 && s.OldWorkers == 1 })
	require.NoError(t, exchange(held, "hello"), "it is the oldest worker that has the connection")
}
