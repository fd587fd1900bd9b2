// Package service renders the Services in front of a data plane, one per
// protocol. Settings, port numbers and the observed Service enter; what shall be
// applied leaves. It may not know which data plane listens behind the Service, and
// never writes what somebody else owns: node ports, status, ports of others.
//
// The settings are taken to be legal by themselves. What is decided here is
// whether they fit the Service that is there: nothing may leave that the API
// server would refuse as an update of it, because one refused child stops all.
package service

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// Service is what shall be applied: client-go's apply configuration, but able to
// say `ports: []`, with which Metacontroller's merge removes our ports and keeps
// those of others.
type Service struct {
	metav1ac.TypeMetaApplyConfiguration
	Metadata *metav1ac.ObjectMetaApplyConfiguration `json:"metadata"`
	Spec     Spec                                   `json:"spec"`
}

// Spec is the spec of a Service.
type Spec struct {
	corev1ac.ServiceSpecApplyConfiguration
	// Ports hides the embedded field of that name. Nil leaves the ports alone, and
	// an empty list says that none of them is ours.
	Ports []corev1ac.ServicePortApplyConfiguration `json:"ports,omitzero"`
}

// Render gives the Service that shall exist with these ports, or nil if there
// shall be none. Observed is nil if there is none yet. Ports may come in any order;
// a number that a port of somebody else has is left out, see Taken.
//
// A Service without ports is kept only where others have ports on it, or where
// the idle port keeps its address; the idle port makes a TCP Service, but no UDP
// Service, that was not there.
func Render(s Settings, ports []int32, observed *corev1.Service) *Service {
	now := look(s, observed)
	list := now.usable(ports)
	if len(list) == 0 && len(now.Foreign) == 0 {
		if s.Type == None || s.IdlePort == 0 || (s.Protocol == l4.UDP && observed == nil) {
			return nil
		}
		list = []int32{s.IdlePort}
	}
	return build(now, list)
}

// usable sorts the ports that can be written beside those of others.
func (v *view) usable(ports []int32) []int32 {
	if v.settings.Type == None || v.blocked {
		return nil
	}
	taken := v.taken()
	list := make([]int32, 0, len(ports))
	for _, port := range ports {
		if _, ok := taken[v.key(port)]; !ok {
			list = append(list, port)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

func build(now *view, ports []int32) *Service {
	s := now.settings
	child := &Service{
		Metadata: &metav1ac.ObjectMetaApplyConfiguration{
			Name:        &s.Name,
			Namespace:   &s.Namespace,
			Labels:      maps.Clone(s.Labels),
			Annotations: now.annotations(),
		},
		Spec: Spec{ServiceSpecApplyConfiguration: now.spec()},
	}
	child.WithKind("Service").WithAPIVersion("v1")
	// While blocked, the list is left alone: even an empty one would be merged.
	if now.blocked && !now.fields.Has("spec", "ports") {
		return child
	}
	child.Spec.Ports = portsOf(s.Protocol, ports)
	return child
}
