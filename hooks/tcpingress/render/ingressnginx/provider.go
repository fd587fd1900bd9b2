// Package ingressnginx renders the ConfigMaps that an ingress-nginx controller
// reads, and reads them back. The l4 table enters, ConfigMaps leave; nothing may
// leave that ingress-nginx would skip, or that would break its nginx.
package ingressnginx

import (
	"slices"
	"strconv"
	"strings"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// Config says where the ConfigMaps are, and what the controller needs itself.
type Config struct {
	// Namespace of both ConfigMaps.
	Namespace string
	// TCPConfigMap and UDPConfigMap are their names; "" switches the protocol off.
	TCPConfigMap, UDPConfigMap string
	// Reserved ports, for TCP and UDP alike.
	Reserved []int32
	// Labels that both ConfigMaps shall have.
	Labels map[string]string
}

// Provider renders for one ingress-nginx controller.
type Provider struct {
	config Config
	// reserved is sorted, each port once.
	reserved []int32
}

// New makes a Provider.
func New(c Config) *Provider {
	reserved := slices.Clone(c.Reserved)
	slices.Sort(reserved)
	return &Provider{config: c, reserved: slices.Compact(reserved)}
}

// DefaultSelector are the labels of the controller's pods as the chart makes them
// under the release name ingress-nginx.
func DefaultSelector() map[string]string {
	return map[string]string{
		"app.kubernetes.io/name":      "ingress-nginx",
		"app.kubernetes.io/instance":  "ingress-nginx",
		"app.kubernetes.io/component": "controller",
	}
}

// Check gives the field of the listener that ingress-nginx cannot express, as its
// path in the rule, or "".
func (p *Provider) Check(l *l4.Listener) string {
	udp := l.Protocol == l4.UDP
	switch {
	case len(l.Hosts) > 0:
		return "hosts"
	case udp && l.AcceptProxy:
		return "proxyProtocol.accept"
	case l.SendProxy != l4.SendNone && (udp || l.SendProxy != l4.SendV1):
		return "proxyProtocol.send"
	case len(l.AllowSources) > 0:
		return "allowSources"
	case l.ConnectTimeout != 0:
		return "timeouts.connect"
	case l.IdleTimeout != 0:
		return "timeouts.idle"
	case l.ConnectionsPerClient != 0:
		return "limits.connectionsPerClient"
	case isNumber(l.Backend.PortName):
		// ingress-nginx would look for the number.
		return "backend.service.port.name"
	default:
		return ""
	}
}

func isNumber(s string) bool {
	_, err := strconv.Atoi(s)
	return err == nil
}

// Reserved tells whether the controller needs the port itself.
func (p *Provider) Reserved(_ l4.Protocol, port int32) bool {
	_, found := slices.BinarySearch(p.reserved, port)
	return found
}

// ReservedText names the reserved ports for a message: "80, 443, 8443".
func (p *Provider) ReservedText() string {
	names := make([]string, len(p.reserved))
	for i, port := range p.reserved {
		names[i] = strconv.Itoa(int(port))
	}
	return strings.Join(names, ", ")
}

// Enabled tells whether there is a ConfigMap for the protocol.
func (p *Provider) Enabled(protocol l4.Protocol) bool { return p.name(protocol) != "" }

// name of the ConfigMap of a protocol, "" if there is none.
func (p *Provider) name(protocol l4.Protocol) string {
	switch protocol {
	case l4.TCP:
		return p.config.TCPConfigMap
	case l4.UDP:
		return p.config.UDPConfigMap
	default:
		return ""
	}
}

// text names the ConfigMap of a protocol for a message.
func (p *Provider) text(protocol l4.Protocol) string {
	return "ConfigMap " + p.config.Namespace + "/" + p.name(protocol)
}

// enabled lists the protocols that have a ConfigMap.
func (p *Provider) enabled() []l4.Protocol {
	var list []l4.Protocol
	for _, protocol := range []l4.Protocol{l4.TCP, l4.UDP} {
		if p.Enabled(protocol) {
			list = append(list, protocol)
		}
	}
	return list
}
