package tcpingress

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
)

// backends is what a TCPIngress can see of the Services that it names. Objects
// of other namespaces are left out, whatever the request holds.
type backends struct {
	services map[string]*backendService
	slices   map[string][]*endpointSlice
	// allowExternalName tells that the class lets rules lead to ExternalName Services.
	allowExternalName bool
}

func newBackends(namespace string, services []backendService, slices []endpointSlice) backends {
	b := backends{
		services: make(map[string]*backendService, len(services)),
		slices:   make(map[string][]*endpointSlice, len(slices)),
	}
	for i := range services {
		if s := &services[i]; s.Namespace == namespace {
			b.services[s.Name] = s
		}
	}
	for i := range slices {
		if s := &slices[i]; s.Namespace == namespace {
			name := s.Labels[discoveryv1.LabelServiceName]
			b.slices[name] = append(b.slices[name], s)
		}
	}
	return b
}

// resolution is what was found of a rule's backend.
type resolution struct {
	resolved, ready verdict
	// number is the port behind a named one, 0 if there is none.
	number int32
}

// resolve looks a rule's backend up.
func (b *backends) resolve(r *crdv1.Rule) resolution {
	name := r.Backend.Service.Name
	svc := b.services[name]
	if svc == nil {
		return unresolved(isFalse(crdv1.ReasonServiceNotFound, serviceNotFound(name)))
	}
	if svc.Spec.Type == corev1.ServiceTypeExternalName && !b.allowExternalName {
		return unresolved(isFalse(crdv1.ReasonUnsupportedService, externalName(name)))
	}
	ports, bad := backendPorts(r, svc)
	if bad != nil {
		return unresolved(*bad)
	}
	res := resolution{resolved: isTrue(crdv1.ReasonResolved, resolvedMessage(name))}
	if len(ports) > 0 && r.Backend.Service.Port != nil && r.Backend.Service.Port.Name != "" {
		res.number = ports[0].Port
	}
	res.ready = b.readiness(svc, ports)
	return res
}

// unresolved is a backend of which nothing more can be said.
func unresolved(v verdict) resolution {
	return resolution{resolved: v, ready: isUnknown(v.Reason, v.Message)}
}

// backendPorts gives the Service's ports that a rule leads to: one, or one for
// each number of a range. A second result says what is missing.
func backendPorts(r *crdv1.Rule, svc *backendService) ([]servicePort, *verdict) {
	protocol := validate.ProtocolOf(r)
	port := r.Backend.Service.Port
	switch {
	case port == nil && isRange(r):
		return rangePorts(r, svc, protocol)
	case port == nil || *port == crdv1.BackendPort{}:
		v := isFalse(crdv1.ReasonServicePortNotFound, noPortNamed(svc))
		return nil, &v
	}
	matches := func(p *servicePort) bool {
		if port.Name != "" {
			return p.Name == port.Name
		}
		return p.Port == port.Number
	}
	other := false
	for i := range svc.Spec.Ports {
		p := &svc.Spec.Ports[i]
		if !matches(p) {
			continue
		}
		if protocolOf(p) == protocol {
			return []servicePort{*p}, nil
		}
		other = true
	}
	v := isFalse(crdv1.ReasonServicePortNotFound, portNotFound(svc, port, protocol))
	if other {
		v = isFalse(crdv1.ReasonProtocolMismatch, protocolMismatch(svc, port, protocol))
	}
	return nil, &v
}

// isRange tells whether the rule has a range whose numbers can be looked up.
func isRange(r *crdv1.Rule) bool {
	return validPort(r.Port) && validPort(r.EndPort) && r.Port <= r.EndPort
}

func rangePorts(r *crdv1.Rule, svc *backendService, protocol crdv1.Protocol) ([]servicePort, *verdict) {
	found := make(map[int32]servicePort, len(svc.Spec.Ports))
	for _, p := range svc.Spec.Ports {
		if protocolOf(&p) == protocol {
			found[p.Port] = p
		}
	}
	var ports []servicePort
	missing, first := 0, int32(0)
	for n := r.Port; n <= r.EndPort; n++ {
		if p, ok := found[n]; ok {
			ports = append(ports, p)
			continue
		}
		if missing == 0 {
			first = n
		}
		missing++
	}
	if missing > 0 {
		v := isFalse(crdv1.ReasonServicePortNotFound, rangeNotFound(svc.Name, protocol, missing, first))
		return nil, &v
	}
	return ports, nil
}

// protocolOf is the protocol of a Service's port; none counts as TCP.
func protocolOf(p *servicePort) crdv1.Protocol {
	return cmp.Or(p.Protocol, crdv1.ProtocolTCP)
}

// readiness tells whether each of the ports has a ready endpoint.
func (b *backends) readiness(svc *backendService, ports []servicePort) verdict {
	if svc.Spec.Type == corev1.ServiceTypeExternalName {
		return isTrue(crdv1.ReasonBackendReady, externalNameReady(svc.Name))
	}
	for i := range ports {
		if !b.hasReady(svc.Name, &ports[i]) {
			return isFalse(crdv1.ReasonNoReadyEndpoints, noReadyEndpoints(svc.Name, ports[i].Port))
		}
	}
	return isTrue(crdv1.ReasonBackendReady, endpointsReady(svc.Name))
}

func (b *backends) hasReady(service string, port *servicePort) bool {
	for _, slice := range b.slices[service] {
		if !carries(slice, port) {
			continue
		}
		for i := range slice.Endpoints {
			// An endpoint without the condition counts as ready, see the API's comment.
			if ready := slice.Endpoints[i].Conditions.Ready; ready == nil || *ready {
				return true
			}
		}
	}
	return false
}

// carries tells whether the slice has the Service's port. Ports correspond by
// name; the port of a Service with only one has no name.
func carries(slice *endpointSlice, port *servicePort) bool {
	for i := range slice.Ports {
		p := &slice.Ports[i]
		if p.Name == port.Name && cmp.Or(p.Protocol, crdv1.ProtocolTCP) == protocolOf(port) {
			return true
		}
	}
	return false
}
