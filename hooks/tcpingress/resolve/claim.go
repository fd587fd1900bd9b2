package resolve

import (
	"strconv"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// member is a TCPIngress of the class.
type member struct {
	*Ingress
	// id is its place among the members: the lower is the older.
	id int32
	// key is "namespace/name".
	key    string
	claims []claim
	// marks are what slices and its own status say that it holds.
	marks []mark
}

// claim is what one rule asks for.
type claim struct {
	by    *member
	rule  *crdv1.Rule
	index int
	// name of the rule in verdicts and in the book.
	name string
	// want is what the rule says. Its port is 0 while none has been found for a
	// rule that takes one from the pool.
	want l4.Listener
	// candidates are numbers that a rule without a port may have had.
	candidates []int32
	// valid tells that nothing is wrong with the rule by itself.
	valid    bool
	standing standing
	accepted bool
	render   *l4.Listener
	// withdrawn tells that nothing is rendered because the Service may not be used.
	withdrawn bool
	// reason and message are set where the rule is refused.
	reason, message string
}

// pooled tells whether the number comes from the pool.
func (c *claim) pooled() bool { return c.rule.Port == 0 }

func (c *claim) refuse(reason, message string) { c.reason, c.message = reason, message }

// at gives the claim as it would be on another port.
func (c *claim) at(port int32) claim {
	moved := *c
	moved.want.Port = port
	return moved
}

// overlaps tells whether two claims meet on a port of one protocol.
func (c *claim) overlaps(o *claim) bool {
	return c.want.Protocol == o.want.Protocol &&
		c.want.Port <= o.want.Last() && o.want.Port <= c.want.Last()
}

// spot is the place of the rule in the list of rules, as field paths have it.
func (c *claim) spot() string { return "rules[" + strconv.Itoa(c.index) + "]" }

// verdict is what leaves the book about the rule.
func (c *claim) verdict() RuleVerdict {
	v := RuleVerdict{
		Name: c.name, Port: c.want.Port, EndPort: c.want.EndPort, Protocol: c.want.Protocol,
		Reason: c.reason, Message: c.message,
	}
	if c.accepted {
		v.Want, v.Render, v.Withdrawn = &c.want, c.render, c.withdrawn
	}
	return v
}
