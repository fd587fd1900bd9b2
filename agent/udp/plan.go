package udp

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// nginxResolverTimeout is how long nginx waits for DNS servers where nothing is said.
const nginxResolverTimeout = 30 * time.Second

// plan is what an nginx needs to be started with a generation.
type plan struct {
	generation string
	// config is the path of its main file.
	config  string
	workers int
	ports   []uint16
	// ipv6 is whether the ports are open for IPv6, too.
	ipv6 bool
	// resolvers are the DNS servers that each worker asks, from one socket for each.
	resolvers []netip.AddrPort
	// resolverTimeout is how long a session may be without a socket of its own, while its
	// backend's name is looked up.
	resolverTimeout time.Duration
}

// readPlan reads a generation back from its files. What the renderer wrote is all it
// has to understand; a line of another kind is nginx's business.
func readPlan(dir, generation string) (*plan, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("reading generation: %w", err)
	}
	p := &plan{generation: generation, config: filepath.Join(dir, bundle.MainFile), workers: 1, resolverTimeout: nginxResolverTimeout}
	for _, entry := range entries {
		text, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			return nil, fmt.Errorf("reading generation: %w", err)
		}
		p.read(string(text))
	}
	return p, nil
}

func (p *plan) read(text string) {
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if h, ok := bundle.ParseHeader(line); ok && h.Protocol == l4.UDP {
			for port := h.Port; port <= max(h.Port, h.EndPort); port++ {
				p.ports = append(p.ports, uint16(port))
			}
			continue
		}
		p.ipv6 = p.ipv6 || strings.HasPrefix(strings.TrimLeft(line, " "), bundle.ListenIPv6)
		name, value, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(line), ";"), " ")
		switch name {
		case "worker_processes":
			if n, err := strconv.Atoi(value); err == nil {
				p.workers = n
			}
		case "resolver":
			for server := range strings.FieldsSeq(value) {
				if address, ok := parseResolver(server); ok {
					p.resolvers = append(p.resolvers, address)
				}
			}
		case "resolver_timeout":
			if d, err := time.ParseDuration(value); err == nil {
				p.resolverTimeout = d
			}
		}
	}
}

// parseResolver reads a DNS server with a port, or without, in brackets if it is IPv6.
func parseResolver(text string) (netip.AddrPort, bool) {
	if both, err := netip.ParseAddrPort(text); err == nil {
		return netip.AddrPortFrom(both.Addr().Unmap(), both.Port()), true
	}
	const dns = 53
	ip, err := netip.ParseAddr(strings.Trim(text, "[]"))
	return netip.AddrPortFrom(ip.Unmap(), dns), err == nil
}

// addresses are those that a port is open on.
func (p *plan) addresses(port uint16) []address {
	addresses := []address{{port: port}}
	if p.ipv6 {
		addresses = append(addresses, address{v6: true, port: port})
	}
	return addresses
}
