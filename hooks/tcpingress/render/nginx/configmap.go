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

// Budgets gives the bytes that each ConfigMap has for listeners.
func (p *Provider) Budgets() []l4.Charge {
	names := make([]string, shards)
	for shard := range shards {
		names[shard] = shardFile(shard)
	}
	data := map[string]string{bundle.MainFile: p.mainFile(names, totals{sockets: 1 << 20})}
	sums := map[string]string{bundle.MainFile: ""}
	for _, name := range names {
		sums[name] = ""
	}
	data[bundle.IndexFile] = p.index(sums)
	budgets := make([]l4.Charge, 0, shards+1)
	budgets = append(budgets, l4.Charge{Child: p.child(p.config.Name), Bytes: budget - jsonSize(p.configMap(p.config.Name, data))})
	for shard := range shards {
		name := p.shardName(shard)
		empty := p.configMap(name, map[string]string{shardFile(shard): ""})
		budgets = append(budgets, l4.Charge{Child: p.child(name), Bytes: budget - jsonSize(empty)})
	}
	return budgets
}

// Charges gives the bytes that the listener adds to the JSON of each ConfigMap, or
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
	child := p.child(p.shardName(shardOf(l.Port)))
	if len(l.Hosts) == 0 {
		u := p.plain(&counted)
		return []l4.Charge{{Child: child, Bytes: textSize(u.text) + newLine}}
	}
	// Its maps may name the backends, or the sockets of servers.
	s := newSharing(p, &counted)
	bytes := max(textSize(s.render(true).text), textSize(s.render(false).text)) + newLine
	for range l.Hosts {
		bytes += max(0, len(p.address(&counted))-len("unix:"+s.socket(&counted)))
	}
	return []l4.Charge{
		{Child: child, Bytes: bytes},
		{Child: p.child(p.config.Name), Bytes: len(`        65535 $sni_65535_owner;\n`)},
	}
}

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
