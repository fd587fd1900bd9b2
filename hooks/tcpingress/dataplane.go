package tcpingress

import (
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/service"
)

// dataplane joins the provider with the Services in front of it: what the book
// must know of both.
type dataplane struct{ *observed }

func (o *observed) dataplane() dataplane { return dataplane{o} }

func (d dataplane) Check(l *l4.Listener) string { return d.acting.Check(l) }

func (d dataplane) Reserved(p l4.Protocol, port int32) bool { return d.acting.Reserved(p, port) }

func (d dataplane) ReservedText() string { return d.acting.ReservedText() }

func (d dataplane) Enabled(p l4.Protocol) bool { return d.acting.Enabled(p) }

func (d dataplane) Charges(l *l4.Listener) []l4.Charge {
	charges := d.acting.Charges(l)
	if d.leaving != nil && d.canLeave(l) {
		charges = append(charges, d.leaving.Charges(l)...)
	}
	if !d.hasService(l.Protocol) {
		return charges
	}
	bytes := 0
	for n := l.Port; n <= l.Last(); n++ {
		bytes += service.Charge(l.Protocol, n)
	}
	return append(charges, l4.Charge{Child: d.serviceText(l.Protocol), Bytes: bytes})
}

func (d dataplane) Budgets() []l4.Charge {
	budgets := d.acting.Budgets()
	if d.leaving != nil {
		budgets = append(budgets, d.leaving.Budgets()...)
	}
	for _, p := range protocols() {
		if d.hasService(p) {
			budgets = append(budgets, l4.Charge{Child: d.serviceText(p), Bytes: budget - service.BaseSize(*d.layout.settings(p))})
		}
	}
	return budgets
}

func (d dataplane) MaxPorts(p l4.Protocol) (limit, used int) {
	return d.layout.settings(p).Limit(), len(d.services[p].Foreign)
}
