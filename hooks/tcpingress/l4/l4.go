// Package l4 is the plain model of a layer-4 data plane: which listeners shall
// exist and where they lead. Nothing of Kubernetes or nginx enters or leaves; it
// imports the standard library only, so that readers and renderers stay apart.
package l4

import (
	"net/netip"
	"time"
)

// Protocol is a transport protocol.
type Protocol string

// The protocols that nginx can forward.
const (
	TCP Protocol = "TCP"
	UDP Protocol = "UDP"
)

// Owner is the rule of a TCPIngress that a listener belongs to.
type Owner struct {
	Namespace, Name, Rule string
}

// String gives "namespace/name/rule", as the book of the class has it.
func (o Owner) String() string { return o.Namespace + "/" + o.Name + "/" + o.Rule }

// Ingress gives "namespace/name".
func (o Owner) Ingress() string { return o.Namespace + "/" + o.Name }

// SendProxy is the version of the PROXY protocol spoken to a backend.
type SendProxy string

// What nginx can send. The zero value sends nothing.
const (
	SendNone SendProxy = ""
	SendV1   SendProxy = "V1"
)

// Backend is a port of a Service. Exactly one of Port and PortName is set,
// or neither where a range is forwarded number by number.
type Backend struct {
	Namespace, Service string
	// Port is the number of the Service's port, not of the pod's.
	Port int32
	// PortName is the name of the Service's port.
	PortName string
}

// Listener is one port, or one range of ports, that shall be open.
type Listener struct {
	Owner    Owner
	Protocol Protocol
	// Port is the external number, and EndPort the last one of a range, else 0.
	Port, EndPort int32
	// Hosts are TLS server names in lower case; empty means all traffic of the port.
	Hosts []string
	// AcceptProxy says that clients speak the PROXY protocol.
	AcceptProxy bool
	// SendProxy says what is spoken to the backend.
	SendProxy SendProxy
	// AllowSources may connect; empty means everybody.
	AllowSources []netip.Prefix
	// ConnectTimeout and IdleTimeout: zero means the data plane's default.
	ConnectTimeout, IdleTimeout time.Duration
	// ConnectionsPerClient: zero means no limit.
	ConnectionsPerClient int32
	Backend              Backend
}

// Last is the last port of the listener: EndPort, or Port where it is no range.
func (l *Listener) Last() int32 {
	if l.EndPort > l.Port {
		return l.EndPort
	}
	return l.Port
}

// Size is the number of ports that the listener opens.
func (l *Listener) Size() int { return int(l.Last()-l.Port) + 1 }

// Table is what the data plane shall do: listeners that do not overlap, sorted
// by number, then protocol, then first host. A range is one listener.
type Table []Listener

// Key addresses what one port, or one host on one port, leads to.
type Key struct {
	Protocol Protocol
	Port     int32
	// Host is empty where the port is not shared by hosts.
	Host string
}

// Entry is what an observed data plane says of one Key.
type Entry struct {
	Backend     Backend
	AcceptProxy bool
	SendProxy   SendProxy
}

// Charge is an amount of bytes in one child.
type Charge struct {
	// Child names it for a message: "ConfigMap ingress-nginx/tcp-services".
	Child string
	Bytes int
}
