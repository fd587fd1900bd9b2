package nginx

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Observed is what the observed ConfigMaps say.
type Observed struct {
	// Entries are where each port leads, and each host of a shared one. Reserved ports
	// are left out.
	Entries map[l4.Key]l4.Entry
	// Problems are sentences on why a ConfigMap cannot be written.
	Problems []string

	provider *Provider
	// units holds, by each header, the text that begins with it, or has it.
	units map[string]string
}

// Observe reads the observed ConfigMaps; others than those of the Config are ignored.
func (p *Provider) Observe(configMaps []corev1.ConfigMap) Observed {
	o := Observed{Entries: make(map[l4.Key]l4.Entry), provider: p, units: make(map[string]string)}
	files := make(map[string]string, shards)
	for shard := range shards {
		files[p.shardName(shard)] = shardFile(shard)
	}
	for i := range configMaps {
		cm := &configMaps[i]
		file, known := files[cm.Name]
		if cm.Namespace != p.config.Namespace || !known && cm.Name != p.config.Name {
			continue
		}
		if cm.Immutable != nil && *cm.Immutable {
			o.Problems = append(o.Problems, fmt.Sprintf("ConfigMap %s/%s is immutable, so that its ports cannot change; let it be made anew without immutable.", cm.Namespace, cm.Name))
		}
		if known && cm.DeletionTimestamp == nil {
			o.read(cm.Data[file])
		}
	}
	return o
}

func (o *Observed) read(file string) {
	for text := range strings.SplitSeq(file, "\n\n") {
		text = strings.TrimSuffix(text, "\n") + "\n"
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			h, ok := bundle.ParseHeader(line)
			if !ok {
				break // headers come first
			}
			o.units[line] = text
			o.enter(&h)
		}
	}
}

func (o *Observed) enter(h *bundle.Header) {
	for port := h.Port; port <= max(h.Port, h.EndPort); port++ {
		if o.provider.Reserved(h.Protocol, port) {
			continue
		}
		entry := h.Entry
		if entry.Backend.Port == 0 {
			entry.Backend.Port = port
		}
		o.Entries[l4.Key{Protocol: h.Protocol, Port: port, Host: h.Host}] = entry
	}
}

// Live tells whether the observed files say exactly what the listener says.
func (o Observed) Live(l *l4.Listener) bool {
	if o.provider == nil || !canWrite(l) || o.provider.Check(l) != "" {
		return false
	}
	if len(l.Hosts) == 0 {
		text := o.provider.plain(l).text
		return o.units[strings.TrimSuffix(headers(l, "")[0].String(), "\n")] == text
	}
	for _, h := range headers(l, o.provider.digest(l)) {
		if _, ok := o.units[h.String()]; !ok {
			return false
		}
	}
	return true
}
