package resolve

import (
	"net/netip"
	"slices"
	"time"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
)

// listenerOf turns a valid rule into what the data plane is asked for.
func listenerOf(r *crdv1.Rule, owner l4.Owner) l4.Listener {
	l := l4.Listener{
		Owner:    owner,
		Protocol: l4.Protocol(validate.ProtocolOf(r)),
		Port:     r.Port,
		Backend:  l4.Backend{Namespace: owner.Namespace, Service: r.Backend.Service.Name},
	}
	if p := r.Backend.Service.Port; p != nil {
		l.Backend.Port, l.Backend.PortName = p.Number, p.Name
	}
	switch {
	case r.EndPort > r.Port:
		l.EndPort = r.EndPort
	case r.EndPort != 0:
		// A range of one port is a port, which is cheaper in the book.
		l.Backend.Port = r.Port
	}
	if len(r.Hosts) > 0 {
		l.Hosts = slices.Sorted(slices.Values(r.Hosts))
	}
	if p := r.ProxyProtocol; p != nil {
		l.AcceptProxy = p.Accept
		if p.Send == crdv1.ProxyProtocolV1 {
			l.SendProxy = l4.SendV1
		}
	}
	if t := r.Timeouts; t != nil {
		l.ConnectTimeout, l.IdleTimeout = duration(t.Connect), duration(t.Idle)
	}
	if r.Limits != nil {
		l.ConnectionsPerClient = r.Limits.ConnectionsPerClient
	}
	l.AllowSources = prefixes(r.AllowSources)
	return l
}

// duration reads one that was found valid.
func duration(d crdv1.Duration) time.Duration {
	parsed, err := validate.ParseDuration(d)
	if err != nil {
		return 0
	}
	return parsed
}

// prefixes reads CIDRs that were found valid, and sorts them: their order means
// nothing, so that it should change nothing.
func prefixes(cidrs []string) []netip.Prefix {
	if len(cidrs) == 0 {
		return nil
	}
	out := make([]netip.Prefix, 0, len(cidrs))
	for _, text := range cidrs {
		if p, err := netip.ParsePrefix(text); err == nil {
			out = append(out, p)
		}
	}
	slices.SortFunc(out, func(a, b netip.Prefix) int {
		if d := a.Addr().Compare(b.Addr()); d != 0 {
			return d
		}
		return a.Bits() - b.Bits()
	})
	return out
}

// resolvePortName puts the number behind a named port into the claim where the
// data plane cannot write names. Until the number is known the name stays, and
// nothing new is rendered.
func (r *run) resolvePortName(c *claim) {
	if !r.needsPortNumbers() || c.want.Backend.PortName == "" {
		return
	}
	if s := judged(c); s != nil && s.BackendPort != 0 {
		c.want.Backend.Port, c.want.Backend.PortName = s.BackendPort, ""
	}
}

// needsPortNumbers: ingress-nginx resolves names itself.
func (r *run) needsPortNumbers() bool {
	return r.spec.Provider == crdv1.ProviderNginx || r.world.PortNumbers
}

// judged gives what the object's status recorded of the Service that the rule
// names now, or nil. The rule's own record comes first. That of another rule counts
// too: an edited port gives a rule without a name a new one, and were its listener
// dropped until the next verdict, the Service might go, and its address with it.
func judged(c *claim) *crdv1.RuleStatus {
	service := &c.rule.Backend.Service
	name := ""
	if service.Port != nil {
		name = service.Port.Name
	}
	var found *crdv1.RuleStatus
	for i := range c.by.StatusRules {
		s := &c.by.StatusRules[i]
		if s.ServiceName != service.Name || s.PortName != name {
			continue
		}
		if s.Name == c.name {
			return s
		}
		if found == nil {
			found = s
		}
	}
	return found
}
