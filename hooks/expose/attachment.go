package expose

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
)

// ingress is what the hook looks at in a TCPIngress that was made for the Service.
type ingress struct {
	metacontroller.BareMeta
	Spec crdv1.TCPIngressSpec `json:"spec"`
}

// attachment is a TCPIngress with the fields that the hook owns, and no others.
// What the API server fills in is left out, so that it never makes a difference.
type attachment struct {
	APIVersion string               `json:"apiVersion"`
	Kind       string               `json:"kind"`
	Metadata   attachmentMeta       `json:"metadata"`
	Spec       crdv1.TCPIngressSpec `json:"spec"`
}

type attachmentMeta struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

func newAttachment(namespace, name string, spec crdv1.TCPIngressSpec) attachment {
	return attachment{
		APIVersion: crdv1.APIVersion,
		Kind:       crdv1.KindTCPIngress,
		Metadata:   attachmentMeta{Namespace: namespace, Name: name},
		Spec:       spec,
	}
}

// keep gives an observed attachment as it is, as far as the hook owns its fields.
func keep(observed *ingress) attachment {
	spec := crdv1.TCPIngressSpec{
		IngressClassName: observed.Spec.IngressClassName,
		Rules:            make([]crdv1.Rule, 0, len(observed.Spec.Rules)),
	}
	for i := range observed.Spec.Rules {
		r := &observed.Spec.Rules[i]
		spec.Rules = append(spec.Rules, crdv1.Rule{
			Port:     r.Port,
			EndPort:  r.EndPort,
			Protocol: written(r.Protocol),
			Backend:  r.Backend,
		})
	}
	return newAttachment(observed.Namespace, observed.Name, spec)
}

// written leaves out the protocol that the API server fills in.
func written(protocol crdv1.Protocol) crdv1.Protocol {
	if protocol == crdv1.ProtocolTCP {
		return ""
	}
	return protocol
}

// udpSuffix makes the name of the TCPIngress for UDP from the name of the Service.
const udpSuffix = "-udp"

// attachments gives the TCPIngresses that the entries ask for. Metacontroller
// merges rules by their port alone, so TCP and UDP are objects of their own.
func attachments(s *service, entries []entry) (list []attachment, problem string) {
	for _, protocol := range []crdv1.Protocol{crdv1.ProtocolTCP, crdv1.ProtocolUDP} {
		rules, problem := rulesOf(s, entries, protocol)
		if problem != "" {
			return nil, problem
		}
		if len(rules) == 0 {
			continue
		}
		a := newAttachment(s.Namespace, s.Name, crdv1.TCPIngressSpec{
			IngressClassName: s.Annotations[crdv1.AnnotationIngressClass],
			Rules:            rules,
		})
		if protocol == crdv1.ProtocolUDP {
			a.Metadata.Name += udpSuffix
		}
		if problem := check(a); problem != "" {
			return nil, problem
		}
		list = append(list, a)
	}
	return list, ""
}

// rulesOf gives the rules of one protocol, lowest port first: to write the same
// entries in another order changes nothing.
func rulesOf(s *service, entries []entry, protocol crdv1.Protocol) (rules []crdv1.Rule, problem string) {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e entry) bool { return e.protocol != protocol })
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.first, b.first) })
	for i, e := range entries {
		if i > 0 && e.first <= entries[i-1].last {
			return nil, fmt.Sprintf("Entry %s asks for port %s, and so does entry %s: leave one of them out.",
				quote(e.text), e.key(), quote(entries[i-1].text))
		}
		port, problem := s.backend(e)
		if problem != "" {
			return nil, fmt.Sprintf("Entry %s %s", quote(e.text), problem)
		}
		rule := crdv1.Rule{
			Port:     e.first,
			Protocol: written(protocol),
			Backend:  crdv1.Backend{Service: crdv1.BackendService{Name: s.Name, Port: port}},
		}
		if e.isRange() {
			rule.EndPort = e.last
		}
		rules = append(rules, rule)
	}
	return rules, ""
}

// check finds what the API server would refuse: a refused attachment would hold
// up the others, and the owner of the Service would not see why.
func check(a attachment) (problem string) {
	const longest = 63
	if len(a.Metadata.Name) > longest {
		return fmt.Sprintf("The TCPIngress would be named %s, which is longer than %d characters: give the Service a shorter name, or write a TCPIngress by hand.",
			quote(a.Metadata.Name), longest)
	}
	errs := validate.TCPIngress(&crdv1.TCPIngress{Spec: a.Spec})
	if len(errs) == 0 {
		return ""
	}
	first := errs[0]
	if first.Field == field.NewPath("spec", "ingressClassName").String() {
		return fmt.Sprintf("The annotation %s is %s: it %s.", crdv1.AnnotationIngressClass, quote(a.Spec.IngressClassName), first.Detail)
	}
	return fmt.Sprintf("The TCPIngress %s would not be valid, %s: %s.", a.Metadata.Name, first.Field, first.Detail)
}
