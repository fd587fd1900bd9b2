package tcpingress

import (
	"cmp"
	"maps"
	"net/netip"
	"time"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/workload"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
)

// sessionsPerWorker is how many sessions one worker process may have at a time. Each
// costs half a kilobyte in advance.
const sessionsPerWorker = 16384

// labelApp is the label that, with the one of the class, finds the pods.
const labelApp, appNginx = "app.kubernetes.io/name", "tcpingress-nginx"

// fillNginx reads the settings of provider Nginx.
func (l *layout) fillNginx(spec *crdv1.TCPIngressClassSpec, labels map[string]string, agentImage string) {
	n := spec.Nginx
	if n == nil {
		n = &crdv1.Nginx{}
	}
	l.propagation = seconds(n.PropagationSeconds, crdv1.DefaultPropagationSeconds)
	l.drain = seconds(n.SwitchDrainSeconds, crdv1.DefaultSwitchDrainSeconds)

	name := l.class + crdv1.DefaultNginxNameSuffix
	local := crdv1.PortRange{From: crdv1.DefaultEphemeralFrom, To: crdv1.DefaultEphemeralTo}
	if n.IPLocalPortRange != nil {
		local = *n.IPLocalPortRange
	}
	l.nginx = nginx.Config{
		Namespace:       spec.Namespace,
		Name:            name,
		Labels:          labels,
		Dir:             bundle.SharedDir,
		Workers:         workload.Workers(n.Resources),
		Sessions:        sessionsPerWorker,
		ClusterDomain:   cmp.Or(n.ClusterDomain, crdv1.DefaultClusterDomain),
		Resolvers:       addressesOf(n.Resolver),
		ResolverTimeout: durationOr(n.ResolverTimeout, crdv1.DefaultResolverTimeout),
		TrustedProxies:  prefixesOf(n.TrustedProxies),
		Reserved:        n.ReservedPorts,
		EphemeralFrom:   local.From,
		EphemeralTo:     local.To,
		ReloadInterval:  durationOr(n.ReloadInterval, crdv1.DefaultReloadInterval),
		MaxOldWorkers:   int(cmp.Or(n.MaxOldWorkers, crdv1.DefaultMaxOldWorkers)),
	}
	all := maps.Clone(labels)
	all[labelApp] = appNginx
	l.workload = workload.Settings{
		Namespace:         spec.Namespace,
		Name:              name,
		Labels:            labels,
		Selector:          all,
		Image:             cmp.Or(n.Image, crdv1.DefaultNginxImage),
		AgentImage:        agentImage,
		Replicas:          n.Replicas,
		Resources:         n.Resources,
		NodeSelector:      n.NodeSelector,
		Tolerations:       n.Tolerations,
		PriorityClassName: n.PriorityClassName,
		PodAnnotations:    n.PodAnnotations,
	}
	if n.IPLocalPortRange != nil {
		l.workload.EphemeralFrom, l.workload.EphemeralTo = local.From, local.To
	}
}

func seconds(value *int32, otherwise int32) time.Duration {
	if value != nil {
		otherwise = *value
	}
	return time.Duration(otherwise) * time.Second
}

// durationOr reads a duration that was found valid, or the default.
func durationOr(d, otherwise crdv1.Duration) time.Duration {
	parsed, err := validate.ParseDuration(cmp.Or(d, otherwise))
	if err != nil {
		return 0
	}
	return parsed
}

// addressesOf and prefixesOf read what was found valid.
func addressesOf(texts []string) []netip.Addr {
	var list []netip.Addr
	for _, text := range texts {
		if a, err := netip.ParseAddr(text); err == nil {
			list = append(list, a)
		}
	}
	return list
}

func prefixesOf(texts []string) []netip.Prefix {
	var list []netip.Prefix
	for _, text := range texts {
		if p, err := netip.ParsePrefix(text); err == nil {
			list = append(list, p)
		}
	}
	return list
}
