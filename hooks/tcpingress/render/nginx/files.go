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

// shardOf spreads round numbers too, of which there are more than others.
func shardOf(port int32) int {
	const golden = 2_654_435_769 // 2^32 divided by the golden ratio
	return int(uint32(port) * golden >> 28)
}

// What the files of a shard hold: servers of TCP, lines of the maps in nginx.conf, and
// servers of UDP.
const (
	servers = "servers"
	hosts   = "hosts"
	owners  = "owners"
	packets = bundle.UDPPrefix
)

// kinds lists all of them.
func kinds() []string { return []string{servers, hosts, owners, packets} }

// shardFile is the name of a file of a shard.
func shardFile(kind string, shard int) string { return fmt.Sprintf("%s-%02d.conf", kind, shard) }

// ConfigMapNames lists the names that ConfigMaps may have, whether they exist or not.
func (p *Provider) ConfigMapNames() []string {
	names := []string{p.config.Name}
	for shard := range shards {
		names = append(names, p.shardName(shard))
	}
	return names
}

func (p *Provider) shardName(shard int) string { return fmt.Sprintf("%s-%02d", p.config.Name, shard) }

// units renders the table. Listeners that cannot be written, or that want what an
// earlier one has, are left out: nginx would refuse the whole.
func (p *Provider) units(table l4.Table) []unit {
	units := make([]unit, 0, len(table))
	var taken ports
	for i := 0; i < len(table); {
		l := &table[i]
		i++
		if !p.canWrite(l) || !taken.take(l) {
			continue
		}
		if len(l.Hosts) == 0 {
			units = append(units, p.plain(l))
			continue
		}
		s := newSharing(p, l)
		for ; i < len(table) && table[i].Port == l.Port && table[i].Protocol == l.Protocol; i++ {
			if next := &table[i]; p.canWrite(next) {
				s.add(next)
			}
		}
		units = append(units, s.unit())
	}
	return units
}

func (p *Provider) canWrite(l *l4.Listener) bool { return canWrite(l) && p.Check(l) == "" }

// ports are those that are given.
type ports struct{ tcp, udp [(1 << 16) / 64]uint64 }

// take takes the ports of the listener, if all of them are free.
func (t *ports) take(l *l4.Listener) bool {
	set := &t.tcp
	if l.Protocol == l4.UDP {
		set = &t.udp
	}
	for port := l.Port; port <= l.Last(); port++ {
		if set[port/64]&(1<<(port%64)) != 0 {
			return false
		}
	}
	for port := l.Port; port <= l.Last(); port++ {
		set[port/64] |= 1 << (port % 64)
	}
	return true
}

// Files renders the table into the files that the agent hands to nginx, by name.
func (p *Provider) Files(table l4.Table) map[string]string {
	texts := map[string]*strings.Builder{}
	text := func(kind string, shard int) *strings.Builder {
		name := shardFile(kind, shard)
		if texts[name] == nil {
			texts[name] = &strings.Builder{}
		}
		return texts[name]
	}
	var sockets, ports int
	for _, u := range p.units(table) {
		shard, kind := shardOf(u.port), servers
		if u.protocol == l4.UDP {
			kind = packets
			ports += u.sockets / 2
		} else {
			sockets += u.sockets
		}
		b := text(kind, shard)
		if b.Len() > 0 {
			b.WriteString("\n")
		}
		b.WriteString(u.text)
		if u.hosts != "" {
			text(hosts, shard).WriteString(u.hosts)
			text(owners, shard).WriteString(u.owners)
		}
	}
	files := make(map[string]string, len(texts)+3)
	for name, b := range texts {
		files[name] = b.String()
	}
	has := func(name string) bool { return files[name] != "" }
	files[bundle.MainFile] = p.mainFile(has, sockets)
	files[bundle.UDPFile] = p.udpFile(has, ports)
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
