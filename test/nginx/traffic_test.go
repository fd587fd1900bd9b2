package nginx

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

func TestTCP(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	port := freePorts(t, 1)
	e.serve(t, rule("echo", port, e.echo(t, "echo")))

	connection := dial(t, port)
	ask(t, connection, "hello")
	ask(t, dialAt(t, "::1", port), "over IPv6")
	require.NoError(t, connection.Close())
	for _, s := range e.told(t, tcp(port), 1) {
		assert.Equal(t, "test/echo/r", s.Owner)
		assert.Equal(t, 200, s.Status)
		assert.Equal(t, int64(5), s.Sent)
		assert.Equal(t, int64(5), s.Received)
		assert.Equal(t, "5", s.UpstreamSent)
		assert.Equal(t, "5", s.UpstreamReceived)
		assert.Contains(t, s.Upstream, "127.0.0.2:")
		assert.NotEqual(t, "-", s.ConnectSeconds)
		assert.Empty(t, s.ServerName)
	}
}

func TestUDP(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	port := freePorts(t, 1)
	l := rule("dns", port, e.answers(t, "dns"))
	l.Protocol, l.IdleTimeout = l4.UDP, time.Second
	e.serve(t, l)

	for _, address := range []string{"127.0.0.1", "::1"} {
		client, err := net.Dial("udp", net.JoinHostPort(address, fmt.Sprint(port))) //nolint:noctx // it ends at once
		require.NoError(t, err)
		require.NoError(t, client.SetDeadline(time.Now().Add(patience)))
		var first string
		for range 3 {
			_, err = client.Write([]byte("question"))
			require.NoError(t, err)
			answer := make([]byte, 2048)
			n, err := client.Read(answer)
			require.NoError(t, err)
			require.Contains(t, string(answer[:n]), "question from 127.0.0.1:")
			if first == "" {
				first = string(answer[:n])
			}
			assert.Equal(t, first, string(answer[:n]), "the backend sees one session")
		}
		require.NoError(t, client.Close())
	}
	for _, s := range e.told(t, fmt.Sprintf("%d/UDP", port), 2) {
		assert.Equal(t, "test/dns/r", s.Owner)
		assert.Equal(t, 200, s.Status)
		assert.Equal(t, int64(3*len("question")), s.Received)
		assert.Equal(t, "24", s.UpstreamSent)
	}
}

// TestRange also puts the servers of nginx on one address, so that the backends can
// have the same numbers on another.
func TestRange(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	const size = 5
	first := freePorts(t, size)
	last := first + size - 1
	tcpRange := rule("range", first, e.known("range", 0))
	tcpRange.EndPort = last
	udpRange := rule("packets", first, e.known("packets", 0))
	udpRange.Protocol, udpRange.EndPort, udpRange.IdleTimeout = l4.UDP, last, time.Second
	files := e.provider.Files(l4.Table{tcpRange, udpRange})
	for name, text := range files {
		text = strings.ReplaceAll(text, "listen [::]:", "listen [::1]:")
		files[name] = regexp.MustCompile(`listen (\d)`).ReplaceAllString(text, "listen 127.0.0.1:$1")
	}
	e.start(t, files)

	ports := []int32{first, first + size/2, last}
	for _, port := range ports {
		address := fmt.Sprintf("127.0.0.2:%d", port)
		listener, err := net.Listen("tcp", address) //nolint:noctx // it ends at once
		require.NoError(t, err)
		t.Cleanup(func() { _ = listener.Close() })
		go serveAll(listener, func(c net.Conn) { _, _ = c.Write([]byte(c.LocalAddr().String())) })
		server, err := net.ListenPacket("udp", address) //nolint:noctx // it ends at once
		require.NoError(t, err)
		t.Cleanup(func() { _ = server.Close() })
		go answerAll(server)
	}
	for _, port := range ports {
		for _, host := range []string{"127.0.0.1", "::1"} {
			connection := dialAt(t, host, port)
			answer, err := io.ReadAll(connection)
			require.NoError(t, err)
			require.NoError(t, connection.Close()) // else the session goes on, half closed
			require.Equal(t, fmt.Sprintf("127.0.0.2:%d", port), string(answer))
		}
		client, err := net.Dial("udp", fmt.Sprintf("127.0.0.1:%d", port)) //nolint:noctx // it ends at once
		require.NoError(t, err)
		require.NoError(t, client.SetDeadline(time.Now().Add(patience)))
		_, err = client.Write([]byte("question"))
		require.NoError(t, err)
		answer := make([]byte, 100)
		n, err := client.Read(answer)
		require.NoError(t, err)
		require.Contains(t, string(answer[:n]), "question from ")
		require.NoError(t, client.Close())
	}
	// All ports of a range are one listener.
	for _, s := range e.told(t, fmt.Sprintf("%d-%d/TCP", first, last), 2*len(ports)) {
		assert.Equal(t, "test/range/r 200", fmt.Sprint(s.Owner, " ", s.Status))
	}
	for _, s := range e.told(t, fmt.Sprintf("%d-%d/UDP", first, last), len(ports)) {
		assert.Equal(t, "test/packets/r 200", fmt.Sprint(s.Owner, " ", s.Status))
	}
}

// One rule's trouble is nobody else's: its backend has no address, nobody listens
// there, or nobody answers.
func TestTroubleOfOneRule(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	first := freePorts(t, 4)
	closed, err := net.Listen("tcp", "127.0.0.2:0") //nolint:noctx // it ends at once
	require.NoError(t, err)
	require.NoError(t, closed.Close())
	gone := rule("gone", first+1, l4.Backend{Namespace: "test", Service: "gone", Port: e.echo(t, "there").Port})
	refused := rule("refused", first+2, e.known("refused", closed.Addr().(*net.TCPAddr).Port))
	slow := rule("slow", first+3, e.deaf(t, "slow"))
	slow.ConnectTimeout = time.Second
	e.serve(t, rule("echo", first, e.echo(t, "echo")), gone, refused, slow)

	good := dial(t, first)
	ask(t, good, "before")
	isClosed(t, dial(t, first+1))
	isClosed(t, dial(t, first+2))
	begin := time.Now()
	isClosed(t, dial(t, first+3))
	assert.InDelta(t, 1, time.Since(begin).Seconds(), 0.9)
	ask(t, good, "after")
	for port, status := range map[int32]int{first + 1: 500, first + 2: 502, first + 3: 502} {
		for _, s := range e.told(t, tcp(port), 1) {
			assert.Equal(t, status, s.Status, s.Owner)
			assert.NotEmpty(t, s.Owner)
			assert.Equal(t, status == 502, s.Upstream != "", s.Owner)
			assert.Equal(t, map[int]string{500: "", 502: "-"}[status], s.ConnectSeconds, s.Owner)
		}
	} // The name comes to exist: nginx finds it without another configuration.
	e.dns.Set("test/gone", "127.0.0.2")
	ask(t, dial(t, first+1), "hello")
}

func TestLimitsOfOneRule(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	first := freePorts(t, 4)
	limited := rule("limited", first+1, e.echo(t, "limited"))
	limited.ConnectionsPerClient = 2
	silent := rule("silent", first+2, e.echo(t, "silent"))
	silent.IdleTimeout = time.Second
	both := rule("both", first+3, e.echo(t, "both"))
	both.AllowSources = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32"), netip.MustParsePrefix("::/0")}
	e.serve(t, only(rule("there", first, e.echo(t, "there")), "192.0.2.0/24"), limited, silent, both)

	isClosed(t, dial(t, first))
	isClosed(t, dialAt(t, "::1", first))
	ask(t, dial(t, first+3), "hello")
	ask(t, dialAt(t, "::1", first+3), "hello")

	one, two := dial(t, first+1), dial(t, first+1)
	ask(t, one, "hello")
	ask(t, two, "hello")
	isClosed(t, dial(t, first+1))
	ask(t, dialAt(t, "::1", first+1), "another client")
	require.NoError(t, one.Close())
	require.Eventually(t, func() bool { return isOpen(dial(t, first+1)) }, patience, 100*time.Millisecond, "a place is free")

	begin := time.Now()
	quiet := dial(t, first+2)
	for range 3 { // words keep it open
		ask(t, quiet, "hello")
		time.Sleep(600 * time.Millisecond)
	}
	isClosed(t, quiet)
	assert.InDelta(t, 2.2, time.Since(begin).Seconds(), 0.9)

	for _, s := range e.told(t, tcp(first), 2) {
		assert.Equal(t, "test/there/r 403", fmt.Sprint(s.Owner, " ", s.Status))
	}
	counts := map[int]int{}
	for _, s := range e.sessions(t, tcp(first+1)) {
		assert.Equal(t, "test/limited/r", s.Owner)
		counts[s.Status]++
	}
	assert.Positive(t, counts[503])
	assert.Positive(t, counts[200])
	for _, s := range e.told(t, tcp(first+2), 1) {
		assert.Equal(t, "test/silent/r 200", fmt.Sprint(s.Owner, " ", s.Status))
	}
}

// isOpen tells whether the backend answers.
func isOpen(c net.Conn) bool {
	_, _ = c.Write([]byte("x"))
	n, _ := c.Read(make([]byte, 1))
	return n == 1
}

// A client that has said all, and says so, still gets the answer: on a port of its
// own, on one that is shared, and through the server of a rule.
func TestHalfClosed(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	first := freePorts(t, 3)
	backend := e.accept(t, "wc", func(c net.Conn) {
		if words, err := io.ReadAll(c); err == nil {
			_, _ = fmt.Fprintf(c, "%d bytes", len(words))
		}
	})
	slow := host(rule("slow", first+2, backend), "slow.example.com")
	slow.IdleTimeout = time.Hour
	e.serve(t, rule("plain", first, backend), host(rule("shared", first+1, backend), "a.example.com"),
		host(rule("apart", first+2, backend), "a.example.com"), slow)
	words := hello(t, "a.example.com")
	for port := first; port < first+3; port++ {
		connection := dial(t, port)
		_, err := connection.Write(words)
		require.NoError(t, err)
		require.NoError(t, connection.(*net.TCPConn).CloseWrite())
		answer, err := io.ReadAll(connection)
		require.NoError(t, err)
		assert.Equal(t, fmt.Sprintf("%d bytes", len(words)), string(answer))
		for _, s := range e.told(t, tcp(port), 1) {
			assert.Equal(t, 200, s.Status)
		}
	}
}
