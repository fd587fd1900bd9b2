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
	exchanges, connects, datagrams atomic.Int64
	// askers numbers them, so that no question is asked by two.
	askers atomic.Int64

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

// patience is how long an answer may take, on a machine that is busy with other things.
const patience = 5 * time.Second

// asks sends questions, each on a socket of its own every few times, and wants every
// answer at the first try.
func (c *tally) asks(backend *hearing, kind string, port int, stop <-chan struct{}) {
	c.asksAt(backend, kind, address(port), stop)
}

func (c *tally) asksAt(backend *hearing, kind, to string, stop <-chan struct{}) {
	asker := c.askers.Add(1)
	for i := 0; !stopped(stop); i += 20 {
		conn, err := net.Dial("udp", to)
		if err != nil {
			c.failed("opening a UDP socket", err)
			return
		}
		for j := 0; j < 20 && !stopped(stop); j++ {
			question := fmt.Sprintf("%s %d.%08d", kind, asker, i+j)
			if err := ask(conn, question, patience); err != nil {
				what := "question that the backend never heard"
				if backend.heard(question) {
					what = "answer to a question that the backend heard"
				}
				c.failed(what, err)
			}
			c.datagrams.Add(1)
			time.Sleep(5 * time.Millisecond)
		}
		_ = conn.Close()
	}
}

// Kinds of questions.
const (
	quick = "quick"
	// slow takes the backend slowness to answer, so that there is always one that waits.
	slow     = "slow"
	slowness = 300 * time.Millisecond
)

// hearing is a UDP echo that remembers what it heard, and from how many clients.
type hearing struct {
	port int
	mu   sync.Mutex
	all  map[string]bool
	from map[string]bool
}

func newHearing(t *testing.T) *hearing {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	h := &hearing{port: conn.LocalAddr().(*net.UDPAddr).Port, all: map[string]bool{}, from: map[string]bool{}}
	go func() {
		buffer := make([]byte, 4096)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			h.mu.Lock()
			text := string(buffer[:n])
			h.all[text], h.from[from.String()] = true, true
			h.mu.Unlock()
			answer := func() { _, _ = conn.WriteTo([]byte(text), from) }
			if strings.HasPrefix(text, slow) {
				time.AfterFunc(slowness, answer)
			} else {
				answer()
			}
		}
	}()
	return h
}

func (h *hearing) heard(question string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.all[question]
}

func (h *hearing) clients() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.from)
}

// ask sends a question and wants its answer.
func ask(conn net.Conn, question string, patience time.Duration) error {
	if err := conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	if _, err := conn.Write([]byte(question)); err != nil {
		return err
	}
	return answer(conn, question, patience)
}

// answer passes over late answers to earlier questions.
func answer(conn net.Conn, question string, patience time.Duration) error {
	if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
		return err
	}
	text := make([]byte, 64)
	for {
		n, err := conn.Read(text)
		if err != nil || string(text[:n]) == question {
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
	r.eventually("the oldest are ended", func() bool { s := r.status(); return s.EndedWorkers == 3 && s.OldWorkers == 2 })
	for i, conn := range held {
		if err := exchange(conn, "hello"); i < 3 {
			require.Error(t, err, "connection %d was of a worker that was ended", i)
		} else {
			require.NoError(t, err, "connection %d", i)
		}
	}
	assert.Equal(t, 3.0, r.scrape()["tcpingress_agent_ended_workers_total{protocol=\"TCP\"}"])
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
	before := r.status().Live
	r.show(unbuffered(r.files(table)))
	r.eventually("it is live", func() bool { s := r.status(); return s.Live != "" && s.Live != before })

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
