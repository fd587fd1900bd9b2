package tcpingress

import (
	"encoding/json"
	"maps"
	"slices"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/resolve"
)

// budget is the size in bytes that a slice may have. Metacontroller's default
// apply copies a child into an annotation, and annotations end at 256 KiB.
const budget = 200 << 10

// slicesOf writes the verdicts into pages. Empty pages do not exist.
func (in *classInput) slicesOf(o *observed, outcome *resolve.Outcome) []*crdv1.TCPIngressSlice {
	class := in.parent.Name
	addresses := o.addresses()
	byPage := make(map[string]*crdv1.TCPIngressSlice)
	for ingress, v := range outcome.Verdicts {
		digits := page(ingress)
		slice := byPage[digits]
		if slice == nil {
			slice = newSlice(class, digits)
			slice.Addresses = addresses
			slice.AllowExternalName = allowsExternalName(&in.parent.Spec)
			byPage[digits] = slice
		}
		slice.Entries[ingress] = o.entry(ingress, &v)
	}
	in.holdBack(byPage, outcome)
	list := make([]*crdv1.TCPIngressSlice, 0, len(byPage))
	for _, digits := range slices.Sorted(maps.Keys(byPage)) {
		fit(byPage[digits])
		list = append(list, byPage[digits])
	}
	return list
}

func newSlice(class, digits string) *crdv1.TCPIngressSlice {
	slice := &crdv1.TCPIngressSlice{Class: class, Entries: make(map[string]crdv1.SliceEntry)}
	slice.APIVersion, slice.Kind = crdv1.APIVersion, crdv1.KindTCPIngressSlice
	slice.Name = sliceName(class, digits)
	slice.Labels = map[string]string{crdv1.LabelClass: class, crdv1.LabelSlice: digits}
	return slice
}

// allowsExternalName tells whether rules may lead to ExternalName Services.
func allowsExternalName(spec *crdv1.TCPIngressClassSpec) bool {
	return spec.Provider == crdv1.ProviderNginx && spec.Nginx != nil && spec.Nginx.AllowExternalName
}

// entry adds to the verdict what was observed of each rule that holds its port.
func (o *observed) entry(ingress string, v *resolve.Verdict) crdv1.SliceEntry {
	e := crdv1.SliceEntry{Generation: v.Generation, Rules: make(map[string]crdv1.SliceRule, len(v.Rules))}
	for i := range v.Rules {
		if i == maxRules {
			break
		}
		r := &v.Rules[i]
		rule := crdv1.SliceRule{Reason: r.Reason, Message: r.Message}
		if validPort(r.Port) && (r.EndPort == 0 || validPort(r.EndPort)) {
			rule.Port, rule.EndPort = r.Port, r.EndPort
		}
		if r.Protocol == l4.TCP || r.Protocol == l4.UDP {
			rule.Protocol = crdv1.Protocol(r.Protocol)
		}
		if r.Accepted() {
			rule.Hosts = r.Want.Hosts
			o.progress(ingress, r, &rule)
		}
		e.Rules[r.Name] = rule
	}
	return e
}

// fit keeps a slice within the budget: messages go first, then hosts; reasons stay. The
// TCPIngress hook has a sentence of its own for a reason without a message.
func fit(slice *crdv1.TCPIngressSlice) {
	for _, cut := range []func(*crdv1.SliceRule){
		func(r *crdv1.SliceRule) { r.Message = "" },
		func(r *crdv1.SliceRule) { r.Hosts = nil },
	} {
		data, err := json.Marshal(slice)
		if err != nil || len(data) <= budget {
			return // a struct of strings and numbers always marshals
		}
		for _, e := range slice.Entries {
			for name, rule := range e.Rules {
				cut(&rule)
				e.Rules[name] = rule
			}
		}
	}
}
