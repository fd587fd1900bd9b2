package resolve

import crdv1 "github.com/nginx-stream/tcpingress/crd/v1"

// settleClaims gives the claims, in their order, what is free and fits. What does
// not fit is passed over; a later, smaller claim may fit. Nothing that was given
// is moved.
func settleClaims(r *run) {
	r.budget = newBudget(r)
	for _, c := range r.order {
		if c.want.Port == 0 {
			port, ok := r.lowestFree(c)
			if !ok {
				continue
			}
			c.want.Port = port
		}
		if r.obstacleOf(c).kind != obstacleNone {
			continue
		}
		c.render = r.renderingOf(c)
		cost := r.costOf(c)
		if r.budget.excess(&cost).kind != excessNone {
			continue
		}
		c.accepted = true
		r.budget.spend(&cost)
		r.ledger.give(c)
	}
}

func (r *run) obstacleOf(c *claim) obstacle {
	if o := r.ledger.obstacle(c); o.kind != obstacleNone || len(r.world.Observed.Taken) == 0 {
		return o
	}
	for port := c.want.Port; port <= c.want.Last(); port++ {
		s := slotOf(c.want.Protocol, port)
		if text := r.taken(s); text != "" {
			return obstacle{kind: obstacleTaken, slot: s, text: text}
		}
	}
	return obstacle{}
}

// explainRefusals tells the owners of claims that were passed over why. It looks
// at the final state, so that the message is the same in the next sync: what did
// not fit while claims were settled does not fit now.
func explainRefusals(r *run) {
	for _, c := range r.order {
		if c.accepted {
			continue
		}
		r.explain(c)
		c.render = nil
		if c.pooled() {
			// A number that it does not hold would come and go.
			c.want.Port = 0
		}
	}
}

func (r *run) explain(c *claim) {
	if c.pooled() {
		if _, ok := r.lowestFree(c); !ok {
			c.refuse(crdv1.ReasonPoolExhausted, r.poolExhausted(c))
			return
		}
	} else if o := r.obstacleOf(c); o.kind != obstacleNone {
		c.refuse(o.reason(), r.conflict(&o))
		return
	}
	cost := r.costOf(c)
	e := r.budget.excess(&cost)
	c.refuse(e.reason(), r.exceeded(c, &e))
}

func (o *obstacle) reason() string {
	if o.kind == obstacleHost || o.kind == obstacleAccept {
		return crdv1.ReasonHostConflict
	}
	return crdv1.ReasonPortConflict
}
