// Package nginx renders what stock nginx and the agent beside it read, as
// ConfigMaps, and reads it back. The l4 table enters, configuration leaves. No text
// that is not a plain word leaves, whatever enters: a listener with such a text is
// left out.
package nginx

import (
	"fmt"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Config is the layout of one class, its defaults filled in.
type Config struct {
	// Namespace of the ConfigMaps. Name is that of the first one, which holds nginx.conf
	// and the index; the others append "-00" to "-15" to it.
	Namespace, Name string
	// Labels that the ConfigMaps shall have.
	Labels map[string]string
	// Dir is the directory that nginx and the agent share, bundle.SharedDir in the pod.
	Dir string
	// Workers is the number of worker processes, and Sessions how many sessions each
	// of them can have at a time.
	Workers, Sessions int
	// ClusterDomain is the DNS suffix of Services, such as "cluster.local".
	ClusterDomain string
	// Resolvers are asked for the addresses of Services; none means those of the pod.
	Resolvers       []netip.Addr
	ResolverTimeout time.Duration
	// TrustedProxies are the addresses whose PROXY headers are believed.
	TrustedProxies []netip.Prefix
	// Reserved ports, besides the agent's and the ephemeral ones, for TCP and UDP alike.
	Reserved []int32
	// EphemeralFrom to EphemeralTo are the ports of connections to backends.
	EphemeralFrom, EphemeralTo int32
	// ReloadInterval and MaxOldWorkers are handed to the agent.
	ReloadInterval time.Duration
	MaxOldWorkers  int
}

// Provider renders for the nginx of one class.
type Provider struct {
	config Config
	// reserved is sorted, each port once.
	reserved []int32
}

// New makes a Provider. It panics if Dir cannot be written into a configuration.
func New(c Config) *Provider {
	if !isPath(c.Dir) {
		panic(fmt.Sprintf("directory %q: must be absolute, of letters, digits, '.', '_' and '-'", c.Dir))
	}
	if !isName(c.ClusterDomain) {
		c.ClusterDomain = "cluster.local"
	}
	c.TrustedProxies = slices.DeleteFunc(slices.Clone(c.TrustedProxies), func(x netip.Prefix) bool { return !x.IsValid() })
	reserved := append(slices.Clone(c.Reserved), bundle.AgentPort)
	slices.Sort(reserved)
	return &Provider{config: c, reserved: slices.Compact(reserved)}
}

// Check gives the field of the listener that nginx cannot express, as its path in
// the rule, or "".
//
// With hosts, a rule that tells its clients apart cannot send their addresses: its
// server is behind a socket, whose path nginx would write into the PROXY header.
func (p *Provider) Check(l *l4.Listener) string {
	udp := l.Protocol == l4.UDP
	switch {
	case udp && len(l.Hosts) > 0, len(l.Hosts) > 0 && l.EndPort != 0:
		return "hosts"
	case udp && l.AcceptProxy:
		return "proxyProtocol.accept"
	case l.SendProxy != l4.SendNone && (udp || l.SendProxy != l4.SendV1):
		return "proxyProtocol.send"
	case l.SendProxy != l4.SendNone && len(l.Hosts) > 0 && (len(l.AllowSources) > 0 || l.ConnectionsPerClient != 0):
		return "proxyProtocol.send"
	case udp && l.ConnectTimeout != 0:
		return "timeouts.connect"
	default:
		return ""
	}
}

// Reserved tells whether the pod needs the port itself.
func (p *Provider) Reserved(_ l4.Protocol, port int32) bool {
	if p.config.EphemeralFrom <= port && port <= p.config.EphemeralTo {
		return true
	}
	_, found := slices.BinarySearch(p.reserved, port)
	return found
}

// ReservedText names the reserved ports for a message: "10270, 32768-60999".
func (p *Provider) ReservedText() string {
	names := make([]string, 0, len(p.reserved)+1)
	for _, port := range p.reserved {
		names = append(names, strconv.Itoa(int(port)))
	}
	if p.config.EphemeralTo > 0 {
		names = append(names, fmt.Sprintf("%d-%d", p.config.EphemeralFrom, p.config.EphemeralTo))
	}
	return strings.Join(names, ", ")
}

// Enabled is true: nginx serves both protocols.
func (p *Provider) Enabled(l4.Protocol) bool { return true }
