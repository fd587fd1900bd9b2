package resolve

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// renderingOf decides what may be rendered of a claim:
//
//	the rule's Service                     what is rendered
//	judged, and usable                     what the rule says
//	judged as one that may not be used     nothing; the claim is kept
//	not judged yet, but the port is open   what is observed, until it is judged
//	not judged yet                         nothing
func (r *run) renderingOf(c *claim) *l4.Listener {
	s := judged(c)
	if s == nil {
		return r.observedRendering(c)
	}
	if r.forbids(s) {
		c.withdrawn = true
		return nil
	}
	if r.needsPortNumbers() && c.want.Backend.PortName != "" {
		return r.observedRendering(c)
	}
	return &c.want
}

// forbids tells whether a status recorded that its Service may not be used: an
// ExternalName would let a tenant reach any host.
func (r *run) forbids(s *crdv1.RuleStatus) bool {
	if r.spec.Provider == crdv1.ProviderNginx && r.spec.Nginx != nil && r.spec.Nginx.AllowExternalName {
		return false
	}
	for i := range s.Conditions {
		k := &s.Conditions[i]
		if k.Type == crdv1.ConditionResolvedRefs {
			return k.Status == metav1.ConditionFalse && k.Reason == crdv1.ReasonUnsupportedService
		}
	}
	return false
}

// forbidsService is forbids for a Service that any rule of the object recorded.
func (r *run) forbidsService(m *member, service string) bool {
	for i := range m.StatusRules {
		if s := &m.StatusRules[i]; s.ServiceName == service && r.forbids(s) {
			return true
		}
	}
	return false
}

// observedRendering keeps what the data plane does for the claim's TCPIngress
// now, as far as one listener can say it, or nil.
func (r *run) observedRendering(c *claim) *l4.Listener {
	var out *l4.Listener
	for port := c.want.Port; port <= c.want.Last(); port++ {
		s := slotOf(c.want.Protocol, port)
		for host := range r.placesOf(c, s) {
			entry, ok := r.ownEntry(c, s, host)
			switch {
			case !ok:
			case out == nil:
				out = observedListener(c, port, host, &entry)
			case !extend(out, c, port, host, &entry) && len(c.want.Hosts) == 0 && host != "":
				// Hosts that led to several backends become one port: none is right.
				return nil
			}
		}
	}
	if out != nil && sameRoute(out, &c.want) {
		return &c.want
	}
	return out
}

// sameRoute compares what observedListener and extend set.
func sameRoute(a, b *l4.Listener) bool {
	return a.Port == b.Port && a.EndPort == b.EndPort && a.Backend == b.Backend && a.SendProxy == b.SendProxy &&
		slices.Equal(a.Hosts, b.Hosts)
}

// ownEntry gives the observed entry at a place where the claim's TCPIngress is
// the incumbent.
func (r *run) ownEntry(c *claim, s slot, host string) (l4.Entry, bool) {
	entry, ok := r.evidence.entry(s, host)
	ok = ok && entry.Backend.Namespace == c.by.Namespace &&
		r.incumbents.at(s, host).member == c.by.id+1 &&
		!r.forbidsService(c.by, entry.Backend.Service)
	return entry, ok
}

// observedListener is the claim's listener on one port, leading where the entry
// does. What is spoken to a backend belongs to the backend, so it stays with it.
func observedListener(c *claim, port int32, host string, entry *l4.Entry) *l4.Listener {
	l := c.want
	l.Port, l.EndPort = port, 0
	l.Backend, l.SendProxy = entry.Backend, entry.SendProxy
	if l.Backend.Port == 0 && l.Backend.PortName == "" {
		l.Backend.Port = port
	}
	if len(l.Hosts) > 0 && host != "" {
		l.Hosts = []string{host}
	}
	return &l
}

// extend adds a port or a host to an observed listener if it leads to the same.
func extend(l *l4.Listener, c *claim, port int32, host string, entry *l4.Entry) bool {
	if l.Backend.Service != entry.Backend.Service || l.SendProxy != entry.SendProxy {
		return false
	}
	if port == l.Port {
		if l.Backend != entry.Backend {
			return false
		}
		if len(c.want.Hosts) > 0 {
			l.Hosts = append(l.Hosts, host)
		}
		return true
	}
	straight := l.EndPort != 0 || byNumber(&l.Backend, l.Port)
	if port != l.Last()+1 || !straight || !byNumber(&entry.Backend, port) {
		return false
	}
	l.EndPort, l.Backend.Port = port, 0
	return true
}
