package agent

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// A port comes, becomes a range, and goes; afterwards it is anybody's.
func TestPortOfUDPThatBecomesARange(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	backend := newHearing(t)
	r.start(nil)
	port := freePort(t)
	for next := freePort(t); next != port+1; next = freePort(t) {
		port = next
	}
	single, ranged := rule(l4.UDP, port, backend.port, "dns"), rule(l4.UDP, port, 0, "dns")
	ranged.EndPort = int32(port + 1)
	single.IdleTimeout, ranged.IdleTimeout = 300*time.Millisecond, 300*time.Millisecond
	for i := range 3 {
		r.change(l4.Table{single})
		require.NoError(t, asked(t, port, "question "+strconv.Itoa(i)))
		r.change(l4.Table{ranged})
		r.change(nil)
		require.Error(t, ask(dialUDP(t, port), "question", 100*time.Millisecond))
	}
	isFree := func(port int) bool {
		conn, err := net.ListenPacket("udp", ":"+strconv.Itoa(port))
		if err != nil {
			return false
		}
		return conn.Close() == nil
	}
	r.change(l4.Table{single})
	require.NoError(t, asked(t, port, "question"))
	r.eventually("the second port is free", func() bool { return isFree(port + 1) })
	require.False(t, isFree(port))
	r.change(nil)
	r.eventually("the first port is free", func() bool { return isFree(port) })
	assert.Equal(t, 1, r.udpRunning())
}

// Several nginx write one log, which is begun anew all the time.
func TestSessionsOfUDPAreCountedOnce(t *testing.T) {
	r := newRig(t)
	r.options.LogSize = 5000
	backend := newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), backend.port, "dns")}
	table[0].IdleTimeout = 300 * time.Millisecond
	r.start(table)
	var c tally
	var clients sync.WaitGroup
	stop := make(chan struct{})
	for range 4 {
		clients.Go(func() {
			for !stopped(stop) {
				// With an address of its own it is a session of its own.
				n := c.connects.Add(1)
				dialer := net.Dialer{LocalAddr: &net.UDPAddr{IP: net.IPv4(127, byte(n>>16)+1, byte(n>>8), byte(n))}}
				conn, err := dialer.Dial("udp", address(int(table[0].Port)))
				if err != nil {
					c.failed("opening a UDP socket", err)
					return
				}
				if err := ask(conn, "question", patience); err != nil {
					c.failed("question", err)
				}
				_ = conn.Close()
			}
		})
	}
	rotations, rotating := 0, false
	for i := range 12 {
		r.change(append(l4.Table{table[0]}, rule(l4.UDP, freePort(t), backend.port, "other"+strconv.Itoa(i))))
		for range 20 {
			_, err := os.Stat(filepath.Join(r.shared, bundle.AccessLog+".1"))
			if rotating && err != nil {
				rotations++
			}
			rotating = err == nil
			time.Sleep(3 * time.Millisecond)
		}
	}
	close(stop)
	clients.Wait()
	assert.Empty(t, c.failures)
	series := fmt.Sprintf(`tcpingress_listener_sessions_total{listener="%d/UDP",owner="data/dns/rule"}`, table[0].Port)
	sessions := float64(c.connects.Load())
	r.eventually("all sessions are counted", func() bool { return r.scrape()[series] >= sessions })
	r.eventually("the last nginx that was followed ends", func() bool { return r.udpRunning() == 1 })
	got := r.scrape()
	t.Logf("%.0f sessions, %d rotations", sessions, rotations)
	assert.InDelta(t, sessions, got[series], 0)
	assert.Zero(t, got["tcpingress_agent_broken_log_lines_total"])
	assert.Positive(t, rotations)
}

// The pod is killed while one nginx follows another.
func TestAgentAndSupervisorThatAreKilled(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	backend := newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), backend.port, "dns")}
	table[0].IdleTimeout = 300 * time.Millisecond
	r.start(table)
	for i := range 4 {
		require.NoError(t, asked(t, int(table[0].Port), "question"))
		r.change(append(l4.Table{table[0]}, rule(l4.UDP, freePort(t), backend.port, "one"+strconv.Itoa(i))))
		other := rule(l4.UDP, freePort(t), backend.port, "two"+strconv.Itoa(i))
		other.IdleTimeout = 300 * time.Millisecond
		r.show(r.files(append(l4.Table{table[0]}, other)))
		time.Sleep(time.Duration(i) * 25 * time.Millisecond) // it is linked, or signalled, or live
		require.NoError(t, r.udp.cmd.Process.Kill())
		<-r.udp.exited
		r.endAgent()
		r.startAgent()
		r.startUDP()
		r.hasItsOwnNginx()
		r.eventually("what was shown is live", func() bool { return ask(dialUDP(t, int(other.Port)), "question", 100*time.Millisecond) == nil })
		require.NoError(t, asked(t, int(table[0].Port), "question"))
		r.eventually("one nginx is left", func() bool { return r.udpRunning() == 1 })
	}
}
