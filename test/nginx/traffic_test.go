package nginx

import (
	"fmt"
	"net"
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
