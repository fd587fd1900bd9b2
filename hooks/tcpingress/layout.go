package tcpingress

import (
	"cmp"
	"maps"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/ingressnginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/service"
)

// layout is a class with its defaults filled in: which children it has.
type layout struct {
	class string
	nginx ingressnginx.Config
	// tcp and udp describe the Services; their Type is None where there is none.
	tcp, udp service.Settings
}

// layoutOf reads the class's spec. It does not judge it, see validate.Class.
func layoutOf(class string, spec *crdv1.TCPIngressClassSpec) layout {
	labels := map[string]string{crdv1.LabelClass: class}
	l := layout{class: class, nginx: ingressnginx.Config{
		Namespace:    spec.Namespace,
		TCPConfigMap: crdv1.DefaultTCPConfigMapName,
		UDPConfigMap: crdv1.DefaultUDPConfigMapName,
		Reserved:     crdv1.DefaultReservedPorts(),
		Labels:       labels,
	}}
	selector, explicit := ingressnginx.DefaultSelector(), false
	if n := spec.IngressNginx; n != nil {
		if n.TCPConfigMapName != nil {
			l.nginx.TCPConfigMap = *n.TCPConfigMapName
		}
		if n.UDPConfigMapName != nil {
			l.nginx.UDPConfigMap = *n.UDPConfigMapName
		}
		if n.ReservedPorts != nil {
			l.nginx.Reserved = n.ReservedPorts
		}
		if len(n.Selector) > 0 {
			selector, explicit = n.Selector, true
		}
	}
	base := service.Settings{Namespace: spec.Namespace, Selector: selector, SelectorExplicit: explicit, Labels: labels, MaxPorts: crdv1.DefaultMaxPorts}
	tcpName, udpName := class+crdv1.DefaultTCPNameSuffix, class+crdv1.DefaultUDPNameSuffix
	if s := spec.Service; s != nil {
		fillService(&base, s)
		tcpName, udpName = cmp.Or(s.TCPName, tcpName), cmp.Or(s.UDPName, udpName)
	}
	l.tcp, l.udp = base, base
	l.tcp.Name, l.tcp.Protocol = tcpName, l4.TCP
	l.udp.Name, l.udp.Protocol = udpName, l4.UDP
	return l
}

func fillService(base *service.Settings, s *crdv1.ClassService) {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = make(map[string]string, len(base.Labels))
	}
	maps.Copy(labels, base.Labels)
	base.Labels = labels
	base.Type = string(s.Type)
	base.Annotations = s.Annotations
	base.LoadBalancerClass = s.LoadBalancerClass
	base.LoadBalancerSourceRanges = s.LoadBalancerSourceRanges
	base.ExternalTrafficPolicy = string(s.ExternalTrafficPolicy)
	base.IPFamilyPolicy = string(s.IPFamilyPolicy)
	base.AllocateNodePorts = s.AllocateLoadBalancerNodePorts
	base.IdlePort = s.IdlePort
	if s.MaxPorts != nil {
		base.MaxPorts = int(*s.MaxPorts)
	}
}

func (l *layout) settings(p l4.Protocol) *service.Settings {
	if p == l4.UDP {
		return &l.udp
	}
	return &l.tcp
}

func (l *layout) configMap(p l4.Protocol) string {
	if p == l4.UDP {
		return l.nginx.UDPConfigMap
	}
	return l.nginx.TCPConfigMap
}

// configMaps lists the names of the ConfigMaps that the class has.
func (l *layout) configMaps() []string {
	var names []string
	for _, p := range protocols() {
		if name := l.configMap(p); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// services lists the names of the Services that the class may have.
func (l *layout) services() []string {
	var names []string
	for _, p := range protocols() {
		if l.configMap(p) != "" {
			names = append(names, l.settings(p).Name)
		}
	}
	return names
}

func protocols() [2]l4.Protocol { return [...]l4.Protocol{l4.TCP, l4.UDP} }
