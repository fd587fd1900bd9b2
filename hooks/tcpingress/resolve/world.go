package resolve

import (
	"time"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// World is all that the book of one class is made from. Slices may come in any
// order; nothing in it is changed.
type World struct {
	// Class whose book it is.
	Class Class
	// Classes are all classes, Class included. They decide to whom a TCPIngress
	// without a class name belongs.
	Classes []Class
	// Ingresses are all TCPIngresses, also those of other classes.
	Ingresses []Ingress
	// Namespaces holds the labels of each namespace by name. It may be nil where
	// the class selects no namespace by label; else a namespace that is missing
	// here matches no selector.
	Namespaces map[string]map[string]string
	// Observed is what the children of the class say.
	Observed Observed
	// PortNumbers asks for the number behind every named port, beside what the
	// provider asks for itself: another data plane is rendered too.
	PortNumbers bool
}

// Class is a TCPIngressClass.
type Class struct {
	Name     string
	Created  time.Time
	Deleting bool
	// Default tells that the class is marked as the default one.
	Default bool
	Spec    *crdv1.TCPIngressClassSpec
	// Listeners and Ranges are the book in the class's status, maybe old.
	Listeners map[string]string
	Ranges    []crdv1.ListenerRange
}

// Ingress is a TCPIngress.
type Ingress struct {
	Namespace, Name string
	Generation      int64
	Created         time.Time
	Deleting        bool
	Spec            *crdv1.TCPIngressSpec
	// StatusClass is its status.className, and StatusRules its status.rules.
	StatusClass string
	StatusRules []crdv1.RuleStatus
}

// Observed is the evidence of the children.
type Observed struct {
	// Entries is what the data plane's configuration says now. Its updates are
	// optimistically locked, so it decides who is the incumbent.
	Entries map[l4.Key]l4.Entry
	// Rules is what the observed slices say, by "namespace/name" and rule name.
	Rules map[string]map[string]crdv1.SliceRule
	// Taken are numbers that cannot be given because somebody else's port of the
	// observed Service has them; the value is the message, which names the remedy.
	Taken map[l4.Key]string
}

// Dataplane is what the book asks of a provider.
type Dataplane interface {
	// Check gives the field of the listener that this data plane cannot express,
	// as its path in the rule ("timeouts.idle"), or "".
	Check(l *l4.Listener) string
	// Charges gives the bytes that the listener adds to each budgeted child.
	Charges(l *l4.Listener) []l4.Charge
	// Budgets gives the bytes that each child has left for listeners.
	Budgets() []l4.Charge
	// Reserved tells whether the data plane needs the port itself.
	Reserved(p l4.Protocol, port int32) bool
	// ReservedText names the reserved ports for a message: "80, 443, 8443".
	ReservedText() string
	// MaxPorts gives the number of ports that the Service of the protocol may have,
	// and how many of them others use already.
	MaxPorts(p l4.Protocol) (limit, used int)
	// Enabled tells whether the data plane can serve the protocol at all.
	Enabled(p l4.Protocol) bool
}
