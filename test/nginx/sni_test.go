package nginx

import (
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// host makes a rule of a shared port.
func host(l l4.Listener, hosts ...string) l4.Listener {
	l.Hosts = hosts
	return l
}

func TestHosts(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	port := freePorts(t, 1)
	gone := l4.Backend{Namespace: "test", Service: "gone", Port: 443}
	e.serve(t,
		host(rule("exact", port, e.secure(t, "exact")), "db.example.com"),
		host(rule("wild", port, e.secure(t, "wild")), "*.example.com"),
		host(rule("deep", port, e.secure(t, "deep")), "*.deep.example.com"),
		host(rule("word", port, e.secure(t, "word")), "default"),
		host(rule("gone", port, gone), "gone.example.com"),
	)
	tests := map[string]struct {
		host, want, owner string
		status            int
	}{
		"an exact name":                      {"db.example.com", "exact", "test/exact/r", 200},
		"in capitals":                        {"DB.Example.COM", "exact", "test/exact/r", 200},
		"a wildcard":                         {"web.example.com", "wild", "test/wild/r", 200},
		"a wildcard covers any depth":        {"a.b.c.example.com", "wild", "test/wild/r", 200},
		"the longer wildcard wins":           {"a.deep.example.com", "deep", "test/deep/r", 200},
		"a wildcard is not for its parent":   {"example.com", "", "", 500},
		"a word that maps know":              {"default", "word", "test/word/r", 200},
		"an unknown name is closed":          {"example.org", "", "", 500},
		"no name is closed":                  {"", "", "", 500},
		"a backend that cannot be looked up": {"gone.example.com", "", "test/gone/r", 500},
	}
	want := map[string]bundle.Session{}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, client := greets(t, dial(t, port), tc.host)
			assert.Equal(t, tc.want, got)
			_ = client.Close()
		})
		want[tc.host] = bundle.Session{Owner: tc.owner, Status: tc.status}
	}
	// What is no TLS is closed too.
	connection := dial(t, port)
	_, err := connection.Write([]byte("GET / HTTP/1.0\r\n\r\n"))
	require.NoError(t, err)
	isClosed(t, connection)

	got := map[string]bundle.Session{}
	for _, s := range e.told(t, tcp(port), len(tests)+1) {
		got[s.ServerName] = bundle.Session{Owner: s.Owner, Status: s.Status}
	}
	assert.Equal(t, want, got)
}

// TestSharedPortWithLimits is about what each rule of a shared port says for itself.
// set, allow and limit_conn run before the name is read: none may depend on it.
func TestSharedPortWithLimits(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	port := freePorts(t, 1)
	limited := func(name string, limit int32) l4.Listener {
		l := host(rule(name, port, e.secure(t, name)), name+".example.com")
		l.ConnectionsPerClient = limit
		return l
	}
	from := func(name, source string) l4.Listener {
		l := host(rule(name, port, e.secure(t, name)), name+".example.com")
		l.AllowSources = []netip.Prefix{netip.MustParsePrefix(source)}
		return l
	}
	silent := host(rule("silent", port, e.secure(t, "silent")), "silent.example.com")
	silent.IdleTimeout = time.Second
	e.serve(t, host(rule("plain", port, e.secure(t, "plain")), "plain.example.com"),
		limited("one", 1), limited("two", 2),
		from("here", "127.0.0.0/8"), from("there", "192.0.2.0/24"), from("six", "::1/128"), silent)

	hold := func(address, name, want string) {
		t.Helper()
		got, _ := greets(t, dialAt(t, address, port), name+".example.com")
		require.Equal(t, want, got)
	}
	// Each host has a count of its own.
	hold("127.0.0.1", "one", "one")
	hold("127.0.0.1", "two", "two")
	hold("127.0.0.1", "one", "")
	hold("127.0.0.1", "two", "two")
	hold("127.0.0.1", "two", "")
	hold("::1", "two", "two") // another client
	hold("127.0.0.1", "plain", "plain")
	// Each knows the client, not the socket between the servers.
	hold("127.0.0.1", "here", "here")
	hold("::1", "here", "")
	hold("127.0.0.1", "there", "")
	hold("127.0.0.1", "six", "")
	hold("::1", "six", "six")

	begin := time.Now()
	connection := dial(t, port)
	got, client := greets(t, connection, "silent.example.com")
	require.Equal(t, "silent", got)
	isClosed(t, client)
	assert.InDelta(t, 1, time.Since(begin).Seconds(), 0.9)

	counts := map[string]int{}
	for _, s := range e.told(t, tcp(port), 6) {
		counts[fmt.Sprint(s.Owner, " ", s.Status)]++
	}
	assert.Equal(t, map[string]int{
		"test/one/r 503": 1, "test/two/r 503": 1, "test/here/r 403": 1, "test/there/r 403": 1, "test/six/r 403": 1, "test/silent/r 200": 1,
	}, counts)
}

// One map has the hosts of all ports: no port may answer for the hosts of another.
func TestHostsOfAnotherPort(t *testing.T) {
	t.Parallel()
	e := newEdge(t)
	first := freePorts(t, 2)
	e.serve(t,
		host(rule("one", first, e.secure(t, "one")), "db.example.com"),
		host(rule("other", first+1, e.secure(t, "other")), "*.example.com"),
	)
	for name, tc := range map[string]struct {
		port       int32
		host, want string
	}{
		"the host of its port":           {first, "db.example.com", "one"},
		"the wildcard of another port":   {first, "web.example.com", ""},
		"the host of both":               {first + 1, "db.example.com", "other"},
		"a name that ends with the port": {first, fmt.Sprintf("db.example.com.%d", first), ""},
		"one that ends with the other":   {first, fmt.Sprintf("web.example.com.%d", first+1), ""},
	} {
		got, client := greets(t, dial(t, tc.port), tc.host)
		assert.Equal(t, tc.want, got, name)
		_ = client.Close()
	}
	// Who leaves without a word asked for nobody.
	require.NoError(t, dial(t, first).Close())
	silent := 0
	for _, s := range e.told(t, tcp(first), 5) {
		if s.ServerName == "" {
			silent++
			assert.Equal(t, " 200", fmt.Sprint(s.Owner, " ", s.Status))
			assert.Empty(t, s.Upstream)
		}
	}
	assert.Equal(t, 1, silent)
}
