package tcpingress

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/meta"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/resolve"
)

// holdBack leaves out verdicts whose only news is that the children are being
// written by this very answer: as soon as they are observed there is better news,
// and every verdict costs a sync and a status of its own. What was said before
// stays. It is done once only: if the children do not come, the next answer says so.
func (in *classInput) holdBack(pages map[string]*crdv1.TCPIngressSlice, outcome *resolve.Outcome) {
	settled := meta.IsStatusConditionTrue(in.parent.Status.Conditions, crdv1.ConditionProgrammed)
	var before map[string]crdv1.SliceEntry
	for ingress, v := range outcome.Verdicts {
		digits := page(ingress)
		slice := pages[digits]
		if !in.tooEarly(&v, slice.Entries[ingress].Rules, settled) {
			continue
		}
		if before == nil {
			before = in.entriesBefore()
		}
		entry, ok := before[ingress]
		if ok && entry.Generation == v.Generation && anyLive(entry.Rules) {
			continue // a claim that is no longer true is taken back at once
		}
		if ok {
			slice.Entries[ingress] = entry
			continue
		}
		delete(slice.Entries, ingress)
		if len(slice.Entries) == 0 {
			delete(pages, digits)
		}
	}
}

// tooEarly tells whether a rule waits for children that were not asked for before.
// Settled tells that the last answer found all children as they should be.
func (in *classInput) tooEarly(v *resolve.Verdict, rules map[string]crdv1.SliceRule, settled bool) bool {
	return slices.ContainsFunc(v.Rules, func(r resolve.RuleVerdict) bool {
		if !r.Accepted() || rules[r.Name].Live || rules[r.Name].Reason != crdv1.ReasonPending || r.Withdrawn {
			return false
		}
		fresh := !in.inBook(l4.Key{Protocol: r.Protocol, Port: r.Port})
		return fresh || settled && r.Complete() && rules[r.Name].Message == pendingMessage(in.parent.Name)
	})
}

func anyLive(rules map[string]crdv1.SliceRule) bool {
	for _, r := range rules {
		if r.Live {
			return true
		}
	}
	return false
}

func (in *classInput) entriesBefore() map[string]crdv1.SliceEntry {
	before := make(map[string]crdv1.SliceEntry)
	for i := range in.slices {
		maps.Copy(before, in.slices[i].Entries)
	}
	return before
}
