package resolve

import (
	"slices"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// pool gives numbers to rules that name none.
type pool struct {
	bounds crdv1.PortRange
	exists bool
	// next is where to go on looking, by protocol, for a number that nobody asked
	// for, and for any number. What has been passed over stays taken.
	next [2][2]int32
	// kept are the numbers that rules got back.
	kept slotSet
	// givable, by protocol, is what isGivable finds, once that was asked for.
	givable [2]portSet
	counted [2]bool
}

// listCandidates finds the numbers that each rule without a port may have had by
// its name: in its slice, in the old book, in its own status.
func listCandidates(r *run) {
	p := &r.pool
	if r.spec.Ports != nil && r.spec.Ports.Pool != nil {
		p.exists = true
		p.bounds = clamp(*r.spec.Ports.Pool)
	}
	for i := range p.next {
		p.next[i] = [2]int32{p.bounds.From, p.bounds.From}
	}
	booked := r.bookedNumbers()
	if len(booked) == 0 {
		return
	}
	for c := range r.valid {
		if !c.pooled() {
			continue
		}
		var had []int32
		if v, ok := r.world.Observed.Rules[c.by.key][c.name]; ok && !refuses(v.Reason) && l4.Protocol(v.Protocol) == c.want.Protocol {
			had = append(had, v.Port)
		}
		had = append(had, booked[c.want.Owner]...)
		had = append(had, ownNumber(c, r.class))
		for _, port := range had {
			if isPort(port) && !slices.Contains(c.candidates, port) && r.mayKeep(c, port) {
				c.candidates = append(c.candidates, port)
			}
		}
	}
}

// bookedNumbers gives what the old book says of each rule without a port. It has
// a key for every such rule.
func (r *run) bookedNumbers() map[l4.Owner][]int32 {
	booked := map[l4.Owner][]int32{}
	protocols := map[l4.Owner]l4.Protocol{}
	for c := range r.valid {
		if c.pooled() {
			booked[c.want.Owner] = nil
			protocols[c.want.Owner] = c.want.Protocol
		}
	}
	if len(booked) == 0 {
		return nil
	}
	for text, holder := range r.world.Class.Listeners {
		owner, ok := ParseHolder(holder)
		if _, asked := booked[owner]; !ok || !asked {
			continue
		}
		if key, ok := ParseKey(text); ok && key.Host == "" && key.Protocol == protocols[owner] {
			booked[owner] = append(booked[owner], key.Port)
		}
	}
	for owner := range booked {
		slices.Sort(booked[owner])
	}
	return booked
}

// ownNumber is what the rule's own status says that it got, or 0.
func ownNumber(c *claim, class string) int32 {
	if c.by.StatusClass != class {
		return 0
	}
	for i := range c.by.StatusRules {
		s := &c.by.StatusRules[i]
		if s.Name == c.name && l4.Protocol(s.Protocol) == c.want.Protocol && isTrue(s.Conditions, crdv1.ConditionAccepted) {
			return s.Port
		}
	}
	return 0
}

// mayKeep tells whether the rule's namespace may have the number, nobody else's
// Service port has it, and no other rule of the object names it.
func (r *run) mayKeep(c *claim, port int32) bool {
	moved := c.at(port)
	if reason, _ := r.portRefused(&moved.want); reason != "" || r.taken(slotOf(c.want.Protocol, port)) != "" {
		return false
	}
	return !siblingNames(&moved)
}

// siblingNames tells whether another rule of the object names the port. It gets
// it, or else nobody of the object does: two rules must not fight for a number.
func siblingNames(c *claim) bool {
	for i := range c.by.claims {
		if o := &c.by.claims[i]; o.valid && !o.pooled() && o.overlaps(c) {
			return true
		}
	}
	return false
}

// taken gives why a number cannot be given to anybody, or "".
func (r *run) taken(s slot) string {
	if len(r.world.Observed.Taken) == 0 {
		return ""
	}
	return r.world.Observed.Taken[s.key("")]
}

// keepPoolNumbers gives rules without a port what they had: by name, and, where
// their name is new or every record is lost, by what the data plane says.
func keepPoolNumbers(r *run) {
	r.pool.kept = newSlotSet()
	var left []*claim
	for c := range r.valid {
		if c.pooled() && !r.keep(c, c.candidates) {
			left = append(left, c)
		}
	}
	if len(left) == 0 || !r.pool.exists {
		return
	}
	pointing := r.entriesInPool()
	for _, c := range left {
		var had []int32
		for _, port := range pointing[l4.Backend{Namespace: c.by.Namespace, Service: c.want.Backend.Service}] {
			s := slotOf(c.want.Protocol, port)
			entry, ok := r.evidence.entry(s, "")
			if ok && leadsTo(&c.want.Backend, &entry.Backend, port) && !r.asked.has(s) && r.mayKeep(c, port) {
				moved := c.at(port)
				r.testify(&moved)
				had = append(had, port)
			}
		}
		r.keep(c, had)
	}
}

// keep takes the first number that is the rule's own.
func (r *run) keep(c *claim, had []int32) bool {
	for _, port := range had {
		s := slotOf(c.want.Protocol, port)
		moved := c.at(port)
		if r.pool.kept.has(s) || r.standingOf(&moved) > standsWhole {
			continue
		}
		r.pool.kept.add(s)
		c.want.Port = port
		return true
	}
	return false
}

// entriesInPool lists the observed numbers of the pool by the Service they lead to.
func (r *run) entriesInPool() map[l4.Backend][]int32 {
	out := map[l4.Backend][]int32{}
	for key, entry := range r.evidence.entries {
		if key.Host == "" && r.pool.bounds.From <= key.Port && key.Port <= r.pool.bounds.To {
			to := l4.Backend{Namespace: entry.Backend.Namespace, Service: entry.Backend.Service}
			out[to] = append(out[to], key.Port)
		}
	}
	for to := range out {
		slices.Sort(out[to])
		out[to] = slices.Compact(out[to])
	}
	return out
}

// lowestFree gives the lowest number of the pool that the rule may have: one
// that no rule names, as long as there is any.
func (r *run) lowestFree(c *claim) (int32, bool) {
	p := &r.pool
	if !p.exists {
		return 0, false
	}
	for pass, avoid := range []bool{true, false} {
		next := &p.next[slotOf(c.want.Protocol, 0)][pass]
		for port := *next; port <= p.bounds.To; port++ {
			s := slotOf(c.want.Protocol, port)
			if !r.isFree(s) || avoid && r.asked.has(s) {
				if port == *next {
					*next = port + 1
				}
				continue
			}
			if moved := c.at(port); r.gate.withheld(&moved.want) == 0 && !siblingNames(&moved) {
				return port, true
			}
		}
	}
	return 0, false
}

// isFree tells whether a number of the pool could be given to somebody now.
func (r *run) isFree(s slot) bool { return r.ledger.isFree(s) && r.isGivable(s) }

// isGivable tells whether a number could be given to somebody, if nobody held it.
func (r *run) isGivable(s slot) bool {
	return r.taken(s) == "" && !r.dp.Reserved(s.protocol(), s.port()) && r.gate.allowed.missing(s.port(), s.port()) == 0
}

// givable are the numbers of the pool that could be given to somebody.
func (r *run) givable(protocol l4.Protocol) portSet {
	i := slotOf(protocol, 0)
	if !r.pool.counted[i] {
		r.pool.counted[i] = true
		var all []crdv1.PortRange
		for port := r.pool.bounds.From; port <= r.pool.bounds.To; port++ {
			if r.isGivable(slotOf(protocol, port)) {
				all = append(all, crdv1.PortRange{From: port, To: port})
			}
		}
		r.pool.givable[i] = newPortSet(all)
	}
	return r.pool.givable[i]
}

// namedBySiblings are the numbers that other rules of the object name.
func namedBySiblings(c *claim) portSet {
	var named []crdv1.PortRange
	for i := range c.by.claims {
		if o := &c.by.claims[i]; o.valid && !o.pooled() && o.want.Protocol == c.want.Protocol {
			named = append(named, crdv1.PortRange{From: o.want.Port, To: o.want.Last()})
		}
	}
	return newPortSet(named)
}
