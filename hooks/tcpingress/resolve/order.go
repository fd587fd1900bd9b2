package resolve

import (
	"cmp"
	"slices"
	"strings"
)

// standing tells how much of what a claim asks for its TCPIngress has already.
// The lower comes first.
type standing uint8

const (
	// standsLive: it has all, and the children carry exactly what the rule says.
	standsLive standing = iota
	// standsWhole: it has all, but the rule was edited, or is not rendered yet.
	standsWhole
	// standsPart: it has some of the ports or hosts, or all of them and asks for
	// something that those it shares the port with would have to follow.
	standsPart
	// standsNew: it has nothing of it.
	standsNew
)

// compareClaims is the one place where ties between claims are broken:
//
//	what is compared        first comes                          why
//	1 standing              live, whole, part, new               a port that works is never taken by a newcomer,
//	                                                             and no edit of a neighbour uses up its budget
//	2 creationTimestamp     the older TCPIngress                 first come, first served
//	3 namespace, then name  the lower in byte order              two objects of the same second
//	4 index of the rule     the earlier rule                     two rules of one object
func compareClaims(a, b *claim) int {
	if a.standing != b.standing {
		return cmp.Compare(a.standing, b.standing)
	}
	if a.by.id != b.by.id {
		// Members are numbered by compareAge.
		return cmp.Compare(a.by.id, b.by.id)
	}
	return cmp.Compare(a.index, b.index)
}

// compareAge is rows 2 and 3 of compareClaims.
func compareAge(a, b *Ingress) int {
	if d := a.Created.Compare(b.Created); d != 0 {
		return d
	}
	if d := strings.Compare(a.Namespace, b.Namespace); d != 0 {
		return d
	}
	return strings.Compare(a.Name, b.Name)
}

// rankClaims puts the valid claims in the order in which they are settled.
func rankClaims(r *run) {
	r.order = make([]*claim, 0, len(r.claims))
	for c := range r.valid {
		c.standing = r.standingOf(c)
		r.order = append(r.order, c)
	}
	slices.SortFunc(r.order, compareClaims)
}
