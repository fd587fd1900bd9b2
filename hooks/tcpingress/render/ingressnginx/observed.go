package ingressnginx

import "github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"

// Observed is what the observed ConfigMaps say.
type Observed struct {
	// Entries are the keys that ingress-nginx understands.
	Entries map[l4.Key]l4.Entry
	// Taken are numbers that cannot be given because of what somebody else wrote;
	// the value is a sentence.
	Taken map[l4.Key]string
	// Problems are sentences on why a ConfigMap cannot be written at all.
	Problems []string
}

// Exists tells whether the ConfigMap of the protocol was observed.
func (o *Observed) Exists(p l4.Protocol) bool { panic("TODO") }

// Live tells whether the observed ConfigMap says exactly what the listener says.
func (o *Observed) Live(l *l4.Listener) bool { panic("TODO") }

// ForeignKey is a key of an observed ConfigMap that we did not put there.
type ForeignKey struct {
	Protocol l4.Protocol
	// ConfigMap is "namespace/name".
	ConfigMap string
	Key       string
}

// Foreign gives the keys that are not desired, were not in the book before and
// are not ours by the object's own record, sorted by ConfigMap and number.
func (o *Observed) Foreign(desired l4.Table, previous func(l4.Key) bool) []ForeignKey {
	panic("TODO")
}
