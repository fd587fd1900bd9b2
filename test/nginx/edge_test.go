package nginx

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
	"github.com/nginx-stream/tcpingress/test/nginx/process"
)

// patience is how long a test waits for what must come.
const patience = 10 * time.Second

// edge is a running nginx, with the DNS server that it asks.
type edge struct {
	*process.Nginx
	dns      *process.DNS
	provider *nginx.Provider
}

// newEdge makes an nginx that does not run yet. trusted are the trusted proxies.
func newEdge(t *testing.T, trusted ...netip.Prefix) *edge {
	t.Helper()
	// The name of a socket has 107 bytes at most, hence not the test's own folder.
	dir, err := os.MkdirTemp("", "edge") //nolint:usetesting // see above
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o755)) // for workers of another user
	dns, err := process.NewDNS()
	require.NoError(t, err)
	n, err := process.New(dir, dns.Address)
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, n.Stop())
		require.NoError(t, dns.Close())
		require.NoError(t, os.RemoveAll(dir))
	})
	c := config(dir)
	c.TrustedProxies = trusted
	return &edge{n, dns, nginx.New(c)}
}

// serve starts nginx with the table, sorted by port.
func (e *edge) serve(t *testing.T, table ...l4.Listener) {
	t.Helper()
	slices.SortStableFunc(table, func(a, b l4.Listener) int { return int(a.Port - b.Port) })
	e.start(t, e.provider.Files(table))
	// What a class hook would say of it.
	observed := e.provider.Observe(observe(e.provider, table))
	for i := range table {
		require.True(t, observed.Live(&table[i]), table[i].Owner)
	}
}

func (e *edge) start(t *testing.T, files map[string]string) {
	t.Helper()
	require.NoError(t, e.Write("one", files))
	require.NoError(t, e.Start(t.Context(), "one"))
}

// sessions gives what the access log has of a listener so far: every line of the log
// must be a session.
func (e *edge) sessions(t *testing.T, listener string) []bundle.Session {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(e.Dir, bundle.AccessLog))
	require.NoError(t, err)
	var sessions []bundle.Session
	for line := range strings.Lines(string(text)) {
		if !strings.HasSuffix(line, "\n") {
			break // it is being written
		}
		var s bundle.Session
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.DisallowUnknownFields()
		require.NoError(t, decoder.Decode(&s), line)
		require.NotEmpty(t, s.Time, line)
		if s.Listener == listener {
			sessions = append(sessions, s)
		}
	}
	return sessions
}

// told waits for the n sessions of a listener, and wants no more of them.
func (e *edge) told(t *testing.T, listener string, n int) []bundle.Session {
	t.Helper()
	var sessions []bundle.Session
	require.Eventually(t, func() bool {
		sessions = e.sessions(t, listener)
		return len(sessions) >= n
	}, patience, 50*time.Millisecond, "sessions of %s", listener)
	time.Sleep(1200 * time.Millisecond) // nginx writes each second
	sessions = e.sessions(t, listener)
	require.Len(t, sessions, n, "sessions of %s: %+v", listener, sessions)
	return sessions
}

// whole is the error log.
func (e *edge) whole(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(e.Dir, bundle.ErrorLog))
	require.NoError(t, err)
	return string(text)
}

// ports are handed out once each: the tests of this package run at the same time.
var ports struct { //nolint:gochecknoglobals // tests of one process share the machine's ports
	sync.Mutex
	next int32
}

// freePorts gives the first of n ports in a row that nobody listens on. Those from
// 21,000 on are left to other tests, which may run at the same time.
func freePorts(t *testing.T, n int32) int32 {
	t.Helper()
	const from, end = 10_000, 21_000
	ports.Lock()
	defer ports.Unlock()
	if ports.next == 0 {
		ports.next = from + int32(os.Getpid()%4000)
	}
	for first := ports.next; first+n <= end; first = ports.next {
		ports.next = firstTaken(first, first+n)
		if ports.next == first+n {
			return first
		}
		ports.next++
	}
	require.Fail(t, "no free ports")
	return 0
}

// firstTaken gives the first port that somebody listens on, or the end.
func firstTaken(from, end int32) int32 {
	for port := from; port < end; port++ {
		tcp, err := net.Listen("tcp", fmt.Sprintf(":%d", port)) //nolint:gosec,noctx // as nginx will
		if err != nil {
			return port
		}
		_ = tcp.Close()
		udp, err := net.ListenPacket("udp", fmt.Sprintf(":%d", port)) //nolint:noctx // as nginx will
		if err != nil {
			return port
		}
		_ = udp.Close()
	}
	return end
}

// rule makes a listener of a port whose owner is "test/<name>/r".
func rule(name string, port int32, backend l4.Backend) l4.Listener {
	return l4.Listener{
		Owner: l4.Owner{Namespace: "test", Name: name, Rule: "r"}, Protocol: l4.TCP, Port: port, Backend: backend,
	}
}

func tcp(port int32) string { return fmt.Sprintf("%d/TCP", port) }

// dial connects to a port of 127.0.0.1.
func dial(t *testing.T, port int32) net.Conn {
	t.Helper()
	return dialAt(t, "127.0.0.1", port)
}

func dialAt(t *testing.T, address string, port int32) net.Conn {
	t.Helper()
	connection, err := net.DialTimeout("tcp", net.JoinHostPort(address, fmt.Sprint(port)), patience)
	require.NoError(t, err)
	require.NoError(t, connection.SetDeadline(time.Now().Add(patience)))
	t.Cleanup(func() { _ = connection.Close() })
	return connection
}

// ask sends a text and wants an answer of the backend that echoes it.
func ask(t *testing.T, connection net.Conn, text string) {
	t.Helper()
	_, err := connection.Write([]byte(text))
	require.NoError(t, err)
	answer := make([]byte, len(text))
	_, err = readFull(connection, answer)
	require.NoError(t, err)
	require.Equal(t, text, string(answer))
}

// isClosed wants the other side to close without a word.
func isClosed(t *testing.T, connection net.Conn) {
	t.Helper()
	require.NoError(t, connection.SetReadDeadline(time.Now().Add(patience)))
	var rest bytes.Buffer
	_, err := rest.ReadFrom(connection)
	var timeout net.Error
	if err != nil {
		require.False(t, asTimeout(err, &timeout), "the connection is still open")
	}
	require.Empty(t, rest.String())
}
