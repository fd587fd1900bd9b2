package resolve

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
)

// Every message of the book is built here, but for those on ports of others, which
// come with the observed children. Each is a full sentence that says what is wrong,
// and what the reader can do about it. That of an invalid rule begins with the path
// of its field.

func invalidRule(errs field.ErrorList) string {
	text := errs[0].Error()
	if more := len(errs) - 1; more > 0 {
		text += fmt.Sprintf("; and %d more", more)
	}
	return text + "."
}

// duplicateName and duplicatePort use the words of the webhook.
func duplicateName(c, first *claim) string {
	return validate.SameName(c.path(), c.name, first.index).Error() + "."
}

func duplicatePort(c, first *claim) string {
	if len(c.want.Hosts) > 0 && len(first.want.Hosts) > 0 {
		host := sharedHost(c, first)
		return validate.SameHost(c.path(), slices.Index(c.rule.Hosts, host), host, first.index).Error() + "."
	}
	return validate.SamePort(c.path(), c.rule, first.index).Error() + "."
}

// path of the rule in its object.
func (c *claim) path() *field.Path { return field.NewPath("spec", "rules").Index(c.index) }

func (r *run) unsupported(path string) string {
	provider := r.spec.Provider
	if provider == "" {
		provider = crdv1.ProviderIngressNginx
	}
	if provider == crdv1.ProviderNginx {
		return fmt.Sprintf("Field %s cannot be done by provider Nginx of class %s; leave it out.", path, r.class)
	}
	return fmt.Sprintf("Field %s cannot be done by provider %s of class %s; leave it out, or use a class with provider Nginx.",
		path, provider, r.class)
}

func (r *run) protocolDisabled(p l4.Protocol) string {
	return fmt.Sprintf("%s is not enabled for class %s; use another class, or ask the platform admin to enable it.", p, r.class)
}

func (r *run) namespaceNotAllowed(namespace string) string {
	return fmt.Sprintf("Namespace %s may not use class %s; use another class, or ask the platform admin to admit the namespace in spec.allowedNamespaces.",
		namespace, r.class)
}

// portRefusal is the message for what portRefused found at a port.
func (r *run) portRefusal(reason string, c *claim, port int32) string {
	text := capital(portText(c.want.Protocol, port, port))
	switch reason {
	case crdv1.ReasonPortReserved:
		return fmt.Sprintf("%s is needed by the data plane of class %s itself; choose a port other than %s.", text, r.class, r.dp.ReservedText())
	case crdv1.ReasonPortNotAllowed:
		return fmt.Sprintf("%s is not among the ports that class %s allows; choose one of %s.", text, r.class, r.gate.allowed.text())
	}
	granted := r.gate.tenant(c.by.Namespace).granted
	if len(granted) == 0 {
		return fmt.Sprintf("%s is not granted to namespace %s, which has no ports in class %s; ask the platform admin to grant it in spec.ports.grants.",
			text, c.by.Namespace, r.class)
	}
	return fmt.Sprintf("%s is not granted to namespace %s in class %s; choose one of %s, or ask the platform admin to grant it in spec.ports.grants.",
		text, c.by.Namespace, r.class, granted.text())
}

// conflict is the message for what stands in the way of a claim.
func (r *run) conflict(o *obstacle) string {
	port := portText(o.slot.protocol(), o.slot.port(), o.slot.port())
	switch o.kind {
	case obstacleTaken:
		return o.text
	case obstacleWhole:
		return fmt.Sprintf("%s of class %s is held for all hosts by %s; choose another port, or ask its owner to name hosts.",
			capital(port), r.class, holderText(o.holder))
	case obstacleShared:
		return fmt.Sprintf("%s of class %s is shared by hosts, one of them %s of %s; name the hosts of this rule, or choose another port.",
			capital(port), r.class, o.holder.want.Hosts[0], holderText(o.holder))
	case obstacleHost:
		return fmt.Sprintf("%s on %s of class %s is held by %s; choose another host or port, or ask its owner.",
			capital(hostText(o)), port, r.class, holderText(o.holder))
	case obstacleAccept:
		return fmt.Sprintf("%s of class %s is shared with %s, where proxyProtocol.accept is %t; set it to the same, or choose another port.",
			capital(port), r.class, holderText(o.holder), o.holder.want.AcceptProxy)
	case obstacleNone, obstacleHeld:
	}
	return fmt.Sprintf("%s of class %s is held by %s; choose another port or ask its owner.", capital(port), r.class, holderText(o.holder))
}

func hostText(o *obstacle) string {
	if o.host == o.theirs {
		return "host " + o.host
	}
	return fmt.Sprintf("host %s meets %s, which", o.host, o.theirs)
}

// poolExhausted tells of the numbers that the pool could give to the claim only: those
// that are reserved, say, are nobody's.
func (r *run) poolExhausted(c *claim) string {
	p := c.want.Protocol
	if !r.pool.exists {
		return fmt.Sprintf("Class %s has no pool of ports; set port, or ask the platform admin to set spec.ports.pool.", r.class)
	}
	all := r.givable(p)
	if len(all) == 0 {
		return fmt.Sprintf("The pool of class %s, %s, has no %s port that can be given: nginx needs them itself, the class does not allow them, or its Service has them for others; set port, or ask the platform admin to move spec.ports.pool.",
			r.class, portSet{r.pool.bounds}.text(), p)
	}
	give, to := all, ""
	if r.gate.limited {
		give, to = all.within(r.gate.tenant(c.by.Namespace).granted), " to namespace "+c.by.Namespace
	}
	if len(give) == 0 {
		return fmt.Sprintf("Of the %s ports that the pool of class %s can give, %s, none is granted to namespace %s; set port, or ask the platform admin to grant some in spec.ports.grants.",
			p, r.class, all.text(), c.by.Namespace)
	}
	if left := give.without(namedBySiblings(c)); len(left) > 0 {
		give = left
	}
	which, verb := fmt.Sprintf("The only %s port", p), "is"
	switch n := give.size(); {
	case n == 2:
		which, verb = fmt.Sprintf("Both %s ports", p), "are"
	case n > 2:
		which, verb = fmt.Sprintf("All %d %s ports", n, p), "are"
	}
	return fmt.Sprintf("%s that the pool of class %s can give%s, %s, %s held; set port, or ask the platform admin to enlarge spec.ports.pool.",
		which, r.class, to, give.text(), verb)
}

// exceeded is the message for the limit that a claim would break.
func (r *run) exceeded(c *claim, e *excess) string {
	asked := count(e.asked, string(c.want.Protocol)+" port")
	switch e.kind {
	case excessNamespace:
		return fmt.Sprintf("Namespace %s may hold %s of class %s and holds %d, so %s more cannot be given; free some, or ask the platform admin to raise spec.ports.maxPerNamespace.",
			c.by.Namespace, count(e.limit, "port"), r.class, e.used, count(e.asked, "port"))
	case excessBytes:
		return fmt.Sprintf("%s of class %s has no room for this rule: %d of %d bytes are used and it needs %d; free some ports, or use another class.",
			e.child, r.class, e.used, e.limit, e.asked)
	case excessBook:
		return fmt.Sprintf("The status of TCPIngressClass %s has no room for this rule: %d of %d bytes are used and it needs %d; free some ports, or use another class.",
			r.class, e.used, e.limit, e.asked)
	case excessRanges:
		return fmt.Sprintf("Class %s holds %d of %d ranges of ports; name single ports, or use another class.", r.class, e.used, e.limit)
	case excessNone, excessPorts:
	}
	return fmt.Sprintf("%d of %d ports of the %s Service of class %s are used, so %s cannot be given; free some, or ask the platform admin to raise spec.service.maxPorts.",
		e.used, e.limit, c.want.Protocol, r.class, asked)
}

func holderText(c *claim) string {
	return fmt.Sprintf("TCPIngress %s (rule %s)", c.by.key, c.name)
}

// portText gives "port 6379/TCP" or "ports 100-110/TCP".
func portText(p l4.Protocol, from, to int32) string {
	if from == to {
		return fmt.Sprintf("port %d/%s", from, p)
	}
	return fmt.Sprintf("ports %d-%d/%s", from, to, p)
}

// capital lets a text of ours begin a sentence.
func capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
