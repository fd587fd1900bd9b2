package agent

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/agent/generation"
	"github.com/nginx-stream/tcpingress/agent/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Whoever asks for another nginx all the time does not keep it from ending.
func TestSignalToEndIsNotLost(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	table := l4.Table{rule(l4.UDP, freePort(t), newHearing(t).port, "dns")}
	table[0].IdleTimeout = time.Second
	r.start(table)
	r.endAgent()
	// An nginx that does not answer is waited for.
	store := generation.Store{Dir: filepath.Join(r.shared, bundle.UDPDir)}
	require.NoError(t, store.Write(&generation.Generation{Name: "silent", Files: map[string]string{bundle.MainFile: "events {}\n"}}))
	require.NoError(t, store.Link("silent"))
	for range 100 {
		require.NoError(t, r.udp.cmd.Process.Signal(syscall.SIGHUP))
		require.NoError(t, r.udp.cmd.Process.Signal(syscall.SIGUSR1))
		time.Sleep(2 * time.Millisecond)
	}
	require.NoError(t, r.udp.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-r.udp.exited:
		r.udp = nil
	case <-time.After(20 * time.Second):
		assert.Fail(t, "it does not end")
	}
}

// What came after nginx died waits, also if the next one has another configuration.
func TestKilledNginxForUDPIsFollowed(t *testing.T) {
	r := newRig(t)
	backend := newHearing(t)
	table := l4.Table{rule(l4.UDP, freePort(t), backend.port, "dns")}
	r.start(table)
	r.endAgent()
	store := generation.Store{Dir: filepath.Join(r.shared, bundle.UDPDir)}
	first := store.Linked()
	for i := range 5 {
		g, err := store.Load(first)
		require.NoError(t, err)
		name := strings.Repeat(strconv.Itoa(i), len(first))
		for file, text := range g.Files {
			g.Files[file] = strings.ReplaceAll(text, first, name)
		}
		g.Name = name
		require.NoError(t, store.Write(g))
		require.NoError(t, store.Link(name))
		require.NoError(t, syscall.Kill(-r.udpMaster(), syscall.SIGKILL))
		time.Sleep(10 * time.Millisecond)
		var conns []net.Conn
		for range 10 {
			conn := dialUDP(t, int(table[0].Port))
			_, err := conn.Write([]byte("question"))
			require.NoError(t, err)
			conns = append(conns, conn)
		}
		require.NoError(t, r.udp.cmd.Process.Signal(syscall.SIGHUP))
		for _, conn := range conns {
			require.NoError(t, answer(conn, "question", patience))
		}
		// The answers may be those of one that was started again before the signal came.
		r.eventually("the next one serves", func() bool {
			served, err := nginx.Ask(t.Context(), store.Socket(name), patience)
			return err == nil && served == name
		})
	}
}

// A refused generation leaves nothing.
func TestSocketOfARefusedGenerationIsRemoved(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.options.AnswerTimeout = 6 * time.Second
	table := l4.Table{rule(l4.UDP, freePort(t), newHearing(t).port, "dns")}
	r.start(table)
	files := r.files(table)
	main := files[bundle.UDPFile]
	files[bundle.UDPFile] = strings.Replace(main, "include "+bundle.GenerationFile+";", "", 1)
	require.NotEqual(t, main, files[bundle.UDPFile])
	r.show(files)
	r.eventually("what does not answer is refused", func() bool { return r.udpStatus().Refused != nil })
	left, err := filepath.Glob(filepath.Join(r.shared, bundle.UDPDir, "gen-*"))
	require.NoError(t, err)
	assert.Equal(t, []string{filepath.Join(r.shared, bundle.UDPDir, bundle.GenerationSocket(r.udpStatus().Live))}, left)
	_, err = os.Stat(left[0])
	require.NoError(t, err)
}

// One nginx has more workers than old ones may live. Nobody loses an answer by that.
func TestMoreWorkersThanOldOnesMayLive(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.config.Workers, r.config.MaxOldWorkers = 4, 2
	backend := newHearing(t)
	port := freePort(t)
	tableOf := func(change int) l4.Table {
		l := rule(l4.UDP, port, backend.port, "dns"+strconv.Itoa(change))
		l.IdleTimeout = 30 * time.Second
		return l4.Table{l}
	}
	r.start(tableOf(0))
	var c tally
	var clients sync.WaitGroup
	stop := make(chan struct{})
	for range 8 {
		clients.Go(func() { c.asks(backend, slow, port, stop) })
	}
	const changes = 5
	for i := range changes {
		r.change(tableOf(i + 1))
		time.Sleep(2 * slowness)
	}
	close(stop)
	clients.Wait()
	assert.Empty(t, c.failures)
	r.eventually("those before are ended", func() bool { return r.udpRunning() == 2 && r.udpStatus().OldWorkers == 4 })
}

// Nobody says again that it shall be served.
func TestFirstConfigurationOfUDPIsTriedAgain(t *testing.T) {
	t.Parallel()
	r := newRig(t) // the agent tries again after an hour
	port := freePort(t)
	taken, err := net.ListenPacket("udp", ":"+strconv.Itoa(port))
	require.NoError(t, err)
	r.show(r.files(l4.Table{rule(l4.UDP, port, echoUDP(t), "dns")}))
	r.startAgent()
	r.startUDP()
	r.eventually("it is refused", func() bool { return r.udpStatus().Refused != nil })
	require.NoError(t, taken.Close())
	r.eventually("it is served", func() bool { return ask(dialUDP(t, port), "question", 100*time.Millisecond) == nil })
	r.eventually("it is live", func() bool { return r.udpStatus().Live != "" })
}
