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
	foreign := o.config.Foreign(outcome.Table, in.inBook)
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

// programmed tells whether the observed children carry the whole table.
func (o *observed) programmed(outcome *resolve.Outcome) verdict {
	var problems []string
	for _, p := range protocols() {
		if o.layout.configMap(p) == "" {
			continue
		}
		if text, ok := o.notOwned[o.configMapText(p)]; ok {
			return isFalse(crdv1.ReasonChildNotOwned, text)
		}
		if o.hasService(p) {
			if text, ok := o.notOwned[o.serviceText(p)]; ok {
				return isFalse(crdv1.ReasonChildNotOwned, text)
			}
		}
		if !o.configMaps[p] {
			problems = append(problems, o.configMapText(p))
		}
	}
	pendingAddress := ""
	for i := range outcome.Table {
		l := &outcome.Table[i]
		live, reason, message := o.state(l)
		switch {
		case live:
		case reason == crdv1.ReasonAddressPending:
			pendingAddress = message
		case !o.config.Live(l):
			problems = append(problems, o.configMapText(l.Protocol))
		default:
			problems = append(problems, o.serviceText(l.Protocol))
		}
	}
	if sentences := o.problems(); len(sentences) > 0 {
		return isFalse(crdv1.ReasonPending, strings.Join(sentences, " "))
	}
	if len(problems) > 0 {
		slices.Sort(problems)
		return isFalse(crdv1.ReasonPending, childrenPending(slices.Compact(problems), o.layout.class))
	}
	if pendingAddress != "" {
		return isFalse(crdv1.ReasonAddressPending, pendingAddress)
	}
	return isTrue(crdv1.ReasonProgrammed, classProgrammed())
}

func problems(errs field.ErrorList) []string {
	texts := make([]string, 0, len(errs))
	for _, e := range errs {
		texts = append(texts, e.Error())
	}
	return texts
}
