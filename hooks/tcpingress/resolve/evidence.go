package resolve

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// evidence is what was observed of the class, ready to be looked up by slot.
type evidence struct {
	entries map[l4.Key]l4.Entry
	// bare finds the entry of a port as a whole: an index into list, plus 1.
	bare table[int32]
	list []l4.Entry
	// holders is the old book: an index into names, plus 1.
	holders     table[int32]
	hostHolders map[hostSlot]int32
	names       []string
	// shared are the ports that are shared by hosts now.
	shared map[slot]*sharedPort
}

// sharedPort is a port that is shared by hosts now.
type sharedPort struct {
	hosts []string
	// observed tells that the data plane has it, and accept how.
	observed, accept bool
}

// mark says that a TCPIngress has, or had, a rule on some ports.
type mark struct {
	protocol l4.Protocol
	from, to int32
	// hosts are the ones of the port that it has, none where that is not told.
	hosts []string
	// status is the rule's own status, nil where a slice says it.
	status *crdv1.RuleStatus
}

// on tells whether the mark is about the port, and about the host of it; "" is the
// port as a whole.
func (k *mark) on(port int32, host string) bool {
	return k.from <= port && port <= k.to && (host == "" || len(k.hosts) == 0 || slices.Contains(k.hosts, host))
}

// readEvidence sorts what the world knows by where it is looked up.
func readEvidence(r *run) {
	w := r.world
	e := &r.evidence
	e.entries = w.Observed.Entries
	e.readEntries()
	e.names = make([]string, 0, len(w.Class.Listeners)+len(w.Class.Ranges))
	e.readListeners(w.Class.Listeners)
	e.readRanges(w.Class.Ranges)
	e.readHosts()
	for i := range r.members {
		r.readMarks(&r.members[i])
	}
}

func (e *evidence) readEntries() {
	e.list = make([]l4.Entry, 0, len(e.entries))
	for key, entry := range e.entries {
		if key.Host == "" && isPort(key.Port) {
			e.list = append(e.list, entry)
			e.bare.set(slotOf(key.Protocol, key.Port), int32(len(e.list)))
		}
	}
}

func (e *evidence) readListeners(listeners map[string]string) {
	for text, holder := range listeners {
		key, ok := ParseKey(text)
		ingress := ingressOfHolder(holder)
		if !ok || ingress == "" {
			continue
		}
		e.names = append(e.names, ingress)
		s := slotOf(key.Protocol, key.Port)
		if key.Host == "" {
			e.holders.set(s, int32(len(e.names)))
			continue
		}
		if e.hostHolders == nil {
			e.hostHolders = map[hostSlot]int32{}
		}
		e.hostHolders[hostSlot{s, key.Host}] = int32(len(e.names))
	}
}

func (e *evidence) readRanges(ranges []crdv1.ListenerRange) {
	for i := range ranges {
		r := &ranges[i]
		p := l4.Protocol(r.Protocol)
		if p != l4.TCP && p != l4.UDP {
			continue
		}
		e.names = append(e.names, ingressOfHolder(r.Holder))
		in := clamp(crdv1.PortRange{From: r.From, To: r.To})
		for port := in.From; port <= in.To; port++ {
			if s := slotOf(p, port); e.holders.at(s) == 0 {
				e.holders.set(s, int32(len(e.names)))
			}
		}
	}
}

// readHosts finds the ports that are shared by hosts: those that the data plane
// has by host, and, where it has nothing of the kind, those of the old book.
func (e *evidence) readHosts() {
	for key, entry := range e.entries {
		if key.Host == "" || !isPort(key.Port) {
			continue
		}
		if p := e.share(slotOf(key.Protocol, key.Port), key.Host); p != nil {
			p.observed = true
			p.accept = p.accept || entry.AcceptProxy
		}
	}
	for hs := range e.hostHolders {
		e.share(hs.slot, hs.host)
	}
	for _, p := range e.shared {
		slices.Sort(p.hosts)
		p.hosts = slices.Compact(p.hosts)
	}
}

// share notes a host of a port, unless the data plane has the port as a whole.
func (e *evidence) share(s slot, host string) *sharedPort {
	if e.bare.at(s) != 0 {
		return nil
	}
	p := e.shared[s]
	if p == nil {
		p = &sharedPort{}
		if e.shared == nil {
			e.shared = map[slot]*sharedPort{}
		}
		e.shared[s] = p
	}
	p.hosts = append(p.hosts, host)
	return p
}

// entry gives what the data plane says of a port or host.
func (e *evidence) entry(s slot, host string) (l4.Entry, bool) {
	if host != "" {
		entry, ok := e.entries[s.key(host)]
		return entry, ok
	}
	if i := e.bare.at(s); i != 0 {
		return e.list[i-1], true
	}
	return l4.Entry{}, false
}

// holder gives the TCPIngress that the old book has at a port or host, or "".
func (e *evidence) holder(s slot, host string) string {
	i := e.holders.at(s)
	if host != "" {
		i = e.hostHolders[hostSlot{s, host}]
	}
	if i == 0 {
		return ""
	}
	return e.names[i-1]
}

// whole tells whether there is evidence that the port is held as a whole.
func (e *evidence) whole(s slot) bool {
	return e.holders.at(s) != 0 || e.bare.at(s) != 0
}

// readMarks lists what slices and its own status say of a TCPIngress.
func (r *run) readMarks(m *member) {
	slice := r.world.Observed.Rules[m.key]
	own := 0
	if m.StatusClass == r.class {
		own = len(m.StatusRules)
	}
	if len(slice)+own == 0 {
		return
	}
	m.marks = make([]mark, 0, len(slice)+own)
	for _, v := range slice {
		if v.Port != 0 && !refuses(v.Reason) {
			m.marks = append(m.marks, mark{l4.Protocol(v.Protocol), v.Port, max(v.Port, v.EndPort), v.Hosts, nil})
		}
	}
	for i := range own {
		s := &m.StatusRules[i]
		if s.Port != 0 && isTrue(s.Conditions, crdv1.ConditionAccepted) {
			m.marks = append(m.marks, mark{l4.Protocol(s.Protocol), s.Port, max(s.Port, s.EndPort), nil, s})
		}
	}
}

// refuses tells whether a reason in a slice is one of Accepted=False; the others
// are about what was observed of an accepted rule.
func refuses(reason string) bool {
	switch reason {
	case crdv1.ReasonInvalidRule, crdv1.ReasonDuplicateRule, crdv1.ReasonUnsupportedByProvider,
		crdv1.ReasonPortReserved, crdv1.ReasonPortNotAllowed, crdv1.ReasonPortNotGranted,
		crdv1.ReasonNamespaceNotAllowed, crdv1.ReasonNamespaceQuotaExceeded, crdv1.ReasonPortConflict,
		crdv1.ReasonHostConflict, crdv1.ReasonPoolExhausted, crdv1.ReasonCapacityExceeded,
		crdv1.ReasonProtocolDisabled:
		return true
	}
	return false
}

func isTrue(conditions []metav1.Condition, kind string) bool {
	for i := range conditions {
		if conditions[i].Type == kind {
			return conditions[i].Status == metav1.ConditionTrue
		}
	}
	return false
}
