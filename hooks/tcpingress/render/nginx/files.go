package nginx

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// shards is the number of ConfigMaps over which servers are spread by their port.
const shards = 16

func shardOf(port int32) int { return int(port) % shards }

// shardFile is the name of the file with the servers of a shard.
func shardFile(shard int) string { return fmt.Sprintf("servers-%02d.conf", shard) }

// ConfigMapNames lists the names that ConfigMaps may have, whether they exist or not.
func (p *Provider) ConfigMapNames() []string {
	names := []string{p.config.Name}
	for shard := range shards {
		names = append(names, p.shardName(shard))
	}
	return names
}

func (p *Provider) shardName(shard int) string { return fmt.Sprintf("%s-%02d", p.config.Name, shard) }

// units renders the table. Listeners that cannot be written are left out.
func (p *Provider) units(table l4.Table) []unit {
	units := make([]unit, 0, len(table))
	for i := 0; i < len(table); {
		l := &table[i]
		i++
		switch {
		case !canWrite(l) || p.Check(l) != "":
		case len(l.Hosts) == 0:
			units = append(units, p.plain(l))
		default:
			same := []*l4.Listener{l}
			for ; i < len(table) && table[i].Port == l.Port && table[i].Protocol == l.Protocol; i++ {
				if next := &table[i]; canWrite(next) && len(next.Hosts) > 0 {
					same = append(same, next)
				}
			}
			units = append(units, p.shared(same))
		}
	}
	return units
}

// Files renders the table into the files that the agent hands to nginx, by name.
func (p *Provider) Files(table l4.Table) map[string]string {
	var texts [shards]strings.Builder
	sockets := 0
	for _, u := range p.units(table) {
		b := &texts[shardOf(u.port)]
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(u.text)
		sockets += u.sockets
	}
	files := make(map[string]string, shards+2)
	var names []string
	for shard := range texts {
		if texts[shard].Len() > 0 {
			names = append(names, shardFile(shard))
			files[shardFile(shard)] = texts[shard].String()
		}
	}
	files[bundle.MainFile] = p.mainFile(names, sockets)
	files[bundle.IndexFile] = p.index(files)
	return files
}

func (p *Provider) index(files map[string]string) string {
	index := bundle.Index{
		Files:         make(map[string]string, len(files)),
		MaxOldWorkers: p.config.MaxOldWorkers,
	}
	for name, content := range files {
		index.Files[name] = bundle.Sum(content)
	}
	for _, address := range p.config.Resolvers {
		index.Resolvers = append(index.Resolvers, address.String())
	}
	if p.config.ResolverTimeout > 0 {
		index.ResolverTimeout = span(p.config.ResolverTimeout)
	}
	if p.config.ReloadInterval > 0 {
		index.ReloadInterval = span(p.config.ReloadInterval)
	}
	encoded, err := json.MarshalIndent(index, "", "  ")
	if err != nil {
		panic(fmt.Sprintf("encoding the index: %v", err)) // maps of strings always encode
	}
	return string(encoded) + "\n"
}
