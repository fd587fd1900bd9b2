package nginx

import (
	"fmt"
	"net"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// as dials, and says to be another client first, as a load balancer does.
func as(t *testing.T, port int32, client string) net.Conn {
	t.Helper()
	connection := dial(t, port)
	_, err := fmt.Fprintf(connection, "PROXY TCP4 %s 203.0.113.9 4711 443\r\n", client)
	require.NoError(t, err)
	return connection
}

func sends(l l4.Listener) l4.Listener {
	l.SendProxy = l4.SendV1
	return l
}

func accepts(l l4.Listener) l4.Listener {
	l.AcceptProxy = true
	return l
}

func only(l l4.Listener, source string) l4.Listener {
	l.AllowSources = []netip.Prefix{netip.MustParsePrefix(source)}
	return l
}

func TestSendProxy(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	port := freePorts(t, 1)
	backend, seen := e.lines(t, "lines")
	e.serve(t, sends(rule("sends", port, backend)))
	for _, address := range []string{"127.0.0.1", "::1"} {
		connection := dialAt(t, address, port)
		ask(t, connection, "hello")
		family := map[string]string{"127.0.0.1": "TCP4", "::1": "TCP6"}[address]
		assert.Equal(t, header(family, connection), <-seen)
		require.NoError(t, connection.Close())
	}
	for _, s := range e.told(t, tcp(port), 2) {
		assert.Equal(t, "test/sends/r 200", fmt.Sprint(s.Owner, " ", s.Status))
	}
}

// header is what nginx shall say of the connection.
func header(family string, c net.Conn) string {
	from, to := c.LocalAddr().(*net.TCPAddr), c.RemoteAddr().(*net.TCPAddr)
	return fmt.Sprintf("PROXY %s %s %s %d %d\r\n", family, from.IP, to.IP, from.Port, to.Port)
}

func TestAcceptProxy(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		trusted []netip.Prefix
		// client is the address that rules judge, and backends are told.
		client string
	}{
		"the header of a trusted load balancer is believed": {[]netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, "192.0.2.7"},
		"without trusted ones it is read over":              {nil, "127.0.0.1"},
		"that of another one is read over":                  {[]netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}, "127.0.0.1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEdge(t, tc.trusted...)
			first := freePorts(t, 4)
			backend, seen := e.lines(t, "lines")
			limited := accepts(rule("limited", first+3, e.echo(t, "limited")))
			limited.ConnectionsPerClient = 1
			e.serve(t,
				accepts(rule("plain", first, e.echo(t, "echo"))),
				accepts(sends(rule("both", first+1, backend))),
				accepts(only(rule("lan", first+2, e.echo(t, "lan")), "192.0.2.0/24")),
				limited,
			)
			ask(t, as(t, first, "192.0.2.7"), "hello")

			ask(t, as(t, first+1, "192.0.2.7"), "hello")
			assert.Contains(t, <-seen, "PROXY TCP4 "+tc.client+" ")

			lan := as(t, first+2, "192.0.2.7")
			believed := tc.client == "192.0.2.7"
			if believed {
				ask(t, lan, "hello")
				isClosed(t, as(t, first+2, "198.51.100.1"))
			} else {
				isClosed(t, lan)
			}

			ask(t, as(t, first+3, "192.0.2.7"), "hello")
			isClosed(t, as(t, first+3, "192.0.2.7"))
			if other := as(t, first+3, "192.0.2.8"); believed {
				ask(t, other, "hello")
			} else {
				isClosed(t, other)
			}
		})
	}
}

// A client that speaks no PROXY where it shall is told of under its port.
func TestBadProxyHeader(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	first := freePorts(t, 3)
	shared := accepts(host(rule("shared", first+1, e.secure(t, "shared")), "a.example.com"))
	many := accepts(rule("range", first+2, l4.Backend{Namespace: "test", Service: "echo"}))
	many.EndPort = first + 3
	e.serve(t, accepts(rule("plain", first, e.echo(t, "echo"))), shared, many)
	for port := first; port < first+3; port++ {
		connection := dial(t, port)
		_, err := connection.Write([]byte("hello\r\n"))
		require.NoError(t, err)
		isClosed(t, connection)
	}
	for _, s := range e.told(t, tcp(first), 1) {
		assert.Equal(t, "test/plain/r 400", fmt.Sprint(s.Owner, " ", s.Status))
	}
	for _, s := range e.told(t, tcp(first+1), 1) {
		assert.Equal(t, " 400", fmt.Sprint(s.Owner, " ", s.Status))
	}
	for _, s := range e.told(t, fmt.Sprintf("%d-%d/TCP", first+2, first+3), 1) {
		assert.Equal(t, "test/range/r 400", fmt.Sprint(s.Owner, " ", s.Status))
	}
}

// What a shared port accepts and sends goes through the servers of its rules.
func TestSharedPortWithProxy(t *testing.T) {
	t.Parallel()
	e := newEdge(t, netip.MustParsePrefix("127.0.0.0/8"))
	first := freePorts(t, 2)
	headers := make(chan string, 10)
	backend := e.accept(t, "both", func(c net.Conn) {
		headers <- readLine(c)
		greeter(t, "both")(c)
	})
	e.serve(t,
		// The rules differ, so that each has a server.
		accepts(host(rule("plain", first, e.secure(t, "plain")), "plain.example.com")),
		accepts(sends(host(rule("both", first, backend), "both.example.com"))),
		accepts(only(host(rule("lan", first, e.secure(t, "lan")), "lan.example.com"), "192.0.2.0/24")),
		// The rule is alone, and needs no other server.
		sends(host(rule("alone", first+1, backend), "alone.example.com")),
	)
	for _, tc := range []struct{ name, client, want string }{
		{"plain", "192.0.2.7", "plain"}, {"both", "192.0.2.7", "both"}, {"lan", "192.0.2.7", "lan"}, {"lan", "198.51.100.1", ""},
	} {
		got, client := greets(t, as(t, first, tc.client), tc.name+".example.com")
		assert.Equal(t, tc.want, got, tc)
		_ = client.Close()
	}
	assert.Regexp(t, `^PROXY TCP4 192\.0\.2\.7 127\.0\.0\.1 \d+ \d+\r\n$`, <-headers)
	connection := dial(t, first+1)
	got, client := greets(t, connection, "alone.example.com")
	require.Equal(t, "both", got)
	assert.Equal(t, header("TCP4", connection), <-headers)
	_ = client.Close()

	counts := map[string]int{}
	for _, s := range append(e.told(t, tcp(first), 4), e.told(t, tcp(first+1), 1)...) {
		counts[fmt.Sprint(s.Owner, " ", s.Status)]++
	}
	assert.Equal(t, map[string]int{
		"test/plain/r 200": 1, "test/both/r 200": 1, "test/lan/r 200": 1, "test/lan/r 403": 1, "test/alone/r 200": 1,
	}, counts)
}
