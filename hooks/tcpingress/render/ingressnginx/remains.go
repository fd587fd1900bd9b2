package ingressnginx

import "github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"

// InUse tells whether an observed ConfigMap carries a key that we wrote.
func (o Observed) InUse() bool {
	for _, cm := range o.maps {
		if len(cm.ours()) > 0 {
			return true
		}
	}
	return false
}

// Exists tells whether the ConfigMap of the protocol was observed.
func (o Observed) Exists(protocol l4.Protocol) bool { return o.maps[protocol] != nil }

// Remains gives the ConfigMaps that stay when nothing shall be rendered any more: those
// with keys of others, emptied of ours. One that we never wrote to is not ours to say.
func (p *Provider) Remains(o Observed) []*ConfigMap {
	var children []*ConfigMap
	for _, protocol := range p.enabled() {
		if seen := o.maps[protocol]; seen.foreign() && seen.fields.Has("metadata", "labels") {
			children = append(children, p.configMap(p.name(protocol), map[string]string{}))
		}
	}
	return children
}
