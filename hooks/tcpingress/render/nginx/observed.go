package nginx

import (
	"encoding/json"
	"maps"
	"slices"
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
	// whole tells that the files are those of the index: the agent loads no others.
	whole bool
	// units holds, by each header, the text that it stands in.
	units map[string]string
}

// Observe reads the observed ConfigMaps; others than those of the Config are ignored.
func (p *Provider) Observe(configMaps []corev1.ConfigMap) Observed {
	o := Observed{Entries: make(map[l4.Key]l4.Entry), provider: p, units: make(map[string]string)}
	names := p.ConfigMapNames()
	files := make(map[string]string, len(names)+1)
	for i := range configMaps {
		cm := &configMaps[i]
		if cm.Namespace != p.config.Namespace || !slices.Contains(names, cm.Name) {
			continue
		}
		if cm.Immutable != nil && *cm.Immutable {
			o.Problems = append(o.Problems, p.child(cm.Name)+" is immutable, so that its ports cannot change; let it be made anew without immutable.")
		}
		if cm.DeletionTimestamp == nil {
			maps.Copy(files, cm.Data)
		}
	}
	slices.Sort(o.Problems)
	for shard := range shards {
		o.read(files[shardFile(servers, shard)])
		o.read(files[shardFile(packets, shard)])
	}
	o.whole = isWhole(files)
	return o
}

// isWhole tells whether the files are those of the index.
func isWhole(files map[string]string) bool {
	var index bundle.Index
	if json.Unmarshal([]byte(files[bundle.IndexFile]), &index) != nil {
		return false
	}
	for name, sum := range index.Files {
		if content, ok := files[name]; !ok || bundle.Sum(content) != sum {
			return false
		}
	}
	return len(index.Files) > 0
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

// Live tells whether the observed files say exactly what the listener says, and are
// all there.
func (o Observed) Live(l *l4.Listener) bool {
	if !o.whole || !o.provider.canWrite(l) {
		return false
	}
	if len(l.Hosts) == 0 {
		return o.units[headers(l, "")[0].String()] == o.provider.plain(l).text
	}
	for _, h := range headers(l, o.provider.digest(l)) {
		if _, ok := o.units[h.String()]; !ok {
			return false
		}
	}
	return true
}
