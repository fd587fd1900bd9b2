package resolve

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// tenant is what the class lets a namespace do.
type tenant struct {
	admitted bool
	granted  portSet
}

// gate holds what the class's spec says about namespaces and ports.
type gate struct {
	namespaces map[string]map[string]string
	admitted   labels.Selector
	allowed    portSet
	limited    bool
	grants     []crdv1.PortGrant
	selectors  []labels.Selector
	tenants    map[string]*tenant
}

func newGate(spec *crdv1.TCPIngressClassSpec, namespaces map[string]map[string]string) *gate {
	g := &gate{namespaces: namespaces, tenants: map[string]*tenant{}}
	if a := spec.AllowedNamespaces; a != nil && (a.From == crdv1.NamespacesFromSelector || a.From == "" && a.Selector != nil) {
		g.admitted = selector(a.Selector)
	}
	if spec.Ports != nil && len(spec.Ports.Allowed) > 0 {
		g.allowed = newPortSet(spec.Ports.Allowed)
	} else {
		g.allowed = portSet{{From: minPort, To: maxPort}}
	}
	if spec.Ports != nil && len(spec.Ports.Grants) > 0 {
		g.limited = true
		g.grants = spec.Ports.Grants
		for i := range g.grants {
			g.selectors = append(g.selectors, selector(g.grants[i].NamespaceSelector))
		}
	}
	return g
}

// selector compiles a selector. None, and one that cannot be read, select nothing.
func selector(s *metav1.LabelSelector) labels.Selector {
	compiled, err := metav1.LabelSelectorAsSelector(s)
	if err != nil {
		return labels.Nothing()
	}
	return compiled
}

// tenant looks a namespace up, once.
func (g *gate) tenant(namespace string) *tenant {
	if t, ok := g.tenants[namespace]; ok {
		return t
	}
	t := &tenant{admitted: g.admitted == nil || g.matches(g.admitted, namespace)}
	var granted []crdv1.PortRange
	for i := range g.grants {
		if slices.Contains(g.grants[i].Namespaces, namespace) || g.matches(g.selectors[i], namespace) {
			granted = append(granted, g.grants[i].Ports...)
		}
	}
	t.granted = newPortSet(granted)
	g.tenants[namespace] = t
	return t
}

// matches: a namespace that is not known matches no selector.
func (g *gate) matches(s labels.Selector, namespace string) bool {
	set, known := g.namespaces[namespace]
	return known && s.Matches(labels.Set(set))
}

// portRefused names the first port of the listener that the namespace may not
// have, with the reason, or "".
func (r *run) portRefused(l *l4.Listener) (reason string, port int32) {
	for port := l.Port; port <= l.Last(); port++ {
		if r.dp.Reserved(l.Protocol, port) {
			return crdv1.ReasonPortReserved, port
		}
	}
	if port := r.gate.allowed.missing(l.Port, l.Last()); port != 0 {
		return crdv1.ReasonPortNotAllowed, port
	}
	if port := r.gate.withheld(l); port != 0 {
		return crdv1.ReasonPortNotGranted, port
	}
	return "", 0
}

// withheld gives the first port of the listener that its namespace was not granted, or 0.
func (g *gate) withheld(l *l4.Listener) int32 {
	if !g.limited {
		return 0
	}
	return g.tenant(l.Owner.Namespace).granted.missing(l.Port, l.Last())
}
