package nginx

import (
	"bufio"
	"fmt"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// announced is a TLS backend that wants a PROXY header first, which it tells to the
// channel.
func (e *edge) announced(t *testing.T, name string) (l4.Backend, <-chan string) {
	t.Helper()
	seen := make(chan string, 100)
	greet := greeter(t, name)
	return e.accept(t, name, func(c net.Conn) {
		reader := bufio.NewReader(c)
		line, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		seen <- line
		greet(buffered{c, reader})
	}), seen
}

// buffered is a connection of which something was read.
type buffered struct {
	net.Conn
	reader *bufio.Reader
}

func (b buffered) Read(into []byte) (int, error) { return b.reader.Read(into) }

// Rules of one port may differ in what they send: who wants the PROXY header gets the
// client's address and that of the port, and who does not gets none. So it is when
// all of them send too.
func TestSharedPortThatSends(t *testing.T) {
	t.Parallel()
	for name, others := range map[string]bool{"one of several": true, "all": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newEdge(t)
			port := freePorts(t, 1)
			backend, headers := e.announced(t, "sends")
			sends := host(rule("sends", port, backend), "sends.example.com")
			sends.SendProxy = l4.SendV1
			table := l4.Table{sends}
			if others {
				slow := host(rule("slow", port, e.secure(t, "slow")), "slow.example.com")
				slow.IdleTimeout = 20 * time.Minute
				table = append(table, host(rule("plain", port, e.secure(t, "plain")), "plain.example.com"), slow)
			}
			e.serve(t, table...)

			for address, kind := range map[string]string{"127.0.0.1": "TCP4", "::1": "TCP6"} {
				connection := dialAt(t, address, port)
				got, client := greets(t, connection, "sends.example.com")
				require.Equal(t, "sends", got, e.whole(t))
				from := connection.LocalAddr().(*net.TCPAddr)
				assert.Equal(t, fmt.Sprintf("PROXY %s %s %s %d %d\r\n", kind, address, address, from.Port, port), <-headers)
				require.NoError(t, client.Close())
			}
			for i := range table[1:] {
				name := table[i+1].Owner.Name
				got, client := greets(t, dial(t, port), name+".example.com")
				require.Equal(t, name, got)
				require.NoError(t, client.Close())
			}
			got, _ := greets(t, dial(t, port), "unknown.example.com")
			require.Empty(t, got)

			// Each session is told of once.
			owners := map[string]int{}
			for _, s := range e.told(t, tcp(port), len(table)+2) {
				owners[fmt.Sprint(s.Owner, " ", s.Status)]++
			}
			want := map[string]int{"test/sends/r 200": 2, " 500": 1}
			if others {
				want["test/plain/r 200"], want["test/slow/r 200"] = 1, 1
			}
			assert.Equal(t, want, owners)
		})
	}
}
