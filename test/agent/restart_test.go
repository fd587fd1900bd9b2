package agent

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Prometheus takes a counter that falls for one that began anew, and adds all of it
// once more.
func TestCountersNeverFallWhenTheAgentStarts(t *testing.T) {
	r := newRig(t)
	r.options.SaveInterval = time.Hour // saved only when it ends
	backend, port := echoTCP(t), freePort(t)
	r.start(l4.Table{rule(l4.TCP, port, backend, "one")})
	series := fmt.Sprintf(`tcpingress_listener_sessions_total{listener="%d/TCP",owner="data/one/rule"}`, port)
	r.logMany(2000)
	for sessions := range 2 {
		require.NoError(t, says(port, "hello"))
		want := float64(sessions + 1)
		r.eventually("the session is counted", func() bool { return r.scrape()[series] == want })
		r.endAgent()
		r.startAgent()
		first, found := r.scrape()[series]
		require.True(t, found, "the first scrape has the series")
		require.InDelta(t, want, first, 0, "the first scrape has what was counted")
		code, _ := r.get("/readyz")
		require.Equal(t, http.StatusOK, code, "nginx was live all the time")
	}
}

// An agent that is killed has saved its counters some seconds before.
func TestCountersNeverFallWhenTheAgentWasKilled(t *testing.T) {
	r := newRig(t)
	backend, port := echoTCP(t), freePort(t)
	r.start(l4.Table{rule(l4.TCP, port, backend, "one")})
	series := fmt.Sprintf(`tcpingress_listener_sessions_total{listener="%d/TCP",owner="data/one/rule"}`, port)
	state := filepath.Join(r.shared, bundle.AccessLog+".state")
	say := func(want float64) {
		require.NoError(t, says(port, "hello"))
		r.eventually("the session is counted", func() bool { return r.scrape()[series] == want })
	}
	say(1)
	r.eventually("it is saved", func() bool { _, err := os.Stat(state); return err == nil })
	r.endAgent()
	saved, err := os.ReadFile(state)
	require.NoError(t, err)
	r.startAgent()
	say(2)
	r.logMany(2000)
	for range 2 {
		r.endAgent()
		require.NoError(t, os.WriteFile(state, saved, 0o600))
		r.startAgent()
		require.InDelta(t, 2.0, r.scrape()[series], 0, "the first scrape has what was counted")
	}
}

// logMany writes what nginx would for a session of each of so many rules, so that it
// takes a while to take up what was counted.
func (r *rig) logMany(rules int) {
	r.t.Helper()
	log, err := os.OpenFile(filepath.Join(r.shared, bundle.AccessLog), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(r.t, err)
	var lines bytes.Buffer
	for i := range rules {
		_, _ = fmt.Fprintf(&lines, `{"t":1,"l":"%d/TCP","o":"data/many/rule%d","s":200,"d":1,"out":1,"rcv":1,"ua":"a:1","us":"1","ur":"1","uc":"0"}`+"\n", 1+i%65535, i)
	}
	_, err = log.Write(lines.Bytes())
	require.NoError(r.t, err)
	require.NoError(r.t, log.Close())
	last := fmt.Sprintf(`tcpingress_listener_sessions_total{listener="%d/TCP",owner="data/many/rule%d"}`, 1+(rules-1)%65535, rules-1)
	r.eventually("they are counted", func() bool { return r.scrape()[last] == 1 })
}

func TestTimeOfAGenerationOutlivesTheAgent(t *testing.T) {
	r := newRig(t)
	r.start(l4.Table{rule(l4.TCP, freePort(t), echoTCP(t), "one")})
	const series = `tcpingress_agent_live_since_timestamp_seconds{protocol="TCP"}`
	before := r.scrape()[series]
	assert.InDelta(t, float64(time.Now().Unix()), before, 30)
	time.Sleep(1500 * time.Millisecond)
	r.endAgent()
	r.startAgent()
	assert.InDelta(t, before, r.scrape()[series], 1)
}

func TestNginxThatEndsIsNotReady(t *testing.T) {
	r := newRig(t)
	backend, port := echoTCP(t), freePort(t)
	r.start(l4.Table{rule(l4.TCP, port, backend, "one")})
	held, err := net.Dial("tcp", address(port))
	require.NoError(t, err)
	defer func() { _ = held.Close() }()
	require.NoError(t, exchange(held, "hello"))

	require.NoError(t, syscall.Kill(r.nginx.Process.Pid, syscall.SIGQUIT))
	var code int
	var body string
	r.eventually("the probe tells that it ends", func() bool {
		code, body = r.get("/readyz")
		return strings.Contains(body, "nginx was asked to end, and waits for its last sessions.")
	})
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.NotContains(t, body, "TCP: Generation")
	require.NoError(t, exchange(held, "hello"), "the session goes on")
	assert.Zero(t, r.status().Reloads)
}

// Nothing is there to go back to. What keeps nginx from starting can be read.
func TestNginxThatNeverStartedSaysWhy(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	backend, port := echoTCP(t), freePort(t)
	taken, err := net.Listen("tcp", ":"+strconv.Itoa(port))
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	r.show(r.files(l4.Table{rule(l4.TCP, port, backend, "one")}))
	r.startAgent()
	r.startNginx()
	<-r.exited
	var body string
	r.eventually("the probe tells why", func() bool {
		_, body = r.get("/readyz")
		return strings.Contains(body, "Address already in use")
	})
	assert.Regexp(t, `^TCP: nginx is not running\. It said: \[emerg\] bind\(\) to \S+:`+strconv.Itoa(port)+` failed \(98: Address already in use\)\n`, body)

	require.NoError(t, taken.Close())
	r.startNginx()
	r.eventually("it is live", func() bool { return r.status().Live != "" })
	_, body = r.get("/readyz")
	assert.NotContains(t, body, "It said")
}

func TestRefusedGenerationsLeaveNothing(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.options.AnswerTimeout = 3 * time.Second
	backend, first, second := echoTCP(t), freePort(t), freePort(t)
	table := l4.Table{rule(l4.TCP, first, backend, "one")}
	r.start(table)
	pending := func() float64 { return r.scrape()["tcpingress_agent_pending_seconds{protocol=\"TCP\"}"] }
	r.eventually("nothing is pending", func() bool { return pending() == 0 })
	taken, err := net.Listen("tcp", ":"+strconv.Itoa(second))
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	for i := range 2 {
		r.show(r.files(append(table, rule(l4.TCP, second, backend, "two"+strconv.Itoa(i)))))
		r.eventually("it is refused", func() bool { return r.status().Refusals == i+1 })
	}
	r.eventually("only what is live is left", func() bool {
		left, err := filepath.Glob(filepath.Join(r.shared, "conf-*"))
		return err == nil && len(left) == 1
	})
	assert.Greater(t, pending(), 3.0, "what is mounted is not what is served")
	r.show(r.files(table))
	r.eventually("what is live is what is wanted", func() bool { return r.status().Refused == nil })
	r.eventually("nothing is pending", func() bool { return pending() == 0 })
	r.change(append(table, rule(l4.TCP, freePort(t), backend, "three")))
	r.eventually("the sockets of refused generations are gone", func() bool {
		sockets, err := filepath.Glob(filepath.Join(r.shared, "gen-*.sock"))
		return err == nil && len(sockets) == 1
	})
}

// nginx has read the link before the agent set it anew, and says nothing of that.
func TestNginxThatBeganWithWhatWasLinkedBefore(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	table := l4.Table{rule(l4.TCP, freePort(t), echoTCP(t), "one")}
	r.show(r.files(table))
	r.startAgent()
	r.startNginx()
	r.eventually("it is live", func() bool { return r.status().Live != "" })
	before := r.status().Live
	r.endAgent()
	// As long as nginx has not written its pid, nobody knows that it is there.
	pidFile := filepath.Join(r.shared, bundle.PIDFile)
	require.NoError(t, os.Rename(pidFile, pidFile+".hidden"))
	table = append(table, rule(l4.TCP, freePort(t), echoTCP(t), "two"))
	r.show(r.files(table))
	r.startAgent()
	r.eventually("the next one is linked", func() bool { return r.linked() != before && r.linked() != "" })
	time.Sleep(50 * time.Millisecond)
	assert.Zero(t, r.status().Reloads)
	require.NoError(t, os.Rename(pidFile+".hidden", pidFile))
	began := time.Now()
	r.eventually("what is linked is live", func() bool { return r.status().Live == r.linked() && says(int(table[1].Port), "hello") == nil })
	assert.Less(t, time.Since(began), 4*time.Second, "it is not waited for in vain")
	assert.Zero(t, r.status().Refusals)
}
