package resolve

import (
	"slices"
	"strconv"
	"strings"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// HolderHosts is the holder of a port that is shared by hosts.
const HolderHosts = "*hosts"

// FormatKey gives the key of the book: "6379/TCP" or "8443/TCP/db.example.com".
func FormatKey(k l4.Key) string {
	buf := make([]byte, 0, 16+len(k.Host))
	buf = strconv.AppendInt(buf, int64(k.Port), 10)
	buf = append(buf, '/')
	buf = append(buf, k.Protocol...)
	if k.Host != "" {
		buf = append(buf, '/')
		buf = append(buf, k.Host...)
	}
	return string(buf)
}

// ParseKey reads what FormatKey gives; anything else, also another spelling of
// the same number, is not a key.
func ParseKey(text string) (l4.Key, bool) {
	number, rest, found := strings.Cut(text, "/")
	port, ok := parsePort(number)
	if !found || !ok {
		return l4.Key{}, false
	}
	protocol, host, shared := strings.Cut(rest, "/")
	k := l4.Key{Protocol: l4.Protocol(protocol), Port: port, Host: host}
	if k.Protocol != l4.TCP && k.Protocol != l4.UDP {
		return l4.Key{}, false
	}
	if shared && (host == "" || strings.Contains(host, "/")) {
		return l4.Key{}, false
	}
	return k, true
}

// parsePort reads a port in its plain decimal form only.
func parsePort(text string) (int32, bool) {
	if text == "" || len(text) > 5 || text[0] == '0' {
		return 0, false
	}
	var n int32
	for i := range len(text) {
		if text[i] < '0' || text[i] > '9' {
			return 0, false
		}
		n = n*10 + int32(text[i]-'0')
	}
	return n, isPort(n)
}

// ParseHolder reads a holder of the book, "namespace/name/rule".
func ParseHolder(text string) (l4.Owner, bool) {
	namespace, rest, ok := strings.Cut(text, "/")
	name, rule, ok2 := strings.Cut(rest, "/")
	if !ok || !ok2 || namespace == "" || name == "" || rule == "" || strings.Contains(rule, "/") {
		return l4.Owner{}, false
	}
	return l4.Owner{Namespace: namespace, Name: name, Rule: rule}, true
}

// HolderOf looks up who holds a key in the book of a class: "namespace/name/rule",
// HolderHosts for the bare key of a port that is shared by hosts, "" for nobody.
func HolderOf(listeners map[string]string, ranges []crdv1.ListenerRange, k l4.Key) string {
	if holder, ok := listeners[FormatKey(k)]; ok {
		return holder
	}
	if k.Host != "" {
		if holder := listeners[FormatKey(l4.Key{Protocol: k.Protocol, Port: k.Port})]; holder != HolderHosts {
			return holder
		}
		return ""
	}
	for i := range ranges {
		r := &ranges[i]
		if l4.Protocol(r.Protocol) == k.Protocol && r.From <= k.Port && k.Port <= r.To {
			return r.Holder
		}
	}
	return ""
}

// ingressOfHolder cuts the rule off a holder, without a check of the rest.
func ingressOfHolder(holder string) string {
	if i := strings.LastIndexByte(holder, '/'); i >= 0 {
		return holder[:i]
	}
	return ""
}

// writeBook enters every accepted claim, also those that are not rendered yet.
func writeBook(r *run) {
	out := &r.out
	out.Listeners = make(map[string]string, len(r.order))
	for _, c := range r.order {
		if !c.accepted {
			continue
		}
		w := &c.want
		holder := w.Owner.String()
		switch {
		case w.Last() > w.Port:
			out.Ranges = append(out.Ranges, crdv1.ListenerRange{
				From: w.Port, To: w.Last(), Protocol: crdv1.Protocol(w.Protocol), Holder: holder,
			})
		case len(w.Hosts) > 0:
			out.Listeners[FormatKey(l4.Key{Protocol: w.Protocol, Port: w.Port})] = HolderHosts
			for _, host := range w.Hosts {
				out.Listeners[FormatKey(l4.Key{Protocol: w.Protocol, Port: w.Port, Host: host})] = holder
			}
		default:
			out.Listeners[FormatKey(l4.Key{Protocol: w.Protocol, Port: w.Port})] = holder
		}
	}
	slices.SortFunc(out.Ranges, func(a, b crdv1.ListenerRange) int {
		return int(slotOf(l4.Protocol(a.Protocol), a.From) - slotOf(l4.Protocol(b.Protocol), b.From))
	})
}

// writeTable enters what shall be rendered.
func writeTable(r *run) {
	sorted := make([]*l4.Listener, 0, len(r.order))
	for _, c := range r.order {
		if c.accepted && c.render != nil {
			sorted = append(sorted, c.render)
		}
	}
	slices.SortFunc(sorted, func(a, b *l4.Listener) int {
		if d := int(slotOf(a.Protocol, a.Port) - slotOf(b.Protocol, b.Port)); d != 0 {
			return d
		}
		return slices.Compare(a.Hosts, b.Hosts)
	})
	r.out.Table = make(l4.Table, len(sorted))
	for i, l := range sorted {
		r.out.Table[i] = *l
	}
}

// writeVerdicts reports on every rule, in the order of the rules.
func writeVerdicts(r *run) {
	r.out.Verdicts = make(map[string]Verdict, len(r.members))
	all := make([]RuleVerdict, len(r.claims))
	n := 0
	for i := range r.members {
		m := &r.members[i]
		rules := all[n : n+len(m.claims) : n+len(m.claims)]
		n += len(m.claims)
		for j := range m.claims {
			rules[j] = m.claims[j].verdict()
		}
		r.out.Verdicts[m.key] = Verdict{Generation: m.Generation, Rules: rules}
	}
}
