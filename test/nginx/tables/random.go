// Package tables makes tables for the tests of provider Nginx: random ones from a
// seed, the same every time.
package tables

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// Below is the first port that no random table has: those of outgoing connections
// begin there.
const Below = 32768

// Dice picks what a rule can say.
type Dice struct{ *rand.Rand }

// Seeded gives dice that fall the same way every time.
func Seeded(seed uint64) Dice {
	return Dice{rand.New(rand.NewPCG(1, seed))} //nolint:gosec // it shall be the same every time
}

// Random makes a table of about n listeners, sorted, with ports up to Below.
func Random(seed uint64, n int) l4.Table { return Seeded(seed).Table(n) }

func (d Dice) duration() time.Duration {
	return []time.Duration{0, 0, 1500 * time.Millisecond, time.Second, 10 * time.Minute, 720 * time.Hour}[d.IntN(6)]
}

func (d Dice) sources() []netip.Prefix {
	all := []netip.Prefix{
		netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("192.0.2.1/32"),
	}
	return all[:[]int{0, 0, 1, 4}[d.IntN(4)]]
}

// Listener makes a listener of a port; i makes its names unique.
func (d Dice) Listener(port int32, i int) l4.Listener {
	l := l4.Listener{
		Owner:    l4.Owner{Namespace: fmt.Sprintf("team-%d", i%7), Name: fmt.Sprintf("in.%d", i), Rule: fmt.Sprintf("rule-%d", i)},
		Protocol: l4.TCP, Port: port,
		AllowSources: d.sources(), IdleTimeout: d.duration(), ConnectionsPerClient: int32(d.IntN(3)),
		Backend: l4.Backend{Namespace: fmt.Sprintf("team-%d", i%7), Service: fmt.Sprintf("svc-%d", i), Port: int32(1 + d.IntN(65535))},
	}
	if d.IntN(4) == 0 {
		l.Protocol = l4.UDP
		return l
	}
	l.AcceptProxy, l.ConnectTimeout = d.IntN(5) == 0, d.duration()
	if d.IntN(5) == 0 {
		l.SendProxy = l4.SendV1
	}
	return l
}

// Table makes a table of about n listeners.
func (d Dice) Table(n int) l4.Table {
	var table l4.Table
	port := int32(1 + d.IntN(50))
	for i := range n {
		port += int32(1 + d.IntN(12))
		switch l := d.Listener(port, i); {
		case d.IntN(6) == 0:
			l.EndPort, l.Backend.Port = port+int32(1+d.IntN(9)), 0
			port = l.EndPort
			table = append(table, l)
		case l.Protocol == l4.TCP && d.IntN(4) == 0:
			table = append(table, d.sharing(&l, i)...)
		default:
			table = append(table, l)
		}
	}
	return slices.DeleteFunc(table, func(l l4.Listener) bool { return l.Last() >= Below })
}

// sharing makes up to four rules that share the port of l by hosts.
func (d Dice) sharing(l *l4.Listener, i int) l4.Table {
	var table l4.Table
	for k := range 1 + d.IntN(4) {
		shared := *l
		if d.IntN(2) == 0 {
			shared = d.Listener(l.Port, 1000*i+k)
			shared.Protocol, shared.AcceptProxy = l4.TCP, l.AcceptProxy
		}
		shared.Owner.Rule = fmt.Sprintf("tls-%d", k)
		// The first one is a word of nginx' own.
		shared.Hosts = []string{
			[]string{"default", "include", "hostnames", "volatile"}[k], fmt.Sprintf("*.h%d-%d.example.com", i, k), fmt.Sprintf("h%d-%d.example.com", i, k),
		}
		table = append(table, shared)
	}
	return table
}

// Edit changes one thing that the listener says, and tells which.
func (d Dice) Edit(l *l4.Listener) string {
	edits := []struct {
		what string
		do   func()
	}{
		{"owner", func() { l.Owner.Name += "x" }},
		{"service", func() { l.Backend.Service += "x" }},
		{"idle timeout", func() { l.IdleTimeout += 7 * time.Second }},
		{"sources", func() { l.AllowSources = append(slices.Clone(l.AllowSources), netip.MustParsePrefix("203.0.113.0/24")) }},
		{"limit", func() { l.ConnectionsPerClient++ }},
		{"hosts", func() { l.Hosts = append(slices.Clone(l.Hosts), "new.example.com") }},
		{"fewer hosts", func() { l.Hosts = l.Hosts[:max(0, len(l.Hosts)-1)] }},
		{"connect timeout", func() { l.ConnectTimeout += 7 * time.Second }},
		{"accept", func() { l.AcceptProxy = !l.AcceptProxy }},
	}
	last := len(edits)
	switch {
	case l.Protocol == l4.UDP, l.EndPort != 0:
		last = 5
	case len(l.Hosts) == 0:
		edits[6].do = func() { l.Backend.Port = l.Backend.Port%65535 + 1 }
	}
	edit := edits[d.IntN(last)]
	edit.do()
	return edit.what
}
