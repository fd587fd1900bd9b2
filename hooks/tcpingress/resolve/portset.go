package resolve

import (
	"fmt"
	"slices"
	"strings"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// maxListed is how many ranges of ports a message lists.
const maxListed = 8

// portSet is a set of ports as ranges that are sorted and do not touch.
type portSet []crdv1.PortRange

func newPortSet(ranges []crdv1.PortRange) portSet {
	sorted := make(portSet, 0, len(ranges))
	for _, r := range ranges {
		if r = clamp(r); r.From <= r.To {
			sorted = append(sorted, r)
		}
	}
	slices.SortFunc(sorted, func(a, b crdv1.PortRange) int { return int(a.From - b.From) })
	set := sorted[:0]
	for _, r := range sorted {
		if n := len(set); n > 0 && r.From <= set[n-1].To+1 {
			set[n-1].To = max(set[n-1].To, r.To)
			continue
		}
		set = append(set, r)
	}
	return set
}

// missing gives the first port of from to to that is not in the set, or 0.
func (s portSet) missing(from, to int32) int32 {
	for _, r := range s {
		if r.To < from {
			continue
		}
		if r.From > from {
			return from
		}
		if r.To >= to {
			return 0
		}
		return r.To + 1
	}
	return from
}

// clamp cuts off what cannot be a port.
func clamp(r crdv1.PortRange) crdv1.PortRange {
	return crdv1.PortRange{From: max(r.From, minPort), To: min(r.To, maxPort)}
}

// within gives what both sets have.
func (s portSet) within(other portSet) portSet {
	var both portSet
	for _, a := range s {
		for _, b := range other {
			if r := (crdv1.PortRange{From: max(a.From, b.From), To: min(a.To, b.To)}); r.From <= r.To {
				both = append(both, r)
			}
		}
	}
	return both
}

// without gives what the other set has not.
func (s portSet) without(other portSet) portSet {
	var left portSet
	next := minPort
	for _, r := range other {
		left = append(left, crdv1.PortRange{From: next, To: r.From - 1})
		next = r.To + 1
	}
	left = append(left, crdv1.PortRange{From: next, To: maxPort})
	return s.within(left)
}

// size counts the ports of the set.
func (s portSet) size() int {
	n := 0
	for _, r := range s {
		n += int(r.To-r.From) + 1
	}
	return n
}

// text lists the set, shortened.
func (s portSet) text() string {
	var parts []string
	for i, r := range s {
		if i == maxListed {
			parts = append(parts, fmt.Sprintf("%d more ranges", len(s)-i))
			break
		}
		if r.From == r.To {
			parts = append(parts, fmt.Sprintf("%d", r.From))
			continue
		}
		parts = append(parts, fmt.Sprintf("%d-%d", r.From, r.To))
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}
