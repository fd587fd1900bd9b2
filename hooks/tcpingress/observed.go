package tcpingress

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/service"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/resolve"
)

// observed is what the children of a class look like now.
type observed struct {
	layout *layout
	uid    string
	now    time.Time

	sides
	// serviceObjects are our Services, nil where there is none.
	serviceObjects map[l4.Protocol]*corev1.Service
	services       map[l4.Protocol]service.Observed
	// notOwned holds, by "ConfigMap ns/name", why an object under the name of a
	// child is not ours.
	notOwned map[string]string
	// occupied tells, by the same name, that an object which is not ours is there.
	occupied map[string]bool
	// homeless is set where the namespace of the class is not there.
	homeless *homeless

	propagation
	// wait is after how much time there will be news without an event, 0 for never.
	wait time.Duration
}

// observe looks at the children. Where a switch of the provider is refused, it goes on
// as if it had not been asked for: see sides.
func (in *classInput) observe(l *layout, now time.Time) *observed {
	o := &observed{
		layout:         l,
		uid:            in.parent.UID,
		now:            now.UTC().Truncate(time.Second),
		serviceObjects: make(map[l4.Protocol]*corev1.Service),
		services:       make(map[l4.Protocol]service.Observed),
		notOwned:       make(map[string]string),
		occupied:       make(map[string]bool),
		homeless:       in.homeless(),
	}
	list := make([]corev1.ConfigMap, len(in.configMaps))
	for i := range in.configMaps {
		list[i] = in.configMaps[i].ConfigMap
	}
	for _, p := range protocols() {
		s := l.settings(p)
		for i := range in.services {
			if svc := &in.services[i].Service; svc.Namespace == s.Namespace && svc.Name == s.Name {
				o.serviceObjects[p] = svc
			}
		}
	}
	o.choose(in, newIngressNginxSide(l, list), newNginxSide(l, in, list))
	for _, p := range protocols() {
		o.services[p] = service.Observe(*l.settings(p), o.serviceObjects[p])
	}
	o.findForeign(in)
	if o.acting.follows() || o.leaving != nil && o.leaving.follows() {
		o.before = in.entriesBefore()
	}
	return o
}

// again asks for another call after that time, if none is asked for sooner.
func (o *observed) again(after time.Duration) {
	if o.wait == 0 || after < o.wait {
		o.wait = after
	}
}

// findForeign looks for objects that have the name of a child without being one. To
// ask for such a child would do harm: by default Metacontroller swallows the error of
// creating it again, by server-side apply it takes the object over.
func (o *observed) findForeign(in *classInput) {
	ours := make(map[string]bool, len(in.configMaps)+len(in.services))
	in.eachChild(func(kind string, meta *metav1.ObjectMeta, _ ...string) { ours[objectText(kind, meta)] = true })
	for _, list := range [][]ownedObject{in.namedConfigMaps, in.namedServices, in.namedDeployments, in.namedDisruptions} {
		for i := range list {
			object := &list[i]
			text := fmt.Sprintf("%s %s/%s", object.Kind, object.Metadata.Namespace, object.Metadata.Name)
			owner := object.controller()
			if ours[text] || owner != nil && string(owner.UID) == o.uid || object.Metadata.Namespace != o.layout.namespace() {
				continue
			}
			o.occupied[text] = true
			switch {
			case object.Metadata.DeletionTimestamp != nil: // nobody has to do anything
			case owner == nil:
				o.notOwned[text] = childNotOwned(text, o.layout.class, o.uid)
			default:
				o.notOwned[text] = ownedByOther(text, owner.Kind+" "+owner.Name)
			}
		}
	}
}

// foreignObject tells why an object that the protocol needs is not ours, or "".
func (o *observed) foreignObject(p l4.Protocol) string {
	if len(o.notOwned) == 0 {
		return ""
	}
	for _, object := range o.acting.objects(p) {
		if text := o.notOwned[object]; text != "" {
			return text
		}
	}
	if !o.hasService(p) {
		return ""
	}
	return o.notOwned[o.serviceText(p)]
}

func objectText(kind string, meta *metav1.ObjectMeta) string {
	return fmt.Sprintf("%s %s/%s", kind, meta.Namespace, meta.Name)
}

func (o *observed) serviceText(p l4.Protocol) string {
	s := o.layout.settings(p)
	return fmt.Sprintf("Service %s/%s", s.Namespace, s.Name)
}

// hasService tells whether the class has a Service for the protocol at all.
func (o *observed) hasService(p l4.Protocol) bool {
	return o.layout.settings(p).Type != string(crdv1.ServiceNone)
}

// taken gathers the numbers that ports of others on our Services use.
func (o *observed) taken() map[l4.Key]string {
	taken := maps.Clone(o.acting.taken())
	if taken == nil {
		taken = make(map[l4.Key]string)
	}
	for _, p := range protocols() {
		if o.shared[p] == "" {
			maps.Copy(taken, service.Taken(*o.layout.settings(p), o.serviceObjects[p]))
		}
	}
	return taken
}

// renderService gives the Service of a protocol, nil if there shall be none. A
// Service that is there goes with the last rule only, since its address goes with
// it: while ports are held but none may be opened, because backends wait to be
// looked at, it keeps those ports, and while all rules are refused it keeps one of
// the ports that it has.
func (o *observed) renderService(p l4.Protocol, outcome *resolve.Outcome) *service.Service {
	own := slices.Sorted(maps.Keys(o.services[p].Ours))
	if o.shared[p] != "" {
		return service.Render(o.settings(p), own, o.serviceObjects[p])
	}
	var ports []int32
	add := func(l *l4.Listener) {
		for n := l.Port; l.Protocol == p && n <= l.Last(); n++ {
			ports = append(ports, n)
		}
	}
	for i := range outcome.Table {
		add(&outcome.Table[i])
	}
	if len(ports) == 0 && o.serviceObjects[p] != nil {
		for _, v := range outcome.Verdicts {
			for i := range v.Rules {
				if v.Rules[i].Accepted() {
					add(v.Rules[i].Want)
				}
			}
		}
		slices.Sort(ports)
		if len(ports) == 0 && asksFor(outcome, p) && len(own) > 0 {
			ports = own[:1]
		}
	}
	// Rules that share a port by hosts have one port of the Service.
	ports = slices.Compact(ports)
	return service.Render(o.settings(p), ports, o.serviceObjects[p])
}

// asksFor tells whether a rule asks for a port of the protocol, be it in vain.
func asksFor(outcome *resolve.Outcome, p l4.Protocol) bool {
	for _, v := range outcome.Verdicts {
		for i := range v.Rules {
			if v.Rules[i].Protocol == p {
				return true
			}
		}
	}
	return false
}

// maxAddresses is the number of addresses that a status may have, see the CRD: some
// load balancers list every node of the cluster.
const maxAddresses = 256

// addresses lists where the class is reached.
func (o *observed) addresses() []crdv1.Address {
	var list []crdv1.Address
	for _, p := range protocols() {
		if !o.hasService(p) {
			continue
		}
		for _, a := range o.services[p].Addresses {
			list = append(list, crdv1.Address{Protocol: crdv1.Protocol(p), Type: crdv1.AddressType(a.Type), Value: a.Value})
		}
	}
	return list[:min(len(list), maxAddresses)]
}

// state tells whether the observed children carry a rule exactly, and if not, why
// not. Whether nginx has seen it already is not told.
func (o *observed) state(l *l4.Listener) (live bool, reason, message string) {
	if o.homeless != nil {
		return false, crdv1.ReasonPending, o.homeless.rule
	}
	if text := o.foreignObject(l.Protocol); text != "" {
		return false, crdv1.ReasonChildNotOwned, text
	}
	if text := o.shared[l.Protocol]; text != "" {
		return false, crdv1.ReasonServiceShared, text
	}
	side := o.serving(l.Protocol)
	if !side.live(l) {
		if side != o.acting && o.acting.live(l) {
			return false, crdv1.ReasonPending, waitsForSwitch(side.provider(), o.acting.provider())
		}
		return false, crdv1.ReasonPending, o.pending(side.problems())
	}
	if ok, why := side.running(false); !ok {
		return false, crdv1.ReasonPending, why
	}
	if !o.hasService(l.Protocol) {
		return true, "", ""
	}
	svc := o.services[l.Protocol]
	for n := l.Port; n <= l.Last(); n++ {
		if !svc.Live(n) {
			return false, crdv1.ReasonPending, o.pending(svc.Problems)
		}
	}
	if !svc.Addressed() {
		return false, crdv1.ReasonAddressPending, addressPending(o.serviceText(l.Protocol))
	}
	return true, "", ""
}

// pending tells why a child does not carry a rule: what stands in its way, or
// that the change is still to come.
func (o *observed) pending(problems []string) string {
	if len(problems) > 0 {
		return strings.Join(problems, " ")
	}
	return pendingMessage(o.layout.class)
}

// problems are sentences on what cannot be done to the children as they are.
func (o *observed) problems() []string {
	list := slices.Clone(o.acting.problems())
	for _, p := range protocols() {
		if o.shared[p] == "" {
			list = append(list, o.services[p].Problems...)
		}
	}
	return list
}
