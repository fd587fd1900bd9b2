// Package ingressnginx renders the ConfigMaps that an ingress-nginx controller
// reads, and reads them back. The l4 table enters, ConfigMaps leave; nothing may
// leave that ingress-nginx would skip, or that would break its nginx.
package ingressnginx

import (
	corev1 "k8s.io/api/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

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
type Provider struct{ config Config }

// ConfigMap is what shall be applied: client-go's apply configuration, but able
// to say `data: {}`, with which Metacontroller's merge removes our keys and keeps
// those of others.
type ConfigMap struct {
	metav1ac.TypeMetaApplyConfiguration
	Metadata *metav1ac.ObjectMetaApplyConfiguration `json:"metadata"`
	// Data; nil is left out.
	Data map[string]string `json:"data,omitzero"`
}

// New makes a Provider.
func New(c Config) *Provider { panic("TODO") }

// DefaultReserved are the ports that a controller with default flags, as the
// chart runs it, needs itself.
func DefaultReserved() []int32 {
	return []int32{80, 442, 443, 8181, 8443, 10245, 10246, 10247, 10254, 11514}
}

// Check gives the field of the listener that ingress-nginx cannot express, as its
// path in the rule, or "".
func (p *Provider) Check(l *l4.Listener) string { panic("TODO") }

// Reserved tells whether the controller needs the port itself.
func (p *Provider) Reserved(protocol l4.Protocol, port int32) bool { panic("TODO") }

// ReservedText names the reserved ports for a message: "80, 443, 8443".
func (p *Provider) ReservedText() string { panic("TODO") }

// Enabled tells whether there is a ConfigMap for the protocol.
func (p *Provider) Enabled(protocol l4.Protocol) bool { panic("TODO") }

// Charges gives the bytes that the listener adds to its ConfigMap.
func (p *Provider) Charges(l *l4.Listener) []l4.Charge { panic("TODO") }

// Budgets gives the bytes that each ConfigMap has for our listeners.
func (p *Provider) Budgets(o *Observed) []l4.Charge { panic("TODO") }

// ConfigMaps gives the ConfigMaps that shall exist, sorted by name.
func (p *Provider) ConfigMaps(table l4.Table, o *Observed) []*ConfigMap { panic("TODO") }

// Observe reads the observed ConfigMaps; others than those of the Config are ignored.
func (p *Provider) Observe(configMaps []corev1.ConfigMap) *Observed { panic("TODO") }
