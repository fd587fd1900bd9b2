package resolve

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

func TestParseKey(t *testing.T) {
	t.Parallel()
	accept := map[string]l4.Key{
		"1/TCP":                   {Protocol: l4.TCP, Port: 1},
		"65535/UDP":               {Protocol: l4.UDP, Port: 65535},
		"8443/TCP/db.example.com": {Protocol: l4.TCP, Port: 8443, Host: "db.example.com"},
		"8443/TCP/*.example.com":  {Protocol: l4.TCP, Port: 8443, Host: "*.example.com"},
	}
	for text, want := range accept {
		got, ok := ParseKey(text)
		assert.True(t, ok, text)
		assert.Equal(t, want, got, text)
		assert.Equal(t, text, FormatKey(got))
	}
	for _, text := range []string{
		"", "/", "1", "1/", "0/TCP", "01/TCP", "+1/TCP", "-1/TCP", " 1/TCP", "1 /TCP", "65536/TCP", "99999999999/TCP",
		"1/tcp", "1/SCTP", "1/TCP/", "1/TCP/a/b", "a/TCP", "1e3/TCP", "0x1/TCP", "1/TCP /a",
	} {
		_, ok := ParseKey(text)
		assert.False(t, ok, text)
	}
}

func TestPropertyKeysReadBack(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		want := l4.Key{
			Protocol: rapid.SampledFrom([]l4.Protocol{l4.TCP, l4.UDP}).Draw(t, "protocol"),
			Port:     rapid.Int32Range(minPort, maxPort).Draw(t, "port"),
			Host:     rapid.StringMatching(`(|\*\.|[a-z0-9.-]{1,8})`).Draw(t, "host"),
		}
		got, ok := ParseKey(FormatKey(want))
		require.True(t, ok)
		require.Equal(t, want, got)
		s := slotOf(want.Protocol, want.Port)
		require.Equal(t, want, s.key(want.Host))
	})
}

func TestParseHolder(t *testing.T) {
	t.Parallel()
	got, ok := ParseHolder("data/redis/tcp-6379")
	assert.True(t, ok)
	assert.Equal(t, l4.Owner{Namespace: "data", Name: "redis", Rule: "tcp-6379"}, got)
	for _, text := range []string{"", "a", "a/b", "a/b/", "/b/c", "a//c", "a/b/c/d", HolderHosts} {
		_, ok := ParseHolder(text)
		assert.False(t, ok, text)
	}
}

func TestHolderOf(t *testing.T) {
	t.Parallel()
	listeners := map[string]string{"1/TCP": "a/x/r", "2/TCP": HolderHosts, "2/TCP/a.org": "b/x/r"}
	ranges := []crdv1.ListenerRange{{From: 10, To: 12, Protocol: "UDP", Holder: "c/x/r"}}
	for text, want := range map[string]string{
		"1/TCP": "a/x/r", "1/UDP": "", "2/TCP": HolderHosts, "2/TCP/a.org": "b/x/r", "2/TCP/b.org": "",
		"1/TCP/a.org": "a/x/r", "10/UDP": "c/x/r", "12/UDP": "c/x/r", "13/UDP": "", "9/UDP": "", "10/TCP": "",
	} {
		key, ok := ParseKey(text)
		require.True(t, ok, text)
		assert.Equal(t, want, HolderOf(listeners, ranges, key), text)
	}
}

func TestTheBookIsWritten(t *testing.T) {
	t.Parallel()
	out := Resolve(newWorld(
		ti("data/redis", 1, "6379/TCP -> redis:6379; 53/UDP -> dns:53"),
		ti("a/tls", 2, "8443/TCP b.org,a.org -> x:1"),
		ti("b/tls", 3, "8443/TCP c.org -> x:1"),
		ti("a/ftp", 4, "30000-30010/TCP -> ftp; 20000-20001/UDP -> ftp; 20000-20001/TCP -> ftp; 7-7/TCP -> ftp"),
		ti("c/late", 5, "6379/TCP -> x:1"),
	), &fake{})
	assert.Equal(t, map[string]string{
		"6379/TCP": "data/redis/tcp-6379", "53/UDP": "data/redis/udp-53", "7/TCP": "a/ftp/tcp-7",
		"8443/TCP": HolderHosts, "8443/TCP/a.org": "a/tls/tcp-8443", "8443/TCP/b.org": "a/tls/tcp-8443", "8443/TCP/c.org": "b/tls/tcp-8443",
	}, out.Listeners)
	assert.Equal(t, []crdv1.ListenerRange{
		{From: 20000, To: 20001, Protocol: "TCP", Holder: "a/ftp/tcp-20000"},
		{From: 20000, To: 20001, Protocol: "UDP", Holder: "a/ftp/udp-20000"},
		{From: 30000, To: 30010, Protocol: "TCP", Holder: "a/ftp/tcp-30000"},
	}, out.Ranges)
	assert.Empty(t, out.Table, "no Service has been judged yet")
}

// A block of consecutive ports and one odd port: numeric order, not that of strings.
func TestTheTableIsInNumericOrder(t *testing.T) {
	t.Parallel()
	w := newWorld(ti("cf/router", 1, "20000-20008/TCP -> tcp-router"), ti("cf/ssh", 2, "2222/TCP -> ssh-proxy:2222; 2222/UDP -> ssh-proxy:2222"),
		ti("cf/tls", 3, "b=3000/TCP b.org -> x:1; a=3000/TCP c.org,a.org -> x:1"))
	for range 2 {
		w = advance(w, Resolve(w, &fake{}))
	}
	var got []string
	for _, l := range Resolve(w, &fake{}).Table {
		got = append(got, listenerText(&l))
	}
	assert.Equal(t, []string{
		"2222/TCP cf/ssh-proxy:2222", "2222/UDP cf/ssh-proxy:2222", "3000/TCP [a.org c.org] cf/x:1", "3000/TCP [b.org] cf/x:1",
		"20000-20008/TCP cf/tcp-router:0",
	}, got)
}

// Entries of Services that are gone do not matter: of two objects, one has no
// Service, and the other's verdict is the same with and without it.
func TestClaimsDoNotDependOnOthersServices(t *testing.T) {
	t.Parallel()
	shop := ti("shop/db", 2, "3306/TCP -> mysql:3306")
	with := missing(newWorld(ti("foot/x", 1, "9001/TCP -> gone:9001"), shop).status("foot/x", "tcp-9001", "9001/TCP", "gone", 9001), "foot/x")
	out := Resolve(with, &fake{})
	assert.Equal(t, Resolve(newWorld(shop), &fake{}).Verdicts["shop/db"], out.Verdicts["shop/db"])
	assert.Equal(t, "foot/x/tcp-9001", out.Listeners["9001/TCP"], "the claim is kept")
}

// A TCPIngress is gone, its entry is still observed: another one takes the port
// in that same sync.
func TestAPortOfSomebodyWhoIsGoneIsFreeAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(ti("ci/agent-2", 2, "50001/TCP -> other:50001")).entry("50001/TCP", "ci/jnlp:50001").book("50001/TCP", "ci/agent-1/tcp-50001")
	assert.Equal(t, map[string]string{"50001/TCP": "ci/agent-2/tcp-50001"}, Resolve(w, &fake{}).Listeners)
	w.Ingresses = nil
	out := Resolve(w, &fake{})
	assert.Empty(t, out.Listeners)
	assert.Empty(t, out.Table)
}

// Two objects lead to one Service: deleting one leaves the other's port alone.
func TestTwoObjectsOnOneServiceAreApart(t *testing.T) {
	t.Parallel()
	w := newWorld(ti("a/one", 1, "10001/TCP -> db:5432"), ti("a/two", 2, "10002/TCP -> db:5432"))
	for range 2 {
		w = advance(w, Resolve(w, &fake{}))
	}
	before := Resolve(w, &fake{})
	w.Ingresses[0].Deleting = true
	after := Resolve(w, &fake{})
	assert.Len(t, before.Table, 2)
	assert.Equal(t, before.Table[1:], after.Table)
	assert.Equal(t, map[string]string{"10002/TCP": "a/two/tcp-10002"}, after.Listeners)
}

func TestAnEmptyWorld(t *testing.T) {
	t.Parallel()
	out := Resolve(&World{Class: Class{Name: "nginx"}}, &fake{})
	assert.Empty(t, out.Table)
	assert.Empty(t, out.Listeners)
	assert.Empty(t, out.Verdicts)
	in := ti("a/x", 1, "1/TCP -> x:1")
	in.Spec = nil
	assert.Empty(t, Resolve(newWorld(in), &fake{}).Verdicts)
}
