package tcpingress

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/resolve"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
)

// maxRules is the number of rules that an object may have, see the CRD.
const maxRules = 64

func validPort(n int32) bool { return n >= 1 && n <= 65535 }

// ruleReport is all that is known of one rule.
type ruleReport struct {
	Name                      string
	Port, EndPort             int32
	Protocol                  crdv1.Protocol
	Rule                      *crdv1.Rule
	BackendPort               int32
	Accepted, ResolvedRefs    verdict
	BackendsReady, Programmed verdict
	held                      bool
	index                     int
}

// status is made anew from what the request holds. Only the times of transitions
// and, until the class has judged again, port numbers are taken from before.
func (in *ingressInput) status(now time.Time) crdv1.TCPIngressStatus {
	slice, entry := in.judged()
	b := newBackends(in.parent.Namespace, in.services, in.endpoints)
	if slice != nil {
		b.allowExternalName = slice.AllowExternalName
	}
	before := in.before(slice)

	names := resolve.RuleNames(&in.parent.Spec)
	reports := make([]ruleReport, len(names))
	for i, name := range names {
		r := &in.parent.Spec.Rules[i]
		report := &reports[i]
		*report = ruleReport{Name: name, Port: r.Port, EndPort: r.EndPort, Protocol: validate.ProtocolOf(r), Rule: r, index: i}
		if old := before[name]; report.Port == 0 && old != nil {
			report.Port = old.Port
		}
		in.judge(report, slice, entry)
		res := b.resolve(r)
		report.ResolvedRefs, report.BackendsReady, report.BackendPort = res.resolved, res.ready, res.number
		if old := before[name]; report.BackendPort == 0 && old != nil && keepsNumber(old, r) {
			report.BackendPort = old.BackendPort
		}
	}
	return in.project(reports, slice, now)
}

// before gives the rules of the observed status by name, as far as they are of
// the class that judges now, or may still do so.
func (in *ingressInput) before(slice *sliceObject) map[string]*crdv1.RuleStatus {
	class := in.parent.Status.ClassName
	if slice != nil && slice.Class != class {
		return nil
	}
	if want := in.parent.Spec.IngressClassName; want != "" && want != class {
		return nil
	}
	rules := make(map[string]*crdv1.RuleStatus, len(in.parent.Status.Rules))
	for i := range in.parent.Status.Rules {
		rules[in.parent.Status.Rules[i].Name] = &in.parent.Status.Rules[i]
	}
	return rules
}

// keepsNumber tells that a named port cannot be looked up now, but was before.
func keepsNumber(old *crdv1.RuleStatus, r *crdv1.Rule) bool {
	port := r.Backend.Service.Port
	return port != nil && port.Name != "" && old.PortName == port.Name && old.ServiceName == r.Backend.Service.Name
}

// judge reads the verdict of the class on a rule.
func (in *ingressInput) judge(report *ruleReport, slice *sliceObject, entry *crdv1.SliceEntry) {
	if in.parent.DeletionTimestamp != nil {
		v := isUnknown(crdv1.ReasonPending, deleting())
		report.Accepted, report.Programmed = v, v
		return
	}
	if entry == nil {
		v := isUnknown(crdv1.ReasonPending, notJudged(in.parent.Spec.IngressClassName))
		report.Accepted, report.Programmed = v, v
		return
	}
	if report.index >= maxRules {
		report.Accepted = isFalse(crdv1.ReasonInvalidRule, tooManyRules(report.index))
		report.Programmed = isFalse(crdv1.ReasonNotAccepted, notAccepted())
		return
	}
	rule, ok := entry.Rules[report.Name]
	if ok && report.Port == 0 {
		report.Port = rule.Port
	}
	if entry.Generation != in.parent.Generation || !ok {
		text := judgedBefore(slice.Class)
		if entry.Generation == in.parent.Generation {
			text = noSuchVerdict(slice.Class)
		}
		v := isUnknown(crdv1.ReasonPending, text)
		report.Accepted, report.Programmed = v, v
		return
	}
	report.Port, report.EndPort = rule.Port, rule.EndPort
	switch {
	case isRefusal(rule.Reason):
		report.Accepted = isFalse(rule.Reason, rule.Message)
		report.Programmed = isFalse(crdv1.ReasonNotAccepted, notAccepted())
		return
	case rule.Live:
		report.Programmed = isTrue(crdv1.ReasonProgrammed, programmedMessage())
	case rule.Reason == crdv1.ReasonPropagating:
		report.Programmed = isUnknown(rule.Reason, rule.Message)
	case rule.Reason == "":
		report.Programmed = isFalse(crdv1.ReasonPending, pendingMessage(slice.Class))
	default:
		report.Programmed = isFalse(rule.Reason, cmp.Or(rule.Message, pendingMessage(slice.Class)))
	}
	report.Accepted = isTrue(crdv1.ReasonAccepted, acceptedMessage(slice.Class))
	report.held = true
}

// isRefusal tells the reasons of Accepted=False from those of Programmed.
func isRefusal(reason string) bool {
	switch reason {
	case "", crdv1.ReasonPending, crdv1.ReasonAddressPending, crdv1.ReasonChildNotOwned,
		crdv1.ReasonServiceShared, crdv1.ReasonPropagating:
		return false
	}
	return true
}

func (in *ingressInput) project(reports []ruleReport, slice *sliceObject, now time.Time) crdv1.TCPIngressStatus {
	generation := in.parent.Generation
	status := crdv1.TCPIngressStatus{
		ClassName:  in.className(slice),
		Ports:      portsColumn(reports),
		Conditions: stamp(objectVerdicts(reports), in.parent.Status.Conditions, generation, now),
	}
	if slice != nil {
		status.Addresses = addressesFor(slice.Addresses, reports)
	}
	old := make(map[string]*crdv1.RuleStatus, len(in.parent.Status.Rules))
	for i := range in.parent.Status.Rules {
		old[in.parent.Status.Rules[i].Name] = &in.parent.Status.Rules[i]
	}
	for i := range reports[:min(len(reports), maxRules)] {
		status.Rules = append(status.Rules, reports[i].status(old[reports[i].Name], generation, now))
	}
	return status
}

// className is the class that judged. Until one has, it is the one that did
// before, if that may still be so.
func (in *ingressInput) className(slice *sliceObject) string {
	if slice != nil {
		return slice.Class
	}
	if want := in.parent.Spec.IngressClassName; want != "" && want != in.parent.Status.ClassName {
		return ""
	}
	return in.parent.Status.ClassName
}

func (r *ruleReport) status(old *crdv1.RuleStatus, generation int64, now time.Time) crdv1.RuleStatus {
	s := crdv1.RuleStatus{Name: r.Name, BackendPort: r.BackendPort}
	// A rule that came past admission may say what the status's schema refuses.
	if validPort(r.Port) && (r.EndPort == 0 || validPort(r.EndPort)) {
		s.Port, s.EndPort = r.Port, r.EndPort
	}
	if r.Protocol == crdv1.ProtocolTCP || r.Protocol == crdv1.ProtocolUDP {
		s.Protocol = r.Protocol
	}
	if name := r.Rule.Backend.Service.Name; len(validation.IsDNS1123Label(name)) == 0 {
		s.ServiceName = name
	}
	if port := r.Rule.Backend.Service.Port; port != nil && len(validation.IsValidPortName(port.Name)) == 0 {
		s.PortName = port.Name
	}
	verdicts := []named{
		{crdv1.ConditionAccepted, r.Accepted},
		{crdv1.ConditionResolvedRefs, r.ResolvedRefs},
		{crdv1.ConditionBackendsReady, r.BackendsReady},
		{crdv1.ConditionProgrammed, r.Programmed},
	}
	if old != nil {
		s.Conditions = stamp(verdicts, old.Conditions, generation, now)
	} else {
		s.Conditions = stamp(verdicts, nil, generation, now)
	}
	return s
}

// objectVerdicts sums the rules up. Ready is Accepted, ResolvedRefs and
// Programmed in one, and says what the first of them that is not true says.
func objectVerdicts(reports []ruleReport) []named {
	if len(reports) == 0 {
		// Nothing is wrong with no rule, but nothing works either.
		refused, unknown := isFalse(crdv1.ReasonInvalidRule, noRules()), isUnknown(crdv1.ReasonPending, noRules())
		return []named{
			{crdv1.ConditionReady, refused},
			{crdv1.ConditionAccepted, refused},
			{crdv1.ConditionResolvedRefs, unknown},
			{crdv1.ConditionBackendsReady, unknown},
			{crdv1.ConditionProgrammed, isFalse(crdv1.ReasonNotAccepted, notAccepted())},
		}
	}
	accepted := summary(reports, func(r *ruleReport) verdict { return r.Accepted },
		isTrue(crdv1.ReasonAccepted, allMessage("accepted")))
	resolved := summary(reports, func(r *ruleReport) verdict { return r.ResolvedRefs },
		isTrue(crdv1.ReasonResolved, allMessage("resolved")))
	backends := summary(reports, func(r *ruleReport) verdict { return r.BackendsReady },
		isTrue(crdv1.ReasonBackendReady, allMessage("backed by ready endpoints")))
	programmed := programmedSummary(reports)
	return []named{
		{crdv1.ConditionReady, ready(accepted, resolved, programmed)},
		{crdv1.ConditionAccepted, accepted},
		{crdv1.ConditionResolvedRefs, resolved},
		{crdv1.ConditionBackendsReady, backends},
		{crdv1.ConditionProgrammed, programmed},
	}
}

func ready(parts ...verdict) verdict {
	for _, status := range []string{"False", "Unknown"} {
		for _, v := range parts {
			if string(v.Status) == status {
				return v
			}
		}
	}
	return isTrue(crdv1.ReasonReady, readyMessage())
}

// portsColumn lists the ports in short, "6379,53/UDP,8000-8010", by number.
// A port of the pool that is not known yet is left out.
func portsColumn(reports []ruleReport) string {
	sorted := slices.Clone(reports)
	slices.SortStableFunc(sorted, func(a, b ruleReport) int {
		return cmp.Or(cmp.Compare(a.Port, b.Port), cmp.Compare(a.Protocol, b.Protocol))
	})
	var texts []string
	for i := range sorted {
		r := &sorted[i]
		if !validPort(r.Port) {
			continue
		}
		text := strconv.Itoa(int(r.Port))
		if r.EndPort > r.Port {
			text += "-" + strconv.Itoa(int(r.EndPort))
		}
		if r.Protocol != crdv1.ProtocolTCP {
			text += "/" + string(r.Protocol)
		}
		texts = append(texts, text)
	}
	return strings.Join(slices.Compact(texts), ",")
}

// addressesFor leaves the addresses of the protocols that the object holds ports of.
func addressesFor(addresses []crdv1.Address, reports []ruleReport) []crdv1.Address {
	var left []crdv1.Address
	for _, a := range addresses {
		if slices.ContainsFunc(reports, func(r ruleReport) bool { return r.held && r.Protocol == a.Protocol }) {
			left = append(left, a)
		}
	}
	return left
}
