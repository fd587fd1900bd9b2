package agent

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/agent"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Both pass "nginx -t", and nginx tells of them only in its log.
func TestWhatOnlyAReloadFindsOutIsRefused(t *testing.T) {
	t.Parallel()
	zone := func(key string) func(map[string]string) {
		return func(files map[string]string) {
			main := files[bundle.MainFile]
			files[bundle.MainFile] = main[:len(main)-2] + "    limit_conn_zone " + key + " zone=kept:64k;\n}\n"
		}
	}
	tests := map[string]struct {
		before, after func(map[string]string)
		// outgoing is whether a connection of somebody else has the port.
		outgoing bool
		want     string
	}{
		"a zone whose key changed": {
			before: zone("$binary_remote_addr"), after: zone("$remote_port"),
			want: `\[emerg\] limit_conn_zone "kept" uses the "\$remote_port" key while previously it used the "\$binary_remote_addr" key`,
		},
		"an outgoing connection has the port": {
			before: func(map[string]string) {}, after: func(map[string]string) {}, outgoing: true,
			want: `\[emerg\] bind\(\) to .* failed \(98: Address already in use\)`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			r := newRig(t)
			r.options.AnswerTimeout = 3 * time.Second
			backend, first, second := echoTCP(t), freePort(t), freePort(t)
			table := l4.Table{rule(l4.TCP, first, backend, "one")}
			show := func(table l4.Table, patch func(map[string]string)) {
				files := r.files(table)
				patch(files)
				r.show(files)
			}
			show(table, tc.before)
			r.startAgent()
			r.startNginx()
			r.eventually("the first generation is live", func() bool { return r.status().Live != "" })
			live := r.status().Live
			if tc.outgoing {
				dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: second}}
				conn, err := dialer.Dial("tcp", address(backend))
				require.NoError(t, err)
				defer func() { _ = conn.Close() }()
			}
			table = append(table, rule(l4.TCP, second, backend, "two"))
			show(table, tc.after)
			r.eventually("it is refused", func() bool { return r.status().Refused != nil })
			assert.Regexp(t, tc.want, r.status().Refused.Reason)
			assert.Equal(t, live, r.status().Live)
			r.eventually("nginx would start with what was good", func() bool { return r.linked() == live })
			require.NoError(t, says(first, "hello"))
			show(l4.Table{table[0], rule(l4.TCP, freePort(t), backend, "three")}, tc.before)
			r.eventually("the next one is live", func() bool { s := r.status(); return s.Live != live && s.Live != "" && s.Refused == nil })
		})
	}
}

func TestAgentThatEndedHalfWayIsFollowed(t *testing.T) {
	r := newRig(t)
	r.options.AnswerTimeout = time.Minute
	backend, first, second := echoTCP(t), freePort(t), freePort(t)
	table := l4.Table{rule(l4.TCP, first, backend, "one")}
	r.start(table)
	live := r.status().Live
	taken, err := net.Listen("tcp", ":"+strconv.Itoa(second))
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	r.show(r.files(append(table, rule(l4.TCP, second, backend, "two"))))
	r.eventually("the agent waits for an answer that does not come", func() bool { return r.linked() != live && r.status().Reloads == 1 })
	r.endAgent()
	require.NotEqual(t, live, r.linked())

	r.show(r.files(table))
	r.startAgent()
	r.eventually("the next one finds what is live", func() bool { return r.status().Live == live && r.linked() == live })
	time.Sleep(100 * time.Millisecond)
	assert.Zero(t, r.status().Reloads)
}

func TestNginxThatDoesNotStartGetsWhatWasGood(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.options.AnswerTimeout = 4 * time.Second
	backend, first, second := echoTCP(t), freePort(t), freePort(t)
	table := l4.Table{rule(l4.TCP, first, backend, "one")}
	r.start(table)
	live := r.status().Live
	taken, err := net.Listen("tcp", ":"+strconv.Itoa(second))
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	r.endNginx()
	r.eventually("the agent notices", func() bool { return !r.status().Running })
	r.show(r.files(append(table, rule(l4.TCP, second, backend, "two"))))
	r.eventually("it is written", func() bool { return r.linked() != live })
	r.startNginx()
	<-r.exited
	r.eventually("what was good is back", func() bool { return r.linked() == live && r.status().Refused != nil })
	r.startNginx()
	r.eventually("it is live", func() bool { return r.status().Live == live })
	require.NoError(t, says(first, "hello"))
}

// What keeps a configuration from being written is told, and it is tried again.
func TestConfigurationThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.options.Retry = 300 * time.Millisecond
	table := l4.Table{rule(l4.UDP, freePort(t), echoUDP(t), "dns"), rule(l4.TCP, freePort(t), echoTCP(t), "web")}
	r.start(table)
	before := r.udpStatus().Live
	for _, dir := range []string{r.shared, filepath.Join(r.shared, bundle.UDPDir)} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "conf.unfinished", "in the way"), 0o755))
	}
	table = append(table, rule(l4.UDP, freePort(t), echoUDP(t), "second"), rule(l4.TCP, freePort(t), echoTCP(t), "second"))
	r.show(r.files(table))
	r.eventually("it is told", func() bool { return r.status().Refused != nil && r.udpStatus().Refused != nil })
	for _, s := range []agent.Status{r.status(), r.udpStatus()} {
		assert.Regexp(t, "^removing unfinished link: .*directory not empty$", s.Refused.Reason)
	}
	assert.Equal(t, before, r.udpStatus().Live)
	code, body := r.get("/readyz")
	assert.Equal(t, http.StatusOK, code, body)
	for _, dir := range []string{r.shared, filepath.Join(r.shared, bundle.UDPDir)} {
		require.NoError(t, os.RemoveAll(filepath.Join(dir, "conf.unfinished")))
	}
	r.eventually("it is live", func() bool {
		return r.status().Refused == nil && r.udpStatus().Refused == nil && ask(dialUDP(t, int(table[2].Port)), "question", 100*time.Millisecond) == nil
	})
	require.NoError(t, says(int(table[3].Port), "hello"))
}

func TestFirstConfigurationIsBroken(t *testing.T) {
	r := newRig(t)
	files := r.files(l4.Table{rule(l4.TCP, freePort(t), echoTCP(t), "one")})
	broken := map[string]string{bundle.IndexFile: files[bundle.IndexFile], bundle.MainFile: "nonsense;\n"}
	r.show(broken)
	r.startAgent()
	r.eventually("it is refused", func() bool { return r.status().Refused != nil })
	assert.NoFileExists(t, filepath.Join(r.shared, bundle.ConfLink, bundle.MainFile))
	code, body := r.get("/readyz")
	assert.Equal(t, 503, code)
	assert.Contains(t, body, "nonsense")
	r.show(files)
	r.startNginx()
	r.eventually("the next one is live", func() bool { s := r.status(); return s.Live != "" && s.Refused == nil })
}

func TestManyListeners(t *testing.T) {
	r := newRig(t)
	count := 4000
	if testing.Short() {
		count = 200
	}
	r.config.Workers, r.config.Sessions = 1, 512
	backend := echoTCP(t)
	var table l4.Table
	for port := 2000; len(table) < count; port++ {
		// Ports that are taken are found out, not fought for.
		l, err := net.Listen("tcp", ":"+strconv.Itoa(port))
		if err != nil {
			continue
		}
		_ = l.Close()
		table = append(table, rule(l4.TCP, port, backend, fmt.Sprintf("rule%d", len(table))))
	}
	r.start(table)
	before := r.status().Live
	files := r.files(table[1:])
	started := time.Now()
	r.show(files)
	r.eventually("the change is live", func() bool { s := r.status(); return s.Live != before && s.Live != "" })
	took := time.Since(started)
	require.NoError(t, says(int(table[count-1].Port), "hello"))
	series := fmt.Sprintf(`tcpingress_listener_sessions_total{listener="%d/TCP",owner="data/rule%d/rule"}`, table[count-1].Port, count-1)
	r.eventually("the session is counted", func() bool { return r.scrape()[series] == 1 })
	started = time.Now()
	lines := len(r.scrape())
	scraped := time.Since(started)
	memory := memoryOf(os.Getpid())
	t.Logf("%d listeners: a change is live after %s; %d series are scraped in %s; this process, agent and clients, has %d KiB",
		count, took.Round(time.Millisecond), lines, scraped.Round(time.Millisecond), memory)
	assert.Less(t, memory, 256<<10, "the container of the agent may have that")
}
