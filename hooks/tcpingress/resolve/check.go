package resolve

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
)

// stateClaims makes a claim of every rule and checks it by itself. What fails
// here holds no port and blocks nobody.
func stateClaims(r *run) {
	r.gate = newGate(r.spec, r.world.Namespaces)
	r.asked = newSlotSet()
	total := 0
	for i := range r.members {
		total += len(r.members[i].Spec.Rules)
	}
	r.claims = make([]claim, total)
	rest := r.claims
	for i := range r.members {
		m := &r.members[i]
		m.claims, rest = rest[:len(m.Spec.Rules)], rest[len(m.Spec.Rules):]
		r.state(m)
	}
	for c := range r.valid {
		r.ask(c)
	}
}

// state makes the claims of one TCPIngress.
func (r *run) state(m *member) {
	readRules(m)
	for i := range m.claims {
		c := &m.claims[i]
		if c.reason == crdv1.ReasonInvalidRule {
			c.want = sketch(c.rule)
			continue
		}
		c.want = listenerOf(c.rule, l4.Owner{Namespace: m.Namespace, Name: m.Name, Rule: c.name})
		r.resolvePortName(c)
		if c.reason == "" {
			r.check(c)
		}
		if c.reason == "" {
			checkSiblings(c)
		}
		c.valid = c.reason == ""
	}
}

// readRules makes the claims of one TCPIngress, named and checked for syntax.
func readRules(m *member) {
	errs := ruleErrors(m.Spec)
	for i := range m.claims {
		m.claims[i] = claim{by: m, rule: &m.Spec.Rules[i], index: i}
		if len(errs[i]) > 0 {
			m.claims[i].refuse(crdv1.ReasonInvalidRule, invalidRule(errs[i]))
		}
	}
	nameClaims(m)
}

// RuleNames gives the name by which the verdict on each rule goes: its own one,
// or "rules[3]" where that is no name or another rule of the object has it.
func RuleNames(spec *crdv1.TCPIngressSpec) []string {
	m := member{Ingress: &Ingress{Spec: spec}, claims: make([]claim, len(spec.Rules))}
	readRules(&m)
	names := make([]string, len(m.claims))
	for i := range m.claims {
		names[i] = m.claims[i].name
	}
	return names
}

// ruleErrors gives what is wrong with each rule by itself.
func ruleErrors(spec *crdv1.TCPIngressSpec) []field.ErrorList {
	errs := make([]field.ErrorList, len(spec.Rules))
	if len(spec.Rules) == 1 && len(validate.Rule(&spec.Rules[0], nil)) == 0 {
		// What most objects are like needs no paths and no names of other rules.
		return errs
	}
	for i, e := range validate.Spec(spec, field.NewPath("spec")).Rules {
		errs[i] = e.Own
	}
	return errs
}

// nameClaims gives each claim a name that no other one of the object has. Valid
// rules choose first, in their order, so that a bad rule never takes down a good one.
func nameClaims(m *member) {
	if len(m.claims) == 1 && m.claims[0].reason == "" {
		m.claims[0].name = validate.RuleName(m.claims[0].rule)
		return
	}
	names := make(map[string]*claim, len(m.claims))
	for i := range m.claims {
		c := &m.claims[i]
		if c.reason != "" {
			continue
		}
		c.name = validate.RuleName(c.rule)
		if first := names[c.name]; first != nil {
			c.refuse(crdv1.ReasonDuplicateRule, duplicateName(c, first))
			c.name = c.spot()
			continue
		}
		names[c.name] = c
	}
	for i := range m.claims {
		c := &m.claims[i]
		if c.reason != crdv1.ReasonInvalidRule {
			continue
		}
		c.name = validate.RuleName(c.rule)
		if names[c.name] != nil || !usableName(c) {
			c.name = c.spot()
		}
		names[c.name] = c
	}
}

// usableName tells whether the name of an invalid rule can stand in a status: it
// is a DNS label, and no default that is made of an invalid port.
func usableName(c *claim) bool {
	if c.rule.Name == "" && !isPort(c.rule.Port) {
		return false
	}
	probe := crdv1.Rule{Name: c.name, Port: minPort, Backend: crdv1.Backend{Service: crdv1.BackendService{
		Name: "a", Port: &crdv1.BackendPort{Number: minPort},
	}}}
	return c.rule.Name == "" || len(validate.Rule(&probe, nil)) == 0
}

// sketch is as much of an invalid rule as can stand in a status.
func sketch(r *crdv1.Rule) l4.Listener {
	var l l4.Listener
	if p := l4.Protocol(validate.ProtocolOf(r)); p == l4.TCP || p == l4.UDP {
		l.Protocol = p
	}
	if isPort(r.Port) {
		l.Port = r.Port
	}
	if isPort(r.EndPort) && r.EndPort > l.Port && l.Port != 0 {
		l.EndPort = r.EndPort
	}
	return l
}

// check asks of a valid rule, in this order, whether the class's data plane can
// do it and whether its namespace may have it.
func (r *run) check(c *claim) {
	if f := r.dp.Check(&c.want); f != "" {
		c.refuse(crdv1.ReasonUnsupportedByProvider, r.unsupported(f))
		return
	}
	if !r.dp.Enabled(c.want.Protocol) {
		c.refuse(crdv1.ReasonProtocolDisabled, r.protocolDisabled(c.want.Protocol))
		return
	}
	if !r.gate.tenant(c.by.Namespace).admitted {
		c.refuse(crdv1.ReasonNamespaceNotAllowed, r.namespaceNotAllowed(c.by.Namespace))
		return
	}
	if c.pooled() {
		return
	}
	if reason, port := r.portRefused(&c.want); reason != "" {
		c.refuse(reason, r.portRefusal(reason, c, port))
	}
}

// checkSiblings refuses a rule on a port that an earlier rule of the same object
// has, unless each of them has hosts of its own.
func checkSiblings(c *claim) {
	if c.pooled() {
		return
	}
	for i := range c.by.claims[:c.index] {
		o := &c.by.claims[i]
		if !o.valid || o.pooled() || !o.overlaps(c) {
			continue
		}
		if len(o.want.Hosts) > 0 && len(c.want.Hosts) > 0 {
			if host := sharedHost(c, o); host == "" {
				continue
			}
		}
		c.refuse(crdv1.ReasonDuplicateRule, duplicatePort(c, o))
		return
	}
}

// ask notes the ports that a valid rule names itself.
func (r *run) ask(c *claim) {
	if c.pooled() {
		return
	}
	for port := c.want.Port; port <= c.want.Last(); port++ {
		r.asked.add(slotOf(c.want.Protocol, port))
	}
}
