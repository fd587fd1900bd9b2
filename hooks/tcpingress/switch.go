package tcpingress

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/service"
)

// decide takes the next step of a switch, now that the table is known: the Services
// move when the new side carries all of it, its pods are available, and the time has
// passed in which they read what was written.
func (o *observed) decide(table l4.Table) {
	if o.stage != stagePreparing {
		return
	}
	from, to := o.leaving.provider(), o.acting.provider()
	move := false
	switch why := o.unprepared(table); {
	case why != "":
		o.switching.Ports, o.switching.Prepared = "", nil
		o.step = isFalse(crdv1.ReasonSwitching, preparing(from, to, why))
	default:
		// A port that came later must have the same time.
		if ports := digest(table); o.switching.Prepared == nil || o.switching.Ports != ports {
			o.switching.Ports, o.switching.Prepared = ports, new(metav1.NewTime(o.now))
		}
		left := o.left(o.switching.Prepared, o.layout.propagation)
		if move = left <= 0; move {
			o.step = isFalse(crdv1.ReasonSwitching, moving(from, to))
		} else {
			o.step = isUnknown(crdv1.ReasonPropagating, prepared(from, to, o.switching.Prepared, o.layout.propagation))
			o.again(left)
		}
	}
	if move && !o.hasService(l4.TCP) {
		o.switching = &crdv1.ProviderSwitch{From: from, Moved: new(metav1.NewTime(o.now))}
		o.again(o.layout.drain)
	}
	for _, p := range protocols() {
		if o.leads[p] == o.leaving && !move && o.shared[p] == "" {
			o.want[p] = o.leaving
		}
	}
	o.bringNewServices(move)
}

// bringNewServices lets a Service that is not there yet lead where the other one does.
func (o *observed) bringNewServices(move bool) {
	behind := slices.Contains(slices.Collect(maps.Values(o.want)), o.leaving)
	for _, p := range protocols() {
		if o.leads[p] == nil && behind && !move {
			o.want[p] = o.leaving
		}
	}
}

// unprepared tells what the new side lacks, or "".
func (o *observed) unprepared(table l4.Table) string {
	for _, p := range protocols() {
		if text := o.foreignObject(p); text != "" {
			return text
		}
		if missing := o.acting.missing(p); len(missing) > 0 {
			return notThereYet(missing)
		}
	}
	if problems := o.acting.problems(); len(problems) > 0 {
		return problems[0]
	}
	for i := range table {
		if l := &table[i]; !o.acting.live(l) {
			return notCarriedYet(l.Owner.String())
		}
	}
	_, why := o.acting.running(true)
	return why
}

// digest tells one set of ports and hosts from another.
func digest(table l4.Table) string {
	sum := sha256.New()
	for i := range table {
		l := &table[i]
		_, _ = fmt.Fprintln(sum, l.Protocol, l.Port, l.Last(), l.Hosts) // never fails, see hash.Hash
	}
	const length = 8
	return hex.EncodeToString(sum.Sum(nil)[:length])
}

// settings are those of the side to which the Service shall lead.
func (o *observed) settings(p l4.Protocol) service.Settings {
	const local = string(corev1.ServiceExternalTrafficPolicyLocal)
	to := o.want[p].provider()
	if o.shared[p] != "" {
		// Nothing but what the class says of the Service as it is.
		to = crdv1.ProviderIngressNginx
	}
	s := *o.layout.settingsOf(to, p)
	svc := o.serviceObjects[p]
	if to == crdv1.ProviderNginx && s.ExternalTrafficPolicy == "" && (svc == nil || svc.Spec.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyLocal) {
		// A Service that exists keeps what it has: load balancers take their time to learn
		// which nodes have a pod.
		s.ExternalTrafficPolicy = local
	}
	if to == crdv1.ProviderIngressNginx && o.layout.provider == crdv1.ProviderNginx {
		s.Selector, s.SelectorExplicit = service.OwnSelector(svc), false
		if svc == nil {
			s.Selector = o.layout.settingsOf(to, p).Selector
		}
	}
	return s
}

// rendered is what of the table the leaving side can do.
func (o *observed) rendered(table l4.Table) l4.Table {
	return slices.DeleteFunc(slices.Clone(table), func(l l4.Listener) bool { return !o.canLeave(&l) })
}

// canLeave tells whether the side that leaves can carry the listener.
func (o *observed) canLeave(l *l4.Listener) bool {
	if !o.leaving.Enabled(l.Protocol) || o.leaving.Check(l) != "" {
		return false
	}
	for n := l.Port; n <= l.Last(); n++ {
		if o.leaving.Reserved(l.Protocol, n) {
			return false
		}
	}
	return true
}
