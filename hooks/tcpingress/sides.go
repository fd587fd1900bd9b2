package tcpingress

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/service"
)

// stage is how far a switch of the provider has come; 0 means that there is none.
type stage uint8

const (
	// stagePreparing: the Services lead to the old side, and the new one is made.
	stagePreparing stage = iota + 1
	// stageDraining: the Services lead to the new side, and the old one stays for those
	// who were not told yet.
	stageDraining
	// stageRemoving: the old side goes.
	stageRemoving
)

// sides are the two providers of a class, of which one is used. It is told from what
// is observed, and from times in the class's status, so that nothing is forgotten when
// an answer is lost:
//
//	the Services lead to    the other side has     so
//	the class's provider    nothing of ours        it is used alone
//	the other side          anything               stagePreparing: both are rendered
//	the class's provider    something of ours      stageDraining: both are rendered,
//	                                               then stageRemoving: the other goes
type sides struct {
	// acting judges the rules. Leaving is rendered too; nil unless there is a switch.
	// Idle is not rendered; nil while there is a switch.
	acting, leaving, idle side
	// leads tells to which side an observed Service leads, nil where it leads nowhere.
	leads map[l4.Protocol]side
	// want tells to which side each Service shall lead.
	want map[l4.Protocol]side
	// shared tells why a Service cannot be had, refused why the switch is not begun.
	shared  map[l4.Protocol]string
	refused string
	stage   stage
	// switching is what the status says of the switch next.
	switching *crdv1.ProviderSwitch
	// step is what the class says of it.
	step verdict
}

// choose finds out which side is used, and whether there is a switch.
func (o *observed) choose(in *classInput, ingressNginx, nginx side) {
	acting, other := ingressNginx, nginx
	if o.layout.provider == crdv1.ProviderNginx {
		acting, other = nginx, ingressNginx
	}
	o.sides = sides{
		acting: acting, idle: other,
		leads:  make(map[l4.Protocol]side),
		want:   make(map[l4.Protocol]side),
		shared: make(map[l4.Protocol]string),
	}
	used := other.inUse()
	for _, p := range protocols() {
		o.want[p] = acting
		if o.leads[p] = o.leadsTo(p, ingressNginx, nginx); o.leads[p] != other {
			continue
		}
		switch text := o.sharedText(p); {
		case text == "":
			used = true
		case other.inUse():
			o.refuse(in, text)
			return
		default:
			o.shared[p] = text
		}
	}
	if used {
		o.switchFrom(other, in.parent.Status.Switch)
	}
}

// leadsTo tells to which side the observed Service leads. What is not ours is where
// somebody else's nginx is.
func (o *observed) leadsTo(p l4.Protocol, ingressNginx, nginx side) side {
	svc := o.serviceObjects[p]
	switch {
	case svc == nil || !o.hasService(p) || len(svc.Spec.Selector) == 0:
		return nil
	case o.leadsToNginx(svc.Spec.Selector):
		return nginx
	}
	return ingressNginx
}

func (o *observed) leadsToNginx(selector map[string]string) bool {
	for key, value := range o.layout.workload.Selector {
		if selector[key] != value {
			return false
		}
	}
	return true
}

// sharedText tells why the Service cannot lead elsewhere, or "": what others have on
// it would be lost.
func (o *observed) sharedText(p l4.Protocol) string {
	svc := o.serviceObjects[p]
	if keys := service.ForeignSelector(svc); len(keys) > 0 {
		return selectorShared(o.serviceText(p), keys, o.layout.class)
	}
	seen := service.Observe(*o.layout.settings(p), svc)
	if len(seen.Foreign) == 0 {
		return ""
	}
	var ports []string
	for i := range seen.Foreign {
		ports = append(ports, portText(&seen.Foreign[i]))
	}
	return portsShared(o.serviceText(p), ports)
}

// refuse goes on with the side that the class has, as if it asked for it. What was
// prepared of the new one stays as it is.
func (o *observed) refuse(in *classInput, why string) {
	next := o.acting
	o.acting, o.idle = o.idle, next
	if next.inUse() {
		o.leaving, o.idle = next, nil
	}
	o.refused = why
	o.layout.provider = o.acting.provider()
	in.parent.Spec.Provider = o.layout.provider
	for _, p := range protocols() {
		o.want[p] = o.acting
	}
}

// switchFrom begins the switch from the other side, or goes on with it.
func (o *observed) switchFrom(other side, before *crdv1.ProviderSwitch) {
	now := metav1.NewTime(o.now)
	o.switching = &crdv1.ProviderSwitch{From: other.provider()}
	if before != nil && before.From == other.provider() {
		o.switching = before.DeepCopy()
	}
	behind := slices.ContainsFunc([]l4.Protocol{l4.TCP, l4.UDP}, func(p l4.Protocol) bool {
		return o.leads[p] == other && o.shared[p] == ""
	})
	// Without Services, nobody else knows where the clients go.
	if behind || !o.hasService(l4.TCP) && o.switching.Moved == nil {
		o.stage, o.leaving, o.idle = stagePreparing, other, nil
		o.switching.Moved = nil
		return
	}
	o.switching.Ports, o.switching.Prepared = "", nil
	if o.switching.Moved == nil {
		o.switching.Moved = &now
	}
	left := o.left(o.switching.Moved, o.layout.drain)
	if left <= 0 {
		o.stage = stageRemoving
		return
	}
	o.stage, o.leaving, o.idle = stageDraining, other, nil
	o.step = isTrue(crdv1.ReasonDraining, draining(other.provider(), o.acting.provider(), o.switching.Moved, o.layout.drain))
	o.again(left)
}

// left is what is left of a period that began at a time. A clock that was set back
// does not make it longer.
func (o *observed) left(since *metav1.Time, period time.Duration) time.Duration {
	return min(since.Add(period).Sub(o.now), period)
}

// serving is the side to which clients get.
func (o *observed) serving(p l4.Protocol) side {
	if o.stage != stagePreparing {
		return o.acting
	}
	if o.leads[p] == o.leaving || !o.hasService(p) {
		return o.leaving
	}
	return o.acting
}

// evidence tells what leads where now. Of two sides, the one that serves knows, and
// the other tells of ports that the first has not.
func (o *observed) evidence() map[l4.Key]l4.Entry {
	if o.leaving == nil {
		return o.acting.entries()
	}
	first, second := o.acting, o.leaving
	if o.stage == stagePreparing {
		first, second = second, first
	}
	all := make(map[l4.Key]l4.Entry)
	known := make(map[l4.Key]bool)
	for key, entry := range first.entries() {
		all[key] = entry
		known[l4.Key{Protocol: key.Protocol, Port: key.Port}] = true
	}
	for key, entry := range second.entries() {
		if !known[l4.Key{Protocol: key.Protocol, Port: key.Port}] {
			all[key] = entry
		}
	}
	return all
}
