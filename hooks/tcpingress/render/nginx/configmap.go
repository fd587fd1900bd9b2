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
		bundle.UDPFile:   files[bundle.UDPFile],
		bundle.IndexFile: files[bundle.IndexFile],
	})}
	for shard := range shards {
		data := make(map[string]string, len(kinds()))
		for _, name := range shardFiles(shard) {
			if text, ok := files[name]; ok {
				data[name] = text
			}
		}
		if len(data) > 0 {
			children = append(children, p.configMap(p.shardName(shard), data))
		}
	}
	return children
}

func (p *Provider) configMap(name string, data map[string]string) *corev1ac.ConfigMapApplyConfiguration {
	child := corev1ac.ConfigMap(name, p.config.Namespace).WithData(data)
	child.Labels = maps.Clone(p.config.Labels)
	return child
}

// shardFiles lists the files that a shard can have.
func shardFiles(shard int) []string {
	names := make([]string, 0, len(kinds()))
	for _, kind := range kinds() {
		names = append(names, shardFile(kind, shard))
	}
	return names
}

// Budgets gives the bytes that each ConfigMap of servers has for listeners. The first
// ConfigMap grows with their number by nothing but digits.
func (p *Provider) Budgets() []l4.Charge {
	budgets := make([]l4.Charge, 0, shards)
	for shard := range shards {
		data := make(map[string]string, len(kinds()))
		for _, name := range shardFiles(shard) {
			data[name] = ""
		}
		name := p.shardName(shard)
		budgets = append(budgets, l4.Charge{Child: p.child(name), Bytes: budget - jsonSize(p.configMap(name, data))})
	}
	return budgets
}

// Charges gives the bytes that the listener adds to the JSON of its ConfigMap, or
// more: a rule that shares a port is charged for the port too, and for a server of
// its own, which its neighbours may make necessary.
func (p *Provider) Charges(l *l4.Listener) []l4.Charge {
	counted := *l
	if counted.Backend.PortName != "" {
		counted.Backend.PortName, counted.Backend.Port = "", 65535
	}
	if !p.canWrite(&counted) {
		return nil
	}
	var bytes int
	if len(l.Hosts) == 0 {
		u := p.plain(&counted)
		bytes = u.size()
	} else {
		// Its maps may name the backends, or the sockets of servers.
		s := newSharing(p, &counted)
		direct, apart := s.render(false), s.render(true)
		bytes = apart.size() + max(0, len(direct.hosts)-len(apart.hosts))
	}
	return []l4.Charge{{Child: p.child(p.shardName(shardOf(l.Port))), Bytes: bytes}}
}

// size is that of the unit in JSON, with the blank line before it.
func (u *unit) size() int { return newLine + textSize(u.text) + textSize(u.hosts) + textSize(u.owners) }

// newLine is the size in JSON of the blank line between two servers.
const newLine = len(`\n`)

// child names a ConfigMap for a message.
func (p *Provider) child(name string) string { return "ConfigMap " + p.config.Namespace + "/" + name }

func jsonSize(value any) int {
	encoded, err := json.Marshal(value)
	if err != nil {
		panic(fmt.Sprintf("encoding what was just made: %v", err))
	}
	return len(encoded)
}

// textSize is the size of the text within a JSON string, as encoding/json writes it.
func textSize(text string) int {
	size := len(text)
	for i := range len(text) {
		switch text[i] {
		case '\n', '"', '\\':
			size++
		case '<', '>', '&':
			size += len(`\u003e`) - 1
		}
	}
	return size
}
