package ingressnginx

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// ConfigMap is what shall be applied: client-go's apply configuration, but able
// to say `data: {}`, with which Metacontroller's merge removes our keys and keeps
// those of others.
type ConfigMap struct {
	metav1ac.TypeMetaApplyConfiguration
	Metadata *metav1ac.ObjectMetaApplyConfiguration `json:"metadata"`
	// Data; nil is left out.
	Data map[string]string `json:"data,omitzero"`
}

// ConfigMaps gives the ConfigMaps that shall exist, sorted by name: one for each
// protocol that is enabled, also if it has nothing to say. Ports that Observed
// calls Taken are left out.
func (p *Provider) ConfigMaps(table l4.Table, o Observed) []*ConfigMap {
	var children []*ConfigMap
	for _, protocol := range p.enabled() {
		seen := o.maps[protocol]
		var data map[string]string
		if seen.immutable() {
			data = seen.ours()
		} else {
			data = render(table, protocol, o.Taken)
		}
		// Without data, the merge would take away the whole field; with an empty one
		// on a ConfigMap that has none, it would be written again on every sync.
		if len(data) == 0 && seen.foreign() {
			data = map[string]string{}
		} else if len(data) == 0 {
			data = nil
		}
		children = append(children, p.configMap(p.name(protocol), data))
	}
	slices.SortFunc(children, func(a, b *ConfigMap) int { return cmp.Compare(*a.Metadata.Name, *b.Metadata.Name) })
	return children
}

func render(table l4.Table, protocol l4.Protocol, taken map[l4.Key]string) map[string]string {
	data := make(map[string]string, len(table))
	for i := range table {
		l := &table[i]
		if l.Protocol != protocol {
			continue
		}
		for port := l.Port; port <= l.Last(); port++ {
			if _, ok := taken[l4.Key{Protocol: protocol, Port: port}]; !ok {
				data[decimal(port)] = Format(l, port)
			}
		}
	}
	return data
}

func (p *Provider) configMap(name string, data map[string]string) *ConfigMap {
	namespace := p.config.Namespace
	child := &ConfigMap{
		Metadata: &metav1ac.ObjectMetaApplyConfiguration{Name: &name, Namespace: &namespace, Labels: maps.Clone(p.config.Labels)},
		Data:     data,
	}
	child.WithKind("ConfigMap").WithAPIVersion("v1")
	return child
}

// budget is the size in bytes that the JSON of a ConfigMap may have: Metacontroller's
// default apply copies it into an annotation, and annotations end at 256 KiB.
const budget = 200 << 10

// Budgets gives the bytes that each ConfigMap has for our listeners.
func (p *Provider) Budgets() []l4.Charge {
	var budgets []l4.Charge
	for _, protocol := range p.enabled() {
		encoded, err := json.Marshal(p.configMap(p.name(protocol), map[string]string{}))
		if err != nil {
			panic(fmt.Sprintf("encoding a ConfigMap without data: %v", err))
		}
		budgets = append(budgets, l4.Charge{Child: p.text(protocol), Bytes: budget - len(encoded)})
	}
	return budgets
}

// Charges gives the bytes that the listener adds to the JSON of its ConfigMap.
func (p *Provider) Charges(l *l4.Listener) []l4.Charge {
	if !p.Enabled(l.Protocol) {
		return nil
	}
	bytes := 0
	for port := l.Port; port <= l.Last(); port++ {
		bytes += len(`"":"",`) + len(decimal(port)) + len(Format(l, port))
	}
	return []l4.Charge{{Child: p.text(l.Protocol), Bytes: bytes}}
}
