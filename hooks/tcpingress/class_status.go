package tcpingress

import (
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/resolve"
)

func (in *classInput) status(o *observed, outcome *resolve.Outcome, now time.Time) crdv1.TCPIngressClassStatus {
	// Ports of others on a Service that the class shares are as they should be.
	foreign := o.foreign(outcome.Table, in.inBook)
	verdicts := []named{
		{crdv1.ConditionAccepted, isTrue(crdv1.ReasonAccepted, classAccepted())},
		{crdv1.ConditionProgrammed, o.programmed(outcome)},
	}
	if len(foreign) > 0 {
		verdicts = append(verdicts, named{crdv1.ConditionForeignEntries, isTrue(crdv1.ReasonForeignEntries, foreignEntries(foreign))})
	} else {
		verdicts = append(verdicts, named{crdv1.ConditionForeignEntries, isFalse(crdv1.ReasonNoForeignEntries, noForeignEntries())})
	}
	return crdv1.TCPIngressClassStatus{
		Conditions: stamp(verdicts, in.parent.Status.Conditions, in.parent.Generation, now),
		Addresses:  o.addresses(),
		Listeners:  outcome.Listeners,
		Ranges:     outcome.Ranges,
		Switch:     o.switching,
	}
}

// inBook tells whether the book of the observed status has the port.
func (in *classInput) inBook(k l4.Key) bool {
	if _, ok := in.parent.Status.Listeners[resolve.FormatKey(k)]; ok {
		return true
	}
	return slices.ContainsFunc(in.parent.Status.Ranges, func(r crdv1.ListenerRange) bool {
		return l4.Protocol(r.Protocol) == k.Protocol && r.From <= k.Port && k.Port <= r.To
	})
}

// foreign names entries of others in the ConfigMaps of both sides.
func (o *observed) foreign(table l4.Table, inBook func(l4.Key) bool) []string {
	list := o.acting.foreign(table, inBook)
	if o.leaving != nil {
		list = append(list, o.leaving.foreign(table, inBook)...)
	}
	if o.idle != nil {
		list = append(list, o.idle.foreign(nil, func(l4.Key) bool { return false })...)
	}
	return list
}

// programmed tells whether the observed children carry the whole table.
func (o *observed) programmed(outcome *resolve.Outcome) verdict {
	missing, refusal := o.required()
	switch {
	case o.homeless != nil:
		return o.homeless.class
	case refusal != nil:
		return *refusal
	case o.stage == stagePreparing:
		return o.step
	}
	running, why := o.acting.running(false)
	pendingAddress := ""
	for i := range outcome.Table {
		l := &outcome.Table[i]
		live, reason, message := o.state(l)
		switch {
		case live:
		case reason == crdv1.ReasonAddressPending:
			pendingAddress = message
		case !o.acting.live(l):
			missing = append(missing, o.acting.objects(l.Protocol)[0])
		case running:
			missing = append(missing, o.serviceText(l.Protocol))
		}
	}
	if sentences := o.problems(); len(sentences) > 0 {
		return isFalse(crdv1.ReasonPending, strings.Join(sentences, " "))
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return isFalse(crdv1.ReasonPending, childrenPending(slices.Compact(missing), o.layout.class))
	}
	switch {
	case !running:
		return isFalse(crdv1.ReasonPending, why)
	case pendingAddress != "":
		return isFalse(crdv1.ReasonAddressPending, pendingAddress)
	case o.behind:
		return isUnknown(crdv1.ReasonPropagating, classPropagating(o.layout.propagation))
	case o.stage == stageDraining:
		return o.step
	}
	return isTrue(crdv1.ReasonProgrammed, classProgrammed())
}

// required lists the children that are missing, though every class has them; or gives
// what keeps the class from going on at all.
func (o *observed) required() (missing []string, refusal *verdict) {
	refuse := func(reason, text string) ([]string, *verdict) {
		v := isFalse(reason, text)
		return nil, &v
	}
	for _, p := range protocols() {
		if !o.layout.enabled(p) {
			continue
		}
		if text := o.foreignObject(p); text != "" {
			return refuse(crdv1.ReasonChildNotOwned, text)
		}
		missing = append(missing, o.acting.missing(p)...)
	}
	if o.refused != "" {
		return refuse(crdv1.ReasonServiceShared, o.refused)
	}
	for _, p := range protocols() {
		if o.shared[p] != "" {
			return refuse(crdv1.ReasonServiceShared, o.shared[p])
		}
	}
	return missing, nil
}

func problems(errs field.ErrorList) []string {
	texts := make([]string, 0, len(errs))
	for _, e := range errs {
		texts = append(texts, e.Error())
	}
	return texts
}
