package tcpingress

import (
	"time"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/resolve"
)

// propagation knows since when the configuration carries each rule. It is kept in the
// slices beside the verdicts: one time for all would let every change of one team take
// the claims of all others back.
type propagation struct {
	// before are the entries of the observed slices; nil where nginx sees a change when
	// we do.
	before map[string]crdv1.SliceEntry
	// behind tells that there is a rule that nginx may not have seen yet.
	behind bool
}

// progress tells whether an accepted rule is live, and if not, why not.
func (o *observed) progress(ingress string, r *resolve.RuleVerdict, rule *crdv1.SliceRule) {
	switch {
	case r.Render == nil && r.Withdrawn:
		rule.Reason, rule.Message = crdv1.ReasonPending, withdrawn(r.Want.Backend.Service)
		return
	case !r.Complete():
		// The objects of others are told of first: nothing goes on before they are mended.
		rule.Reason, rule.Message = crdv1.ReasonPending, waitingForService(r.Want.Backend.Service)
		if name := r.Want.Backend.PortName; name != "" && o.acting.provider() == crdv1.ProviderNginx {
			rule.Message = waitingForPort(r.Want.Backend.Service, name)
		}
		if _, reason, message := o.state(r.Want); reason == crdv1.ReasonChildNotOwned {
			rule.Reason, rule.Message = reason, message
		}
		return
	}
	rule.Live, rule.Reason, rule.Message = o.state(r.Render)
	side := o.serving(r.Render.Protocol)
	if !side.follows() || !side.live(r.Render) {
		return
	}
	since := o.since(ingress, r.Name)
	rule.Since = since.Format(time.RFC3339)
	left := min(since.Add(o.layout.propagation).Sub(o.now), o.layout.propagation)
	if left <= 0 {
		return
	}
	o.again(left)
	if rule.Live {
		o.behind = true
		rule.Live, rule.Reason, rule.Message = false, crdv1.ReasonPropagating, propagating(rule.Since, o.layout.propagation)
	}
}

// since tells since when the configuration carries the rule as it is. Between two
// versions of a rule there is always an answer with neither, which has no time. A
// rule that was live without a time was so on the other side, and the Service moved
// only when this one had had its time.
func (o *observed) since(ingress, name string) time.Time {
	rule, ok := o.before[ingress].Rules[name]
	if since, err := time.Parse(time.RFC3339, rule.Since); ok && err == nil {
		return since
	}
	if ok && rule.Live {
		return o.now.Add(-o.layout.propagation)
	}
	return o.now
}
