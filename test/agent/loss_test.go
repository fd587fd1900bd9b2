package agent

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// traffic is what goes on while the configuration changes: connections that are held,
// new ones, and questions by UDP, all to listeners that stay as they are.
type traffic struct {
	*rig
	tally
	tcp       int // the backend's port
	unchanged l4.Table
	others    []int
	backend   *hearing
	stop      chan struct{}
	clients   sync.WaitGroup
	held      int

	changes, refusals int
	reported          map[string]int
	// peak is the most old workers that there were, and memory what they had, in KiB.
	peak, memory int
	// packetsPeak is that of nginx for UDP.
	packetsPeak int
}

func (l *traffic) port(i int) int { return int(l.unchanged[i].Port) }

func (l *traffic) hold(n int) {
	for range n {
		l.held++
		l.clients.Go(func() { l.holds(l.port(0), 500*time.Millisecond, l.stop) })
	}
}

func newTraffic(t *testing.T, held int) *traffic {
	t.Helper()
	r := newRig(t)
	r.options.AnswerTimeout = 4 * time.Second // nginx tries to bind for 2.5 s
	l := &traffic{rig: r, tcp: echoTCP(t), backend: newHearing(t), stop: make(chan struct{}), reported: map[string]int{}}
	l.unchanged = l4.Table{
		rule(l4.TCP, freePort(t), l.tcp, "held"),
		rule(l4.TCP, freePort(t), l.tcp, "opened"),
		rule(l4.UDP, freePort(t), l.backend.port, "asked"),
	}
	l.unchanged[2].IdleTimeout = 2 * time.Second
	for range 10 {
		l.others = append(l.others, freePort(t))
	}
	r.show(l.filesOf(l.unchanged, "$binary_remote_addr"))
	r.startAgent()
	r.startNginx()
	r.startUDP()
	r.eventually("the first generation is live", func() bool { return r.live() != "" })
	l.hold(held)
	for range 2 {
		l.clients.Go(func() { l.opens(l.port(1), l.stop) })
		l.clients.Go(func() { l.asks(l.backend, quick, l.port(2), l.stop) })
	}
	for range 20 {
		l.clients.Go(func() { l.asks(l.backend, slow, l.port(2), l.stop) })
	}
	r.eventually("all connections are open", func() bool { return l.exchanges.Load() >= int64(held) })
	return l
}

// filesOf has a zone that is kept as long as its key is, and lets nginx tell of answers
// that it drops.
func (l *traffic) filesOf(table l4.Table, key string) map[string]string {
	files := l.files(table)
	main := strings.TrimSuffix(files[bundle.MainFile], "}\n")
	files[bundle.UDPFile] = strings.Replace(files[bundle.UDPFile], bundle.UDPErrorLog+" warn;", bundle.UDPErrorLog+" info;", 1)
	files[bundle.MainFile] = main + "    limit_conn_zone " + key + " zone=kept:64k;\n}\n"
	return files
}

// tableOf lets listeners come, go, and lead elsewhere.
func (l *traffic) tableOf(change int) l4.Table {
	table := slices.Clone(l.unchanged)
	for i, port := range l.others {
		if (change+i)%3 != 0 {
			name := "other" + strconv.Itoa((change+i)%7)
			table = append(table, rule(l4.TCP, port, l.tcp, name))
			packets := rule(l4.UDP, port, l.backend.port, name)
			packets.IdleTimeout = time.Second
			table = append(table, packets)
		}
	}
	return table
}

func (l *traffic) change(change int) {
	l.t.Helper()
	l.changeTo(l.filesOf(l.tableOf(change), "$binary_remote_addr"))
	l.eventually("nothing is refused any more", func() bool { return l.status().Refused == nil })
	l.changes++
	// Some connections of each configuration stay, so that old workers do.
	l.hold(1)
	workers, err := l.processes().Workers()
	require.NoError(l.t, err)
	packets, err := l.udpProcesses().Workers()
	require.NoError(l.t, err)
	l.packetsPeak = max(l.packetsPeak, len(packets)-1)
	if old := len(workers) - 1; old > l.peak {
		l.peak, l.memory = old, 0
		for _, w := range workers[:old] {
			l.memory += memoryOf(w.PID)
		}
	}
}

// refused shows files that nginx cannot load, and wants nginx's own words for it
// wherever people look, while what was live goes on.
func (l *traffic) refused(fault string, files map[string]string, want string) {
	l.t.Helper()
	live := l.status().Live
	l.show(files)
	l.refusals++
	l.eventually(fault+" is refused", func() bool { return l.status().Refusals == l.refusals })
	assert.Regexp(l.t, want, l.status().Refused.Reason)
	code, body := l.get("/readyz")
	assert.Equal(l.t, http.StatusOK, code)
	assert.Regexp(l.t, `^TCP: Generation `+live+` is live since .*\nTCP: Generation [0-9a-f]{16} was refused at \S+: `+want, body)
	var named int
	series := regexp.MustCompile(`^tcpingress_agent_refused_generation_info\{generation="[0-9a-f]{16}",protocol="TCP",reason="` + want)
	for name, value := range l.scrape() {
		if series.MatchString(strings.ReplaceAll(name, `\"`, `"`)) && value == 1 {
			named++
		}
	}
	assert.Equal(l.t, 1, named, "the metric has nginx's words for %s", fault)
	l.reported[fault]++
}

// fault shows what nginx cannot load, wants it refused, and undoes what it did to the
// machine.
func (l *traffic) fault(fault string, change int) {
	l.t.Helper()
	table := l.tableOf(change)
	const key = "$binary_remote_addr"
	port := freePort(l.t)
	withPort := l.filesOf(append(table, rule(l4.TCP, port, l.tcp, "refused")), key)
	inUse := `\[emerg\] bind\(\) to \S+:` + strconv.Itoa(port) + ` failed \(98: Address already in use\)`
	switch fault {
	case "broken":
		files := l.filesOf(table, key)
		files[bundle.MainFile] += "nonsense " + strconv.Itoa(change) + ";\n"
		l.refused(fault, files, `\[emerg\] unknown directive "nonsense" in \S+`)
	case "port taken":
		taken, err := net.Listen("tcp", ":"+strconv.Itoa(port))
		require.NoError(l.t, err)
		defer func() { _ = taken.Close() }()
		l.refused(fault, withPort, inUse)
	case "outgoing connection":
		dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}}
		conn, err := dialer.Dial("tcp", address(l.tcp))
		require.NoError(l.t, err)
		defer func() { _ = conn.Close() }()
		l.refused(fault, withPort, inUse)
	case "zone key":
		l.refused(fault, l.filesOf(table, "$remote_port"), `\[emerg\] limit_conn_zone "kept" uses the "\$remote_port" key while previously it used the "\$binary_remote_addr" key`)
	}
}

// dropped is how many UDP answers nginx says it did not pass on: a worker that is told
// to end closes the socket that it would send them from.
func (l *traffic) dropped() int {
	l.t.Helper()
	text, err := os.ReadFile(filepath.Join(l.shared, bundle.UDPErrorLog))
	require.NoError(l.t, err)
	return bytes.Count(text, []byte("disconnected on shutdown"))
}

// killed ends nginx as a lack of memory would, with all connections, and wants the
// agent to follow the next one.
func (l *traffic) killed() {
	l.t.Helper()
	const connections = 100
	var lost tally
	var clients sync.WaitGroup
	for range connections {
		clients.Go(func() { lost.holds(l.port(0), 100*time.Millisecond, l.t.Context().Done()) })
	}
	l.eventually("all connections are open", func() bool { return lost.exchanges.Load() >= connections })
	starts := l.status().Starts
	l.endNginx()
	clients.Wait()
	l.eventually("the agent notices", func() bool { return !l.status().Running })
	code, body := l.get("/readyz")
	assert.Equal(l.t, http.StatusServiceUnavailable, code)
	assert.Contains(l.t, body, "nginx is not running.")
	restarted := time.Now()
	l.startNginx()
	l.eventually("it is live again", func() bool { s := l.status(); return s.Live != "" && s.Starts == starts+1 })
	took := time.Since(restarted)
	require.NoError(l.t, says(l.port(1), "hello"))
	l.change(l.changes)
	assert.Len(l.t, lost.failures, connections)
	l.reported["killed"]++
	l.t.Logf("nginx was killed: %d of %d connections lost, live again %s after its start", len(lost.failures), connections, took.Round(time.Millisecond))
}

// counted wants the metrics to be what the clients did: old workers too write what they
// know of sessions before they end.
func (l *traffic) counted() {
	l.t.Helper()
	series := func(i int, name string) string {
		return fmt.Sprintf(`tcpingress_listener_sessions_total{listener="%d/TCP",owner="data/%s/rule"}`, l.port(i), name)
	}
	want := map[string]float64{series(0, "held"): float64(l.held), series(1, "opened"): float64(l.connects.Load())}
	l.eventually("all sessions are counted", func() bool {
		got := l.scrape()
		for name, value := range want {
			if got[name] < value {
				return false
			}
		}
		return true
	})
	got := l.scrape()
	for name, value := range want {
		assert.InDelta(l.t, value, got[name], 0, name)
	}
	assert.Zero(l.t, got["tcpingress_agent_broken_log_lines_total"])
}

func TestNoConnectionIsLostWhileTheConfigurationChanges(t *testing.T) {
	held, changes := 500, 100
	if testing.Short() {
		held, changes = 50, 15
	}
	l := newTraffic(t, held)
	faults := map[int]string{changes / 5: "port taken", 2 * changes / 5: "zone key", 3 * changes / 5: "outgoing connection"}
	started := time.Now()
	for i := range changes {
		if time.Since(started) > time.Minute {
			break // a slow machine
		}
		switch {
		case faults[i] != "":
			l.fault(faults[i], i)
		case i%10 == 5:
			l.fault("broken", i)
		}
		l.change(i)
	}
	took := time.Since(started)
	open := fmt.Sprintf(`tcpingress_listener_open_connections{listener="%d/TCP"}`, l.port(0))
	l.eventually("the kernel has what is held", func() bool { return l.scrape()[open] == float64(l.held) })
	close(l.stop)
	l.clients.Wait()

	t.Logf("%d changes in %s, refused between them: %v", l.changes, took.Round(time.Millisecond), l.reported)
	t.Logf("TCP: %d exchanges on %d connections that were held, %d new connections, failed: %d", l.exchanges.Load(), l.held, l.connects.Load(), len(l.failures))
	t.Logf("UDP: %d questions, each answered at the first try; at most %d of nginx at a time, which say that they dropped %d answers", l.datagrams.Load(), 1+l.packetsPeak, l.dropped())
	t.Logf("at most %d old workers with %d KiB together", l.peak, l.memory)
	assert.Empty(t, l.failures)
	assert.GreaterOrEqual(t, l.changes, changes/2)
	assert.Zero(t, l.dropped())
	assert.Greater(t, l.datagrams.Load(), int64(10*l.changes))
	assert.GreaterOrEqual(t, l.packetsPeak, 2, "they follow each other while others still have sessions")
	assert.Positive(t, l.peak)
	l.eventually("the last old worker ends", func() bool { return l.status().OldWorkers == 0 })
	assert.Zero(t, l.status().EndedWorkers)
	l.counted()

	l.killed() // what is held from now on goes at once
	l.clients.Wait()
	assert.Empty(t, l.failures)
	for _, fault := range []string{"broken", "port taken", "zone key", "outgoing connection", "killed"} {
		assert.Positive(t, l.reported[fault], "%s happened", fault)
	}
}
