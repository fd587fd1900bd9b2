package nginx_test

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// neighbours are two listeners that are there in any case.
func neighbours() l4.Table {
	one := l4.Listener{
		Owner: l4.Owner{Namespace: "data", Name: "redis", Rule: "tcp-1"}, Protocol: l4.TCP, Port: 1,
		Backend: l4.Backend{Namespace: "data", Service: "redis", Port: 6379},
	}
	other := one
	other.Port, other.Owner.Rule = 65535, "tcp-65535"
	return l4.Table{one, other}
}

// among puts the listener between its neighbours, and once more beside a harmless
// rule with which it shares its port, if it has hosts.
func among(l *l4.Listener) l4.Table {
	n := neighbours()
	table := l4.Table{n[0], *l}
	if len(l.Hosts) > 0 {
		friend := n[0]
		friend.Owner.Rule, friend.Port, friend.Protocol = "friend", l.Port, l.Protocol
		friend.Hosts, friend.AcceptProxy = []string{"friend.example.com"}, l.AcceptProxy
		table = append(table, friend)
	}
	return append(table, n[1])
}

// directives gives the shape of all files, in order.
func directives(t *testing.T, c *nginx.Config, table l4.Table) []string {
	t.Helper()
	files := nginx.New(*c).Files(table)
	all := []string{}
	for _, name := range nginxFiles(files) {
		text := files[name]
		if strings.HasPrefix(name, "hosts-") || strings.HasPrefix(name, "owners-") {
			text = "map a b {\n" + text + "}\n"
		}
		list, err := shape(text)
		require.NoError(t, err, text)
		all = append(all, list...)
	}
	return all
}

// nginxFiles lists what nginx reads, in this order.
func nginxFiles(files map[string]string) []string {
	var names []string
	for _, main := range []string{bundle.MainFile, bundle.UDPFile} {
		names = append(names, main)
		for line := range strings.Lines(files[main]) {
			name, ok := strings.CutPrefix(strings.TrimSpace(line), "include ")
			if name = strings.TrimSuffix(name, ";"); ok && files[name] != "" {
				names = append(names, name)
			}
		}
	}
	return names
}

// harmless gives the listener with other texts, of which nobody can doubt what they are.
func harmless(l l4.Listener) l4.Listener {
	l.Owner = l4.Owner{Namespace: "n", Name: "i", Rule: "r"}
	l.Backend.Namespace, l.Backend.Service = "n", "s"
	hosts := make([]string, len(l.Hosts))
	for i := range hosts {
		hosts[i] = strings.Repeat("h", i+1)
	}
	l.Hosts = hosts
	sources := make([]netip.Prefix, len(l.AllowSources))
	for i := range sources {
		sources[i] = netip.MustParsePrefix("10.0.0.0/8")
	}
	l.AllowSources = sources
	return l
}

// Whatever the texts are, there are the directives that there are for harmless ones,
// or the listener is left out, and nothing of the others changes.
func FuzzDirectives(f *testing.F) {
	for _, text := range []string{
		"db", "*.example.com", "a;b", "a}b", "a{", "a b", "a\nlisten 1;", "#", "$host", "${x}", `a"`, "a'", `a\`, "include", "default",
		"volatile", "hostnames", "", "..", "a..b", "*.", "*", "~x", "\x00", "é", "a\tb", "-a", "::1", "a/b", "\\default", "_",
	} {
		f.Add(text, "x", "x", "10.0.0.0/8", "cluster.local", int32(6379), int32(0), int32(80), int64(0), int64(1500), int32(3), uint8(0))
		f.Add("x", text, "x", "::/0", "cluster.local", int32(6379), int32(6400), int32(0), int64(1), int64(-1), int32(0), uint8(1))
		f.Add("x", "x", text, text, text, int32(6379), int32(-1), int32(70000), int64(1e18), int64(1e9), int32(-1), uint8(2))
		f.Add(text, text, text, "fe80::1%"+text+"/10", text, int32(443), int32(0), int32(443), int64(1e9), int64(0), int32(65536), uint8(7))
	}
	f.Fuzz(func(t *testing.T, host, object, service, cidr, domain string, port, end, backend int32, connect, idle int64, limit int32, flags uint8) {
		l := l4.Listener{
			Owner: l4.Owner{Namespace: object, Name: object, Rule: service}, Protocol: l4.TCP, Port: port, EndPort: end,
			Backend:        l4.Backend{Namespace: object, Service: service, Port: backend},
			ConnectTimeout: time.Duration(connect), IdleTimeout: time.Duration(idle), ConnectionsPerClient: limit,
			AcceptProxy: flags&8 != 0,
		}
		if flags&1 != 0 {
			l.Protocol = l4.UDP
		}
		if flags&2 == 0 {
			l.Hosts = []string{host}
		}
		if flags&4 != 0 {
			l.SendProxy = l4.SendV1
		}
		if prefix, err := netip.ParsePrefix(cidr); err == nil {
			l.AllowSources = []netip.Prefix{prefix}
		}
		c := config()
		c.ClusterDomain = domain
		got := directives(t, &c, among(&l))

		plain := config()
		if safe := harmless(l); len(nginx.New(c).Charges(&l)) > 0 {
			assert.Equal(t, directives(t, &plain, among(&safe)), got)
			return
		}
		// Left out: the neighbours, and who shares its port, are as they are without it.
		without := among(&l)
		without = append(without[:1:1], without[2:]...)
		if len(nginx.New(c).Files(without)) > 0 {
			assert.Equal(t, directives(t, &plain, without), got)
		}
	})
}
