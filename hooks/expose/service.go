package expose

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// service is what the hook looks at in a Service.
type service struct {
	metacontroller.Meta
	Spec struct {
		Type  corev1.ServiceType `json:"type"`
		Ports []servicePort      `json:"ports"`
	} `json:"spec"`
}

// servicePort is one port of a Service.
type servicePort struct {
	Name     string          `json:"name"`
	Port     int32           `json:"port"`
	Protocol corev1.Protocol `json:"protocol"`
}

// is tells whether the port has the protocol; a port without one is TCP.
func (p servicePort) is(protocol crdv1.Protocol) bool { return p.protocol() == string(protocol) }

func (p servicePort) protocol() string {
	if p.Protocol == "" {
		return string(corev1.ProtocolTCP)
	}
	return string(p.Protocol)
}

// String gives the port as an entry could name it: "5432 (postgres)", "53/UDP (dns)".
func (p servicePort) String() string {
	text := fmt.Sprint(p.Port)
	if p.protocol() != string(corev1.ProtocolTCP) {
		text += "/" + p.protocol()
	}
	if p.Name != "" {
		text += " (" + p.Name + ")"
	}
	return text
}

// backend gives the Service's port that the entry leads to, nil for a range. A
// problem continues the words "Entry ... ".
func (s *service) backend(e entry) (port *crdv1.BackendPort, problem string) {
	switch {
	case e.isRange():
		return nil, s.checkRange(e)
	case e.name != "":
		return s.byName(e)
	case e.number != 0:
		return s.byNumber(e, e.number)
	default:
		return s.byExternal(e)
	}
}

func (s *service) byName(e entry) (*crdv1.BackendPort, string) {
	i := slices.IndexFunc(s.Spec.Ports, func(p servicePort) bool { return p.Name == e.name })
	if i < 0 {
		return nil, fmt.Sprintf("names the port %s, which the Service does not have: %s.", quote(e.name), s.ports())
	}
	p := s.Spec.Ports[i]
	if !p.is(e.protocol) {
		return nil, mismatch(e, p)
	}
	// A port of a Service may have a longer name than a TCPIngress can refer to.
	if len(validation.IsValidPortName(e.name)) > 0 {
		return &crdv1.BackendPort{Number: p.Port}, ""
	}
	return &crdv1.BackendPort{Name: e.name}, ""
}

func (s *service) byNumber(e entry, number int32) (*crdv1.BackendPort, string) {
	same := s.filter(func(p servicePort) bool { return p.Port == number })
	if slices.ContainsFunc(same, func(p servicePort) bool { return p.is(e.protocol) }) {
		return &crdv1.BackendPort{Number: number}, ""
	}
	if len(same) > 0 {
		return nil, mismatch(e, same[0])
	}
	return nil, fmt.Sprintf("names the port %d, which the Service does not have: %s.", number, s.ports())
}

// byExternal finds the port of an entry that leaves it out. A number that exists
// under another protocol only is a mistake: the sole port would be a guess.
func (s *service) byExternal(e entry) (*crdv1.BackendPort, string) {
	port, problem := s.byNumber(e, e.first)
	if port != nil || slices.ContainsFunc(s.Spec.Ports, func(p servicePort) bool { return p.Port == e.first }) {
		return port, problem
	}
	candidates := s.filter(func(p servicePort) bool { return p.is(e.protocol) })
	switch len(candidates) {
	case 1:
		return &crdv1.BackendPort{Number: candidates[0].Port}, ""
	case 0:
		return nil, fmt.Sprintf("is %s, and the Service has no %s port: %s.", e.protocol, e.protocol, s.ports())
	default:
		return nil, fmt.Sprintf(`does not say which port of the Service it leads to: write one after a colon, as in "%d:%d"; %s.`,
			e.first, candidates[0].Port, s.ports())
	}
}

func (s *service) checkRange(e entry) (problem string) {
	for number := e.first; number <= e.last; number++ {
		if _, problem := s.byNumber(e, number); problem != "" {
			return problem
		}
	}
	return ""
}

func (s *service) filter(keep func(servicePort) bool) []servicePort {
	var kept []servicePort
	for _, p := range s.Spec.Ports {
		if keep(p) {
			kept = append(kept, p)
		}
	}
	return kept
}

// ports continues a sentence with the ports that there are.
func (s *service) ports() string {
	const most = 8
	var list []string
	for i, p := range s.Spec.Ports {
		if i == most {
			list = append(list, fmt.Sprintf("%d more", len(s.Spec.Ports)-most))
			break
		}
		list = append(list, p.String())
	}
	if len(list) == 0 {
		return "it has no ports"
	}
	return "it has " + strings.Join(list, ", ")
}

// mismatch tells that the Service has the port, but not for the entry's protocol.
func mismatch(e entry, p servicePort) string {
	protocol := p.protocol()
	if protocol != string(crdv1.ProtocolTCP) && protocol != string(crdv1.ProtocolUDP) {
		return fmt.Sprintf("leads to port %s of the Service, and nginx forwards TCP and UDP only: name another port.", p)
	}
	text, _, _ := strings.Cut(e.text, "/")
	return fmt.Sprintf("is %s, but port %s of the Service is %s only: write %q.", e.protocol, p, protocol, text+"/"+protocol)
}
