package nginx

import (
	"encoding/json"
	"fmt"
	"maps"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// budget is the size in bytes that the JSON of a ConfigMap may have: Metacontroller's
// default apply copies it into an annotation, and annotations end at 256 KiB.
const budget = 200 << 10

// ConfigMaps gives the ConfigMaps that shall exist, sorted by name. A shard without
// servers has none.
func (p *Provider) ConfigMaps(table l4.Table) []*corev1ac.ConfigMapApplyConfiguration {
	files := p.Files(table)
	children := []*corev1ac.ConfigMapApplyConfiguration{p.configMap(p.config.Name, map[string]string{
		bundle.MainFile:  files[bundle.MainFile],
		bundle.IndexFile: files[bundle.IndexFile],
	})}
	for shard := range shards {
		if text, ok := files[shardFile(shard)]; ok {
			children = append(children, p.configMap(p.shardName(shard), map[string]string{shardFile(shard): text}))
		}
	}
	return children
}

func (p *Provider) configMap(name string, data map[string]string) *corev1ac.ConfigMapApplyConfiguration {
	child := corev1ac.ConfigMap(name, p.config.Namespace).WithData(data)
	child.Labels = maps.Clone(p.config.Labels)
	return child
}

// Budgets gives the bytes that each ConfigMap of servers has for listeners.
func (p *Provider) Budgets() []l4.Charge {
	budgets := make([]l4.Charge, 0, shards)
	for shard := range shards {
		empty := p.configMap(p.shardName(shard), map[string]string{shardFile(shard): ""})
		budgets = append(budgets, l4.Charge{Child: p.child(shard), Bytes: budget - jsonSize(empty)})
	}
	return budgets
}

// Charges gives the bytes that the listener adds to the JSON of its ConfigMap, or
// more: a rule that shares a port is charged for the port too.
func (p *Provider) Charges(l *l4.Listener) []l4.Charge {
	if p.Check(l) != "" {
		return nil
	}
	counted := *l
	if counted.Backend.PortName != "" {
		counted.Backend.PortName, counted.Backend.Port = "", 65535
	}
	if !canWrite(&counted) {
		return nil
	}
	var u unit
	if len(l.Hosts) == 0 {
		u = p.plain(&counted)
	} else {
		// With a server of its own, whoever makes that necessary.
		counted.SendProxy = l4.SendV1
		u = p.shared([]*l4.Listener{&counted})
	}
	return []l4.Charge{{Child: p.child(shardOf(l.Port)), Bytes: jsonSize(u.text + "\n")}}
}

// child names the ConfigMap of a shard for a message.
func (p *Provider) child(shard int) string {
	return "ConfigMap " + p.config.Namespace + "/" + p.shardName(shard)
}

func jsonSize(value any) int {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("encoding what was just made: %v", err))
	}
	return len(encoded)
}
