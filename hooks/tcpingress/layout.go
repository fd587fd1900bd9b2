package tcpingress

import (
	"cmp"
	"maps"
	"time"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/ingressnginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/workload"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/service"
)

// layout is a class with its defaults filled in: which children it has.
type layout struct {
	class string
	// provider is the one that judges the rules: that of the class, or, where a switch
	// is refused, the one that it has.
	provider crdv1.Provider

	ingressNginx ingressnginx.Config
	nginx        nginx.Config
	workload     workload.Settings

	// services describe the Services as each provider wants them; their Type is None
	// where there is none.
	services map[crdv1.Provider]*[2]service.Settings

	// propagation is how long a change may take to reach nginx, and drain how long the
	// old side of a switch stays.
	propagation, drain time.Duration
}

// layoutOf reads the class's spec. It does not judge it, see validate.Class.
func layoutOf(class string, spec *crdv1.TCPIngressClassSpec, agentImage string) layout {
	labels := map[string]string{crdv1.LabelClass: class}
	l := layout{
		class:        class,
		provider:     providerOf(spec),
		ingressNginx: ingressNginxConfig(spec, labels),
	}
	l.fillNginx(spec, labels, agentImage)

	selector, explicit := ingressnginx.DefaultSelector(), false
	if n := spec.IngressNginx; n != nil && len(n.Selector) > 0 {
		selector, explicit = n.Selector, true
	}
	base := service.Settings{Namespace: spec.Namespace, Selector: selector, SelectorExplicit: explicit, Labels: labels, MaxPorts: crdv1.DefaultMaxPorts}
	tcpName, udpName := class+crdv1.DefaultTCPNameSuffix, class+crdv1.DefaultUDPNameSuffix
	if s := spec.Service; s != nil {
		fillService(&base, s)
		tcpName, udpName = cmp.Or(s.TCPName, tcpName), cmp.Or(s.UDPName, udpName)
	}
	own := base
	own.Selector, own.SelectorExplicit = l.workload.Selector, true
	l.services = map[crdv1.Provider]*[2]service.Settings{
		crdv1.ProviderIngressNginx: bothProtocols(&base, tcpName, udpName),
		crdv1.ProviderNginx:        bothProtocols(&own, tcpName, udpName),
	}
	return l
}

// providerOf is the provider of a class. One that does not exist makes a class that
// cannot be used, but whose children must be found all the same.
func providerOf(spec *crdv1.TCPIngressClassSpec) crdv1.Provider {
	if spec.Provider == crdv1.ProviderNginx {
		return crdv1.ProviderNginx
	}
	return crdv1.ProviderIngressNginx
}

func ingressNginxConfig(spec *crdv1.TCPIngressClassSpec, labels map[string]string) ingressnginx.Config {
	c := ingressnginx.Config{
		Namespace:    spec.Namespace,
		TCPConfigMap: crdv1.DefaultTCPConfigMapName,
		UDPConfigMap: crdv1.DefaultUDPConfigMapName,
		Reserved:     crdv1.DefaultReservedPorts(),
		Labels:       labels,
	}
	if n := spec.IngressNginx; n != nil {
		if n.TCPConfigMapName != nil {
			c.TCPConfigMap = *n.TCPConfigMapName
		}
		if n.UDPConfigMapName != nil {
			c.UDPConfigMap = *n.UDPConfigMapName
		}
		if n.ReservedPorts != nil {
			c.Reserved = n.ReservedPorts
		}
	}
	return c
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

func bothProtocols(base *service.Settings, tcpName, udpName string) *[2]service.Settings {
	both := [2]service.Settings{*base, *base}
	both[0].Name, both[0].Protocol = tcpName, l4.TCP
	both[1].Name, both[1].Protocol = udpName, l4.UDP
	return &both
}

// settings are those of the provider that judges.
func (l *layout) settings(p l4.Protocol) *service.Settings { return l.settingsOf(l.provider, p) }

func (l *layout) settingsOf(provider crdv1.Provider, p l4.Protocol) *service.Settings {
	if p == l4.UDP {
		return &l.services[provider][1]
	}
	return &l.services[provider][0]
}

// namespace of all children but the slices.
func (l *layout) namespace() string { return l.ingressNginx.Namespace }

// enabled tells whether the provider that judges can serve the protocol at all.
func (l *layout) enabled(p l4.Protocol) bool {
	return l.provider == crdv1.ProviderNginx || l.configMap(p) != ""
}

// configMap is the name of the ConfigMap of a protocol that an ingress-nginx reads.
func (l *layout) configMap(p l4.Protocol) string {
	if p == l4.UDP {
		return l.ingressNginx.UDPConfigMap
	}
	return l.ingressNginx.TCPConfigMap
}

// configMapsOf lists the names of the ConfigMaps that the class has with a provider.
func (l *layout) configMapsOf(provider crdv1.Provider) []string {
	if provider == crdv1.ProviderNginx {
		return workload.ConfigMaps(l.nginx.Name)
	}
	var names []string
	for _, p := range protocols() {
		if name := l.configMap(p); name != "" {
			names = append(names, name)
		}
	}
	return names
}

// configMaps lists the names of the ConfigMaps that the class has.
func (l *layout) configMaps() []string { return l.configMapsOf(l.provider) }

// serviceNames lists the names of the Services that the class may have.
func (l *layout) serviceNames() []string {
	var names []string
	for _, p := range protocols() {
		if l.enabled(p) {
			names = append(names, l.settings(p).Name)
		}
	}
	return names
}

// workloads lists the names of the Deployments and PodDisruptionBudgets.
func (l *layout) workloads() []string {
	if l.provider == crdv1.ProviderNginx {
		return []string{l.workload.Name}
	}
	return nil
}

func protocols() [2]l4.Protocol { return [...]l4.Protocol{l4.TCP, l4.UDP} }
