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

// play is a set of listeners, each with its own way to fail, and what the metrics
// shall be after what was done with them.
type play struct {
	t        *testing.T
	port     map[string]int
	listener map[string]*l4.Listener
	table    l4.Table
	want     map[string]float64
}

func newPlay(t *testing.T) *play {
	t.Helper()
	mute, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = mute.Close() })
	tcp := echoTCP(t)
	backends := map[string]int{
		"datagrams": echoUDP(t), "mute": mute.LocalAddr().(*net.UDPAddr).Port,
		"refuses": freePort(t), "silent": silentTCP(t),
		"echo": tcp, nowhere: tcp, "guarded": tcp, "limited": tcp, "proxied": tcp, "hosts": tcp,
	}
	p := &play{t: t, port: map[string]int{}, listener: map[string]*l4.Listener{}, table: make(l4.Table, 0, len(backends)), want: map[string]float64{}}
	for _, name := range slices.Sorted(maps.Keys(backends)) {
		p.port[name] = freePort(t)
		protocol := l4.TCP
		if name == "datagrams" || name == "mute" {
			protocol = l4.UDP
		}
		p.table = append(p.table, rule(protocol, p.port[name], backends[name], name))
		p.listener[name] = &p.table[len(p.table)-1]
	}
	p.listener["silent"].ConnectTimeout = 300 * time.Millisecond
	p.listener["datagrams"].IdleTimeout = 300 * time.Millisecond
	p.listener["mute"].IdleTimeout = 300 * time.Millisecond
	p.listener["guarded"].AllowSources = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}
	p.listener["limited"].ConnectionsPerClient = 1
	p.listener["proxied"].AcceptProxy = true
	p.listener["hosts"].Hosts = []string{"known.example.com"}
	return p
}

// files are the rendered ones, with a DNS server that knows nothing and a client's
// hello that may not take long.
func (p *play) files(r *rig) map[string]string {
	p.t.Helper()
	files := r.files(p.table)
	var index bundle.Index
	require.NoError(p.t, json.Unmarshal([]byte(files[bundle.IndexFile]), &index))
	index.Resolvers = []string{noNames(p.t)}
	raw, err := json.Marshal(index)
	require.NoError(p.t, err)
	files[bundle.IndexFile] = string(raw)
	for name, text := range files {
		files[name] = strings.ReplaceAll(text, "    ssl_preread on;\n", "    ssl_preread on;\n    preread_timeout 400ms;\n")
	}
	return files
}

// add expects sessions, of which some failed if there is a cause.
func (p *play) add(name string, in, out int, cause string, failures int) {
	owner := "data/" + name + "/rule"
	if cause == "sni" || cause == "preread_timeout" {
		owner = ""
	}
	labels := fmt.Sprintf(`listener="%d/%s",owner="%s"`, p.port[name], p.listener[name].Protocol, owner)
	p.want[`tcpingress_listener_sessions_total{`+labels+`}`]++
	p.want[`tcpingress_listener_session_seconds_count{`+labels+`}`]++
	p.want[`tcpingress_listener_bytes_total{direction="in",`+labels+`}`] += float64(in)
	p.want[`tcpingress_listener_bytes_total{direction="out",`+labels+`}`] += float64(out)
	if cause != "" {
		p.want[`tcpingress_listener_failures_total{cause="`+cause+`",`+labels+`}`] += float64(failures)
	}
}

// perform does everything once.
func (p *play) perform() {
	for i := range 20 {
		text := strings.Repeat("x", 10*i+1)
		require.NoError(p.t, says(p.port["echo"], text))
		p.add("echo", len(text), len(text), "connect", 0)
	}
	for range 3 {
		p.converse("udp", "datagrams", "", "question", "another")
		p.add("datagrams", 15, 15, "udp_no_answer", 0)
		conn, err := net.Dial("udp", address(p.port["mute"]))
		require.NoError(p.t, err)
		_, err = conn.Write([]byte("question"))
		require.NoError(p.t, err)
		require.NoError(p.t, conn.Close())
		p.add("mute", 8, 0, "udp_no_answer", 1)
	}
	for name, cause := range map[string]string{"refuses": "connect", "silent": "timeout", nowhere: "dns", "guarded": "allow"} {
		closedTo(p.t, p.port[name], "hello")
		p.add(name, 0, 0, cause, 1)
	}
	closedTo(p.t, p.port["proxied"], "GET / HTTP/1.0\r\n\r\n")
	p.add("proxied", 0, 0, "bad_proxy_header", 1)
	p.converse("tcp", "proxied", "PROXY TCP4 192.0.2.1 192.0.2.2 1 2\r\n", "hello")
	p.add("proxied", 5, 5, "bad_proxy_header", 0)

	held, err := net.Dial("tcp", address(p.port["limited"]))
	require.NoError(p.t, err)
	require.NoError(p.t, exchange(held, "held"))
	closedTo(p.t, p.port["limited"], "hello")
	p.add("limited", 0, 0, "limit", 1)
	require.NoError(p.t, held.Close())
	p.add("limited", 4, 4, "limit", 0)

	hello(p.port["hosts"], "unknown.example.com")
	p.add("hosts", 0, 0, "sni", 1)
	closedTo(p.t, p.port["hosts"], "\x16\x03\x01")
	p.add("hosts", 0, 0, "preread_timeout", 1)
}

func (p *play) converse(network, name, head string, texts ...string) {
	p.t.Helper()
	conn, err := net.Dial(network, address(p.port[name]))
	require.NoError(p.t, err)
	if head != "" {
		_, err = conn.Write([]byte(head))
		require.NoError(p.t, err)
	}
	for _, text := range texts {
		require.NoError(p.t, exchange(conn, text))
	}
	require.NoError(p.t, conn.Close())
}

// missing tells which series are not as expected.
func (p *play) missing(got map[string]float64) (list []string) {
	for _, series := range slices.Sorted(maps.Keys(p.want)) {
		if got[series] != p.want[series] {
			list = append(list, fmt.Sprintf("%s: want %v, got %v", series, p.want[series], got[series]))
		}
	}
	for series, value := range got {
		if _, known := p.want[series]; !known && strings.HasPrefix(series, "tcpingress_listener_failures_total") && value != 0 {
			list = append(list, fmt.Sprintf("%s: want none, got %v", series, value))
		}
	}
	return list
}

func TestMetricsAreWhatAScriptDid(t *testing.T) {
	r, p := newRig(t), newPlay(t)
	r.show(p.files(r))
	r.startAgent()
	r.startNginx()
	r.startUDP()
	r.eventually("the first generation is live", func() bool { return r.live() != "" })
	echo := strconv.Itoa(p.port["echo"]) + "/TCP"
	zero, found := r.scrape()[`tcpingress_listener_sessions_total{listener="`+echo+`",owner="data/echo/rule"}`]
	assert.True(t, found, "a listener that nobody has used has metrics")
	assert.Zero(t, zero)

	p.perform()
	r.endAgent()
	p.perform()
	time.Sleep(2 * time.Second)
	r.startAgent()
	p.perform()

	// nginx writes its log once a second, and UDP sessions end some time after.
	for range 200 {
		if len(p.missing(r.scrape())) == 0 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	assert.Empty(t, p.missing(r.scrape()))
	t.Logf("%d series are what the script did", len(p.want))

	conn, err := net.Dial("tcp", address(p.port["echo"]))
	require.NoError(t, err)
	require.NoError(t, exchange(conn, "open"))
	assert.Equal(t, 1.0, r.scrape()[`tcpingress_listener_open_connections{listener="`+echo+`"}`])
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
	r.eventually("the agent waits", func() bool { return r.status().Waiting != "" })
	_, body = r.get("/readyz")
	assert.Contains(t, body, "The files are incomplete: index.json has not arrived yet.\n")
	code, _ = r.get("/livez")
	assert.Equal(t, http.StatusOK, code, "the agent works, though nginx does not")
	r.endAgent()

	r.start(l4.Table{rule(l4.TCP, port, backend, "one")})
	code, body = r.get("/readyz")
	assert.Equal(t, http.StatusOK, code)
	assert.Regexp(t, `^TCP: Generation [0-9a-f]{16} is live since \S+, with 1 rules\.\nUDP: Generation [0-9a-f]{16} is live since \S+, with 0 rules\.\n$`, body)

	files := r.files(l4.Table{rule(l4.TCP, port, backend, "one")})
	files[bundle.MainFile] += "nonsense;\n"
	r.show(files)
	r.eventually("it is refused", func() bool { return r.status().Refused != nil })
	code, body = r.get("/readyz")
	assert.Equal(t, http.StatusOK, code, "what was live still is")
	assert.Regexp(t, `\nTCP: Generation [0-9a-f]{16} was refused at \S+: \[emerg\] unknown directive "nonsense" in \S+\n`, body)
	metrics := r.scrape()
	assert.Equal(t, 1.0, metrics["tcpingress_agent_refused_generations_total{protocol=\"TCP\"}"])
	assert.Equal(t, 1.0, metrics["tcpingress_agent_nginx_running{protocol=\"TCP\"}"])
}
