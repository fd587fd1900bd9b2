package resolve

import (
	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// score is how strongly the evidence names a TCPIngress at one port or host. The
// higher wins; among equals the older. 0 means that nothing names it.
//
//	bits   meaning
//	3-4    3: the observed entry leads where its rule says, or said when its status
//	       was written; or into its namespace, where a slice says that it is its own.
//	       2: the entry leads into its namespace, and book or status name it.
//	       1: slice, book or status name it.
//	2      a slice names it
//	1      the old book names it
//	0      its own status names it
//
// Children come first because their updates are optimistically locked: the
// data plane's configuration, then the slices. Statuses are written from stale
// parents too, so they only ever break a tie.
type score uint8

const (
	namedByStatus score = 1 << iota
	namedByBook
	namedBySlice
	levelNamed
	levelNamespace
	levelFits = levelNamed | levelNamespace
)

// best is the TCPIngress that is named most strongly, as its id plus 1.
type best struct {
	member int32
	score  score
}

// beats tells whether b is the stronger of the two.
func (b best) beats(o best) bool {
	return b.score > o.score || b.score == o.score && b.member < o.member
}

// incumbents are the TCPIngresses that have a port, or a host on a port, now.
// An incumbent is a TCPIngress, not the name of a rule.
type incumbents struct {
	ports table[best]
	hosts map[hostSlot]best
}

func (i *incumbents) at(s slot, host string) best {
	if host == "" {
		return i.ports.at(s)
	}
	return i.hosts[hostSlot{s, host}]
}

func (i *incumbents) raise(s slot, host string, b best) {
	if b.score == 0 {
		return
	}
	if now := i.at(s, host); now.member != 0 && !b.beats(now) {
		return
	}
	if host == "" {
		i.ports.set(s, b)
		return
	}
	if i.hosts == nil {
		i.hosts = map[hostSlot]best{}
	}
	i.hosts[hostSlot{s, host}] = b
}

// findIncumbents lets every valid claim bring its evidence for what it asks.
func findIncumbents(r *run) {
	for c := range r.valid {
		if !c.pooled() {
			r.testify(c)
			continue
		}
		for _, port := range c.candidates {
			moved := c.at(port)
			r.testify(&moved)
		}
	}
}

func (r *run) testify(c *claim) {
	marks := c.by.marksOn(c)
	for port := c.want.Port; port <= c.want.Last(); port++ {
		s := slotOf(c.want.Protocol, port)
		for host := range r.placesOf(c, s) {
			r.incumbents.raise(s, host, best{c.by.id + 1, r.scoreOf(c, s, host, marks)})
		}
	}
}

// placesOf gives where on a port the evidence for a claim is: at its hosts, or
// "" for the port as a whole. A port that is shared now is looked at host by
// host even if the claim wants all of it, and a port that is held as a whole now
// is looked at as a whole even if the claim wants some hosts only.
func (r *run) placesOf(c *claim, s slot) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		hosts := c.want.Hosts
		p := r.evidence.shared[s]
		switch {
		case p != nil && len(hosts) == 0:
			hosts = p.hosts
		case p == nil && len(hosts) > 0 && r.evidence.whole(s):
			hosts = nil
		}
		if len(hosts) == 0 {
			yield("")
			return
		}
		for _, host := range hosts {
			if !yield(host) {
				return
			}
		}
	}
}

// marksOn gives the marks of the TCPIngress that touch the claim's ports.
func (m *member) marksOn(c *claim) []mark {
	var out []mark
	for i, k := range m.marks {
		if k.protocol == c.want.Protocol && k.from <= c.want.Last() && c.want.Port <= k.to {
			if len(m.marks) == 1 {
				return m.marks
			}
			if out == nil {
				out = make([]mark, 0, len(m.marks)-i)
			}
			out = append(out, k)
		}
	}
	return out
}

// scoreOf weighs what names the claim's TCPIngress at one port or host.
func (r *run) scoreOf(c *claim, s slot, host string, marks []mark) score {
	port := s.port()
	entry, observed := r.evidence.entry(s, host)
	observed = observed && entry.Backend.Namespace == c.by.Namespace
	fits := observed && leadsTo(&c.want.Backend, &entry.Backend, port)
	var named score
	for i := range marks {
		k := &marks[i]
		switch {
		case !k.on(port, host):
		case k.status == nil:
			named |= namedBySlice
		default:
			named |= namedByStatus
			fits = fits || observed && recorded(k.status, &entry.Backend, port)
		}
	}
	if r.evidence.holder(s, host) == c.by.key {
		named |= namedByBook
	}
	switch {
	case fits, observed && named&namedBySlice != 0:
		return levelFits | named
	case named == 0:
		return 0
	case observed:
		return levelNamespace | named
	}
	return levelNamed | named
}

// leadsTo tells whether an observed backend is the one that is asked for. Both
// are of one namespace.
func leadsTo(want, got *l4.Backend, port int32) bool {
	if want.Service != got.Service {
		return false
	}
	if want.Port == 0 && want.PortName == "" {
		return byNumber(got, port)
	}
	return want.Port == got.Port && want.PortName == got.PortName
}

// byNumber tells whether a port leads to the same number of its Service, as the
// ports of a range do.
func byNumber(got *l4.Backend, port int32) bool {
	return got.PortName == "" && (got.Port == port || got.Port == 0)
}

// recorded tells whether an observed backend is the one that a status recorded.
func recorded(s *crdv1.RuleStatus, got *l4.Backend, port int32) bool {
	switch {
	case s.ServiceName == "" || s.ServiceName != got.Service:
		return false
	case got.PortName != "":
		return s.PortName == got.PortName
	case s.EndPort > s.Port:
		return byNumber(got, port)
	}
	return got.Port != 0 && s.BackendPort == got.Port
}

// standingOf tells how much of the claim its TCPIngress has already.
func (r *run) standingOf(c *claim) standing {
	if c.want.Port == 0 {
		return standsNew
	}
	has, total, live := 0, 0, true
	for port := c.want.Port; port <= c.want.Last(); port++ {
		s := slotOf(c.want.Protocol, port)
		for host := range r.placesOf(c, s) {
			total++
			if r.incumbents.at(s, host).member == c.by.id+1 {
				has++
			}
		}
		live = live && r.isLive(c, s)
	}
	switch {
	case has == 0:
		return standsNew
	case has < total || r.turnsAccept(c):
		return standsPart
	case live:
		return standsLive
	}
	return standsWhole
}

// isLive tells whether the data plane does on a port what the claim asks.
func (r *run) isLive(c *claim, s slot) bool {
	if len(c.want.Hosts) == 0 {
		return r.isLiveAt(c, s, "")
	}
	for _, host := range c.want.Hosts {
		if !r.isLiveAt(c, s, host) {
			return false
		}
	}
	return true
}

func (r *run) isLiveAt(c *claim, s slot, host string) bool {
	entry, ok := r.evidence.entry(s, host)
	return ok && entry.Backend.Namespace == c.by.Namespace && leadsTo(&c.want.Backend, &entry.Backend, s.port()) &&
		entry.AcceptProxy == c.want.AcceptProxy && entry.SendProxy == c.want.SendProxy
}

// turnsAccept tells whether the claim wants a shared port to accept the PROXY
// protocol otherwise than it does now, which its neighbours would have to follow.
func (r *run) turnsAccept(c *claim) bool {
	if len(c.want.Hosts) == 0 {
		return false
	}
	p := r.evidence.shared[slotOf(c.want.Protocol, c.want.Port)]
	return p != nil && p.observed && p.accept != c.want.AcceptProxy
}
