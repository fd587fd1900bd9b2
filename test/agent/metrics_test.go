package agent

import (
	"bufio"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// scrape gives the value of each series by its text.
func (r *rig) scrape() map[string]float64 {
	r.t.Helper()
	response, err := http.Get("http://" + r.agent.Addr().String() + "/metrics")
	require.NoError(r.t, err)
	defer func() { _ = response.Body.Close() }()
	require.Equal(r.t, http.StatusOK, response.StatusCode)
	series := map[string]float64{}
	scanner := bufio.NewScanner(response.Body)
	for scanner.Scan() {
		at := strings.LastIndexByte(scanner.Text(), ' ')
		if at < 0 || strings.HasPrefix(scanner.Text(), "#") {
			continue
		}
		value, err := strconv.ParseFloat(scanner.Text()[at+1:], 64)
		require.NoError(r.t, err)
		series[scanner.Text()[:at]] = value
	}
	require.NoError(r.t, scanner.Err())
	return series
}

func (r *rig) get(path string) (int, string) {
	r.t.Helper()
	response, err := http.Get("http://" + r.agent.Addr().String() + path)
	require.NoError(r.t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	require.NoError(r.t, err)
	return response.StatusCode, string(body)
}

// noNames is a DNS server that knows no name, and gives its address.
func noNames(t *testing.T) string {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 512)
		for {
			n, from, err := conn.ReadFrom(buffer)
			if err != nil || n < 12 {
				return
			}
			answer := slices.Clone(buffer[:n])
			answer[2], answer[3] = 0x81, 0x83 // the name does not exist
			_, _ = conn.WriteTo(answer, from)
		}
	}()
	return conn.LocalAddr().String()
}

// silentTCP gives a port whose queue is full, so that it does not answer.
func silentTCP(t *testing.T) int {
	t.Helper()
	dead, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = dead.Close() })
	// Nobody accepts: 128 to 4096 are queued, then packets are dropped.
	address := dead.Addr().String()
	for range 5000 {
		conn, err := net.DialTimeout("tcp", address, 100*time.Millisecond)
		if err != nil {
			return dead.Addr().(*net.TCPAddr).Port
		}
		t.Cleanup(func() { _ = conn.Close() })
	}
	t.Fatal("the queue of the kernel does not get full")
	return 0
}

func hello(port int, host string) {
	conn, err := net.DialTimeout("tcp", address(port), 2*time.Second)
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
	_ = tls.Client(conn, &tls.Config{ServerName: host, InsecureSkipVerify: true}).Handshake() //nolint:gosec // nobody answers in TLS
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }

// closedTo sends a text and waits until the other side closes.
func closedTo(t *testing.T, port int, text string) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", address(port), 2*time.Second)
	require.NoError(t, err)
	defer func() { _ = conn.Close() }()
	require.NoError(t, conn.SetDeadline(time.Now().Add(5*time.Second)))
	_, _ = conn.Write([]byte(text))
	rest, _ := io.ReadAll(conn)
	require.Empty(t, rest)
}

func TestMetricsAreWhatAScriptDid(t *testing.T) {
	r := newRig(t)
	tcp, udp := echoTCP(t), echoUDP(t)
	mute, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = mute.Close() }()
	unused := freePort(t)

	names := []string{"echo", "datagrams", "mute", "refuses", "silent", nowhere, "guarded", "limited", "proxied", "hosts"}
	port := map[string]int{}
	listener := map[string]*l4.Listener{}
	table := make(l4.Table, 0, len(names))
	for _, name := range names {
		port[name] = freePort(t)
		protocol, backend := l4.TCP, tcp
		switch name {
		case "datagrams":
			protocol, backend = l4.UDP, udp
		case "mute":
			protocol, backend = l4.UDP, mute.LocalAddr().(*net.UDPAddr).Port
		case "refuses":
			backend = unused
		case "silent":
			backend = silentTCP(t)
		}
		table = append(table, rule(protocol, port[name], backend, name))
		listener[name] = &table[len(table)-1]
	}
	listener["silent"].ConnectTimeout = 300 * time.Millisecond
	listener["datagrams"].IdleTimeout = 300 * time.Millisecond
	listener["mute"].IdleTimeout = 300 * time.Millisecond
	listener["guarded"].AllowSources = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	listener["limited"].ConnectionsPerClient = 1
	listener["proxied"].AcceptProxy = true
	listener["hosts"].Hosts = []string{"known.example.com"}

	files := r.files(table)
	var index bundle.Index
	require.NoError(t, json.Unmarshal([]byte(files[bundle.IndexFile]), &index))
	index.Resolvers = []string{noNames(t)}
	raw, err := json.Marshal(index)
	require.NoError(t, err)
	files[bundle.IndexFile] = string(raw)
	for name, text := range files {
		files[name] = strings.ReplaceAll(text, "    ssl_preread on;\n", "    ssl_preread on;\n    preread_timeout 400ms;\n")
	}
	r.show(files)
	r.startAgent()
	r.startNginx()
	r.eventually("the first generation is live", func() bool { return r.agent.Status().Live != "" })

	zero := r.scrape()
	assert.Zero(t, zero[`tcpingress_listener_sessions_total{listener="`+strconv.Itoa(port["echo"])+`/TCP",owner="data/echo/rule"}`])
	want := map[string]float64{}
	add := func(name string, sessions, in, out int, cause string, failures int) {
		suffix := "/TCP"
		if listener[name].Protocol == l4.UDP {
			suffix = "/UDP"
		}
		owner := "data/" + name + "/rule"
		if cause == "sni" || cause == "preread_timeout" {
			owner = ""
		}
		labels := fmt.Sprintf(`listener="%d%s",owner="%s"`, port[name], suffix, owner)
		want[`tcpingress_listener_sessions_total{`+labels+`}`] += float64(sessions)
		want[`tcpingress_listener_session_seconds_count{`+labels+`}`] += float64(sessions)
		want[`tcpingress_listener_bytes_total{direction="in",`+labels+`}`] += float64(in)
		want[`tcpingress_listener_bytes_total{direction="out",`+labels+`}`] += float64(out)
		if cause != "" {
			want[`tcpingress_listener_failures_total{cause="`+cause+`",`+labels+`}`] += float64(failures)
		}
	}
	script := func(round int) {
		for i := range 20 {
			text := strings.Repeat("x", 10*(i+round))
			if text == "" {
				text = "y"
			}
			require.NoError(t, says(port["echo"], text))
			add("echo", 1, len(text), len(text), "", 0)
		}
		for range 3 {
			conn, err := net.Dial("udp", address(port["datagrams"]))
			require.NoError(t, err)
			require.NoError(t, exchange(conn, "question"))
			require.NoError(t, exchange(conn, "another"))
			require.NoError(t, conn.Close())
			add("datagrams", 1, 15, 15, "udp_no_answer", 0)
			conn, err = net.Dial("udp", address(port["mute"]))
			require.NoError(t, err)
			_, err = conn.Write([]byte("question"))
			require.NoError(t, err)
			require.NoError(t, conn.Close())
			add("mute", 1, 8, 0, "udp_no_answer", 1)
		}
		for _, c := range []struct{ name, cause string }{
			{"refuses", "connect"},
			{"silent", "timeout"},
			{nowhere, "dns"},
			{"guarded", "allow"},
		} {
			closedTo(t, port[c.name], "hello")
			add(c.name, 1, 0, 0, c.cause, 1)
		}
		closedTo(t, port["proxied"], "GET / HTTP/1.0\r\n\r\n")
		add("proxied", 1, 0, 0, "bad_proxy_header", 1)
		conn, err := net.Dial("tcp", address(port["proxied"]))
		require.NoError(t, err)
		_, err = conn.Write([]byte("PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n"))
		require.NoError(t, err)
		require.NoError(t, exchange(conn, "hello"))
		require.NoError(t, conn.Close())
		add("proxied", 1, 5, 5, "bad_proxy_header", 0)

		held, err := net.Dial("tcp", address(port["limited"]))
		require.NoError(t, err)
		require.NoError(t, exchange(held, "held"))
		closedTo(t, port["limited"], "hello")
		add("limited", 1, 0, 0, "limit", 1)
		require.NoError(t, held.Close())
		add("limited", 1, 4, 4, "limit", 0)
		time.Sleep(50 * time.Millisecond)

		hello(port["hosts"], "unknown.example.com")
		add("hosts", 1, 0, 0, "sni", 1)
		closedTo(t, port["hosts"], "\x16\x03\x01")
		add("hosts", 1, 0, 0, "preread_timeout", 1)
	}

	started := time.Now()
	script(0)
	r.endAgent()
	script(1)
	time.Sleep(2 * time.Second)
	r.startAgent()
	script(2)
	t.Logf("the script took %s", time.Since(started).Round(time.Millisecond))

	compare := func() (missing []string) {
		got := r.scrape()
		for _, series := range slices.Sorted(maps.Keys(want)) {
			if got[series] != want[series] {
				missing = append(missing, fmt.Sprintf("%s: want %v, got %v", series, want[series], got[series]))
			}
		}
		return missing
	}
	// nginx writes its log once a second, and UDP sessions end some time after.
	for range 100 {
		if len(compare()) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	assert.Empty(t, compare())
	for series, value := range r.scrape() {
		if strings.HasPrefix(series, "tcpingress_listener_failures_total") && value != want[series] {
			t.Errorf("%s: want %v, got %v", series, want[series], value)
		}
	}
	t.Logf("%d series are what the script did", len(want))

	conn, err := net.Dial("tcp", address(port["echo"]))
	require.NoError(t, err)
	require.NoError(t, exchange(conn, "open"))
	assert.Equal(t, 1.0, r.scrape()[`tcpingress_listener_open_connections{listener="`+strconv.Itoa(port["echo"])+`/TCP"}`])
	require.NoError(t, conn.Close())
}

func TestMetricsOfAListenerComeAndGo(t *testing.T) {
	r := newRig(t)
	r.options.SeriesGrace = 100 * time.Millisecond
	backend, first, second := echoTCP(t), freePort(t), freePort(t)
	table := l4.Table{rule(l4.TCP, first, backend, "one"), rule(l4.TCP, second, backend, "two")}
	series := `tcpingress_listener_sessions_total{listener="` + strconv.Itoa(second) + `/TCP",owner="data/two/rule"}`
	has := func() bool { _, found := r.scrape()[series]; return found }
	r.start(table)
	assert.True(t, has())
	r.change(table[:1])
	r.eventually("the series is gone", func() bool { return !has() })
}

func TestProbes(t *testing.T) {
	r := newRig(t)
	backend, port := echoTCP(t), freePort(t)
	r.startAgent()
	code, body := r.get("/readyz")
	assert.Equal(t, http.StatusServiceUnavailable, code)
	assert.Contains(t, body, "nginx is not running.\n")
	r.eventually("the agent waits", func() bool { return r.agent.Status().Waiting != "" })
	_, body = r.get("/readyz")
	assert.Contains(t, body, "The files are incomplete: index.json has not arrived yet.\n")
	code, _ = r.get("/livez")
	assert.Equal(t, http.StatusOK, code, "the agent works, though nginx does not")
	r.endAgent()

	r.start(l4.Table{rule(l4.TCP, port, backend, "one")})
	code, body = r.get("/readyz")
	assert.Equal(t, http.StatusOK, code)
	assert.Regexp(t, `^Generation [0-9a-f]{16} is live since \S+, with 1 rules\.\n$`, body)

	files := r.files(l4.Table{rule(l4.TCP, port, backend, "one")})
	files[bundle.MainFile] += "nonsense;\n"
	r.show(files)
	r.eventually("it is refused", func() bool { return r.agent.Status().Refused != nil })
	code, body = r.get("/readyz")
	assert.Equal(t, http.StatusOK, code, "what was live still is")
	assert.Regexp(t, `\nGeneration [0-9a-f]{16} was refused at \S+: \[emerg\] unknown directive "nonsense" in \S+\n$`, body)
	metrics := r.scrape()
	assert.Equal(t, 1.0, metrics["tcpingress_agent_refused_generations_total"])
	assert.Equal(t, 1.0, metrics["tcpingress_agent_nginx_running"])
}
