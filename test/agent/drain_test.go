package agent

import (
	"encoding/json"
	"net"
	"net/netip"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/dns/dnsmessage"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
	"github.com/nginx-stream/tcpingress/test/nginx/process"
)

// settled is after how long an nginx that was followed may end at the earliest, with
// time to find that out.
const settled = 2500 * time.Millisecond

// streamsUDP serves, for each packet, so many answers, one after the other.
func streamsUDP(t *testing.T, answers int, pause time.Duration) int {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 64)
		for {
			_, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			go func() {
				for i := range answers {
					_, _ = conn.WriteTo([]byte(strconv.Itoa(i)), from)
					time.Sleep(pause)
				}
			}()
		}
	}()
	return conn.LocalAddr().(*net.UDPAddr).Port
}

// A backend that goes on to send is not cut off, however much longer than the idle
// timeout that takes; after it is silent, its nginx ends.
func TestStreamOfAnswersOutlivesChanges(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	const answers, pause = 130, 50 * time.Millisecond
	table := l4.Table{rule(l4.UDP, freePort(t), streamsUDP(t, answers, pause), "game")}
	table[0].IdleTimeout = time.Second
	r.start(table)
	conn := dialUDP(t, int(table[0].Port))
	require.NoError(t, ask(conn, "0", patience))
	for i := range 2 {
		table = append(table, rule(l4.UDP, freePort(t), echoUDP(t), "other"+strconv.Itoa(i)))
		r.change(table)
	}
	for i := 1; i < answers; i++ {
		text := make([]byte, 64)
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
		n, err := conn.Read(text)
		require.NoError(t, err, "answer %d of %d", i, answers)
		require.Equal(t, strconv.Itoa(i), string(text[:n]))
	}
	assert.Equal(t, 2, r.udpRunning(), "the one in the middle had no sessions")
	r.eventually("it has ended", func() bool { return r.udpRunning() == 1 })
	require.NoError(t, ask(conn, "0", patience), "the next packet is a session of the next")
}

// How long a session might be silent is of no interest to an nginx that has none.
func TestNginxWithoutSessionsEnds(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	table := l4.Table{rule(l4.UDP, freePort(t), echoUDP(t), "dns")}
	table[0].IdleTimeout = time.Hour
	r.start(table)
	table = append(table, rule(l4.UDP, freePort(t), echoUDP(t), "other"))
	r.change(table)
	require.NoError(t, asked(t, int(table[0].Port), "question"))
	r.eventually("it has ended", func() bool { return r.udpRunning() == 1 })
	r.change(table[1:])
	time.Sleep(settled)
	assert.Equal(t, 2, r.udpRunning(), "the next has one")
}

// byName renders a table whose backends are looked up.
func (r *rig) byName(dns *process.DNS, table l4.Table) map[string]string {
	r.t.Helper()
	files := nginx.New(r.config).Files(table)
	if os.Getuid() == 0 {
		files[bundle.MainFile] = "user root;\n" + files[bundle.MainFile]
		files[bundle.UDPFile] = "user root;\n" + files[bundle.UDPFile]
	}
	var index bundle.Index
	require.NoError(r.t, json.Unmarshal([]byte(files[bundle.IndexFile]), &index))
	index.Resolvers = []string{dns.Address}
	raw, err := json.Marshal(index)
	require.NoError(r.t, err)
	files[bundle.IndexFile] = string(raw)
	return files
}

// A worker keeps the socket that it asks a DNS server from; that is no session. One to
// a backend that is the DNS server is.
func TestQuestionsToTheDNSServerAreNoSessions(t *testing.T) {
	t.Parallel()
	dns, err := process.NewDNS()
	require.NoError(t, err)
	t.Cleanup(func() { _ = dns.Close() })
	dns.Set("data/dns", "127.0.0.1")
	r := newRig(t)
	r.config.Workers = 2
	server := netip.MustParseAddrPort(dns.Address)
	echo := rule(l4.UDP, freePort(t), echoUDP(t), "dns")
	echo.IdleTimeout = 300 * time.Millisecond
	lookup := rule(l4.UDP, freePort(t), int(server.Port()), "dns")
	lookup.IdleTimeout = time.Hour
	r.show(r.byName(dns, l4.Table{echo, lookup}))
	r.startAgent()
	r.startNginx()
	r.startUDP()
	r.eventually("it is live", func() bool { return r.live() != "" })

	for i := range 8 { // both workers look it up
		require.NoError(t, asked(t, int(echo.Port), "question "+strconv.Itoa(i)))
	}
	require.Positive(t, dns.Questions("dns.data.svc.cluster.local."))
	r.changeTo(r.byName(dns, l4.Table{lookup}))
	r.eventually("it has ended", func() bool { return r.udpRunning() == 1 })

	question := dnsmessage.Message{Header: dnsmessage.Header{ID: 7}, Questions: []dnsmessage.Question{{
		Name: dnsmessage.MustNewName("dns.data.svc.cluster.local."), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET,
	}}}
	packet, err := question.Pack()
	require.NoError(t, err)
	conn := dialUDP(t, int(lookup.Port))
	_, err = conn.Write(packet)
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(patience)))
	_, err = conn.Read(make([]byte, 512))
	require.NoError(t, err)
	r.changeTo(r.byName(dns, l4.Table{echo, lookup}))
	time.Sleep(settled)
	assert.Equal(t, 2, r.udpRunning(), "it has a session")
}

// A session that waits for the DNS server has no socket yet.
func TestSessionThatWaitsForADNSServerIsNotForgotten(t *testing.T) {
	t.Parallel()
	dns, err := process.NewDNS()
	require.NoError(t, err)
	t.Cleanup(func() { _ = dns.Close() })
	dns.Set("data/dns", "127.0.0.1")
	r := newRig(t)
	r.config.ResolverTimeout = 4 * time.Second
	table := l4.Table{rule(l4.UDP, freePort(t), echoUDP(t), "dns"), rule(l4.UDP, freePort(t), echoUDP(t), "other")}
	table[0].IdleTimeout = time.Second
	r.show(r.byName(dns, table))
	r.startAgent()
	r.startNginx()
	r.startUDP()
	r.eventually("it is live", func() bool { return r.live() != "" })
	dns.Delay(3 * time.Second)
	conn := dialUDP(t, int(table[0].Port))
	_, err = conn.Write([]byte("question"))
	require.NoError(t, err)
	r.changeTo(r.byName(dns, table[:1]))
	require.NoError(t, answer(conn, "question", 2*patience))
}
