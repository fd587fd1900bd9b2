// Package resolve keeps the port book of a class: which rule of which TCPIngress
// holds which port. A World enters: the class, all TCPIngresses, and what the
// children say. An Outcome leaves: the table of listeners that shall exist, a
// verdict on every rule, and the book for the class's status.
//
// It is a pure function. The same World, in any order, gives the same Outcome;
// nothing in the World is changed; there is no clock, no log and no memory
// between two calls. What a data plane can do is asked of a Dataplane; no
// renderer is imported.
//
// The one rule that everything else serves: a port that works is never taken
// away by a newcomer.
package resolve

import (
	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// Resolve settles all claims on the ports of the class.
func Resolve(w *World, dp Dataplane) Outcome {
	r := &run{world: w, dp: dp, class: w.Class.Name, spec: w.Class.Spec}
	if r.spec == nil {
		r.spec = &crdv1.TCPIngressClassSpec{}
	}
	steps := []func(*run){
		gatherMembers,   // whose rules count: membership.go
		stateClaims,     // what each rule asks for, if it may: check.go
		readEvidence,    // what the children and the statuses say: evidence.go
		listCandidates,  // numbers that rules without a port may have had: pool.go
		findIncumbents,  // who has which port now: incumbent.go
		keepPoolNumbers, // rules without a port get back what they had: pool.go
		rankClaims,      // who comes first: order.go
		settleClaims,    // who gets it, and what of it is rendered: settle.go, render.go
		explainRefusals, // why the others do not: settle.go
		writeVerdicts,   // book.go
		writeTable,      // book.go
		writeBook,       // book.go
	}
	for _, step := range steps {
		step(r)
	}
	return r.out
}

// run is the state of one call of Resolve, filled step by step.
type run struct {
	world *World
	dp    Dataplane
	class string
	spec  *crdv1.TCPIngressClassSpec

	// members are the TCPIngresses of the class, the oldest first.
	members []member
	// claims are the claims of all members, in the order of members and rules.
	claims []claim
	// gate knows which ports a namespace may use.
	gate *gate
	// asked are the ports that valid rules name themselves.
	asked slotSet
	// evidence is what was observed, incumbents what follows from it.
	evidence   evidence
	incumbents incumbents
	// order are the valid claims, first come first served.
	order []*claim
	// ledger knows who has been given what, budget what is left.
	ledger ledger
	budget budget
	pool   pool

	out Outcome
}

// valid gives the claims that nothing is wrong with by themselves.
func (r *run) valid(yield func(*claim) bool) {
	for i := range r.claims {
		if c := &r.claims[i]; c.valid && !yield(c) {
			return
		}
	}
}
