package resolve

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// newWorld makes a world of one class "nginx" and the TCPIngresses.
func newWorld(ingresses ...Ingress) *World {
	w := &World{
		Class:     Class{Name: "nginx", Created: at(0), Spec: &crdv1.TCPIngressClassSpec{Namespace: "ingress-nginx"}},
		Ingresses: ingresses,
		Observed: Observed{
			Entries: map[l4.Key]l4.Entry{}, Rules: map[string]map[string]crdv1.SliceRule{}, Taken: map[l4.Key]string{},
		},
	}
	w.Classes = []Class{w.Class}
	return w
}

func at(t int) time.Time { return time.Unix(1_700_000_000+int64(t), 0) }

// ti makes a TCPIngress of class nginx from its "namespace/name", its age (the
// smaller the older), and rules as rule reads them, apart by ";".
func ti(key string, age int, rules string) Ingress {
	namespace, name, _ := strings.Cut(key, "/")
	in := Ingress{
		Namespace: namespace, Name: name, Created: at(age), Generation: 1,
		Spec: &crdv1.TCPIngressSpec{IngressClassName: "nginx"},
	}
	for text := range strings.SplitSeq(rules, ";") {
		in.Spec.Rules = append(in.Spec.Rules, rule(text))
	}
	return in
}

// rule reads "name=6379/TCP host1,host2 -> svc:port +accept +send": a port, a
// range "100-110", or "pool"; without a port of the backend for a range.
func rule(text string) crdv1.Rule {
	left, right, found := strings.Cut(strings.TrimSpace(text), " -> ")
	if !found {
		panic("no backend in " + text)
	}
	var r crdv1.Rule
	name, where, named := strings.Cut(left, "=")
	if named {
		r.Name = name
	} else {
		where = left
	}
	where, hosts, _ := strings.Cut(where, " ")
	if hosts != "" {
		r.Hosts = strings.Split(hosts, ",")
	}
	ports, protocol, _ := strings.Cut(where, "/")
	r.Protocol = crdv1.Protocol(protocol)
	first, last, ranged := strings.Cut(ports, "-")
	if first == "" {
		first, ranged = ports, false
	}
	if ports != "pool" {
		r.Port = number(first)
	}
	if ranged {
		r.EndPort = number(last)
	}
	words := strings.Fields(right)
	service, port, hasPort := strings.Cut(words[0], ":")
	r.Backend.Service.Name = service
	if hasPort {
		r.Backend.Service.Port = &crdv1.BackendPort{}
		if n, err := strconv.Atoi(port); err == nil {
			r.Backend.Service.Port.Number = int32(n)
		} else {
			r.Backend.Service.Port.Name = port
		}
	}
	for _, flag := range words[1:] {
		if r.ProxyProtocol == nil {
			r.ProxyProtocol = &crdv1.ProxyProtocol{}
		}
		r.ProxyProtocol.Accept = r.ProxyProtocol.Accept || flag == "+accept"
		if flag == "+send" {
			r.ProxyProtocol.Send = crdv1.ProxyProtocolV1
		}
	}
	return r
}

func number(text string) int32 {
	n, err := strconv.Atoi(text)
	if err != nil {
		panic(err)
	}
	return int32(n)
}

// entry observes "6379/TCP" or "8443/TCP/host" as leading to "ns/svc:port".
func (w *World) entry(key, to string) *World {
	k, ok := ParseKey(key)
	if !ok {
		panic("no key: " + key)
	}
	namespace, rest, _ := strings.Cut(to, "/")
	service, port, _ := strings.Cut(rest, ":")
	port, accept, _ := strings.Cut(port, "+")
	e := l4.Entry{Backend: l4.Backend{Namespace: namespace, Service: service}, AcceptProxy: accept == "accept"}
	if n, err := strconv.Atoi(port); err == nil {
		e.Backend.Port = int32(n)
	} else {
		e.Backend.PortName = port
	}
	w.Observed.Entries[k] = e
	return w
}

// book enters a holder into the old book.
func (w *World) book(key, holder string) *World {
	if w.Class.Listeners == nil {
		w.Class.Listeners = map[string]string{}
	}
	w.Class.Listeners[key] = holder
	for i := range w.Classes {
		if w.Classes[i].Name == w.Class.Name {
			w.Classes[i].Listeners = w.Class.Listeners
		}
	}
	return w
}

// slice enters a verdict of an observed slice: "6379/TCP", accepted if reason is "".
func (w *World) slice(ingress, rule, port, reason string) *World {
	k, ok := ParseKey(port)
	if !ok {
		panic("no port: " + port)
	}
	if w.Observed.Rules[ingress] == nil {
		w.Observed.Rules[ingress] = map[string]crdv1.SliceRule{}
	}
	r := crdv1.SliceRule{Port: k.Port, Protocol: crdv1.Protocol(k.Protocol), Reason: reason}
	if k.Host != "" {
		r.Hosts = []string{k.Host}
	}
	w.Observed.Rules[ingress][rule] = r
	return w
}

// status writes what a TCPIngress recorded of a rule: that it is accepted on a
// port, and that its Service "svc:port" was judged, with the port by number.
func (w *World) status(ingress, rule, port, service string, backendPort int32) *World {
	in := w.ingress(ingress)
	k, ok := ParseKey(port)
	if !ok {
		panic("no port: " + port)
	}
	name, portName, _ := strings.Cut(service, ":")
	in.StatusClass = "nginx"
	in.StatusRules = append(in.StatusRules, crdv1.RuleStatus{
		Name: rule, Port: k.Port, Protocol: crdv1.Protocol(k.Protocol), ServiceName: name, PortName: portName, BackendPort: backendPort,
		Conditions: []metav1.Condition{
			{Type: crdv1.ConditionAccepted, Status: metav1.ConditionTrue, Reason: crdv1.ReasonAccepted},
			{Type: crdv1.ConditionResolvedRefs, Status: metav1.ConditionTrue, Reason: crdv1.ReasonResolved},
		},
	})
	return w
}

func (w *World) ingress(key string) *Ingress {
	for i := range w.Ingresses {
		if in := &w.Ingresses[i]; in.Namespace+"/"+in.Name == key {
			return in
		}
	}
	panic("no TCPIngress " + key)
}

// ports gives the class's port settings, to be changed.
func (w *World) ports() *crdv1.ClassPorts {
	if w.Class.Spec.Ports == nil {
		w.Class.Spec.Ports = &crdv1.ClassPorts{}
	}
	return w.Class.Spec.Ports
}

// verdicts shortens an outcome to one line for each rule: "ns/name rule port: reason".
func verdicts(out Outcome) map[string]string {
	got := map[string]string{}
	for key, v := range out.Verdicts {
		for i := range v.Rules {
			r := &v.Rules[i]
			text := portOf(r)
			if r.Reason != "" {
				text += " " + r.Reason
			}
			got[key+" "+r.Name] = text
		}
	}
	return got
}

func portOf(r *RuleVerdict) string {
	text := strconv.Itoa(int(r.Port))
	if r.EndPort != 0 {
		text += "-" + strconv.Itoa(int(r.EndPort))
	}
	return text + "/" + string(r.Protocol)
}

// message gives the message of one rule.
func message(t *testing.T, out Outcome, ingress, rule string) string {
	t.Helper()
	r := verdict(t, out, ingress, rule)
	require.NotEmpty(t, r.Message)
	return r.Message
}

func verdict(t *testing.T, out Outcome, ingress, rule string) RuleVerdict {
	t.Helper()
	for _, r := range out.Verdicts[ingress].Rules {
		if r.Name == rule {
			return r
		}
	}
	require.Fail(t, "no verdict", "on rule %s of %s", rule, ingress)
	return RuleVerdict{}
}

// advance makes the world as it is after an outcome was written everywhere and
// every Service was judged.
func advance(w *World, out Outcome) *World {
	next := *w
	next.Observed.Entries = entriesOf(out.Table)
	next.Observed.Rules = map[string]map[string]crdv1.SliceRule{}
	next.Class.Listeners, next.Class.Ranges = out.Listeners, out.Ranges
	next.Classes = append([]Class(nil), w.Classes...)
	for i := range next.Classes {
		if next.Classes[i].Name == w.Class.Name {
			next.Classes[i] = next.Class
		}
	}
	next.Ingresses = append([]Ingress(nil), w.Ingresses...)
	for i := range next.Ingresses {
		in := &next.Ingresses[i]
		key := in.Namespace + "/" + in.Name
		v, ok := out.Verdicts[key]
		if !ok {
			continue
		}
		next.Observed.Rules[key] = sliceOf(v)
		in.StatusClass = w.Class.Name
		in.StatusRules = statusOf(v, in.Spec)
	}
	return &next
}

func entriesOf(table l4.Table) map[l4.Key]l4.Entry {
	entries := map[l4.Key]l4.Entry{}
	for i := range table {
		l := &table[i]
		for port := l.Port; port <= l.Last(); port++ {
			e := l4.Entry{Backend: l.Backend, AcceptProxy: l.AcceptProxy, SendProxy: l.SendProxy}
			if l.Last() > l.Port {
				e.Backend.Port = port
			}
			hosts := l.Hosts
			if len(hosts) == 0 {
				hosts = []string{""}
			}
			for _, host := range hosts {
				entries[l4.Key{Protocol: l.Protocol, Port: port, Host: host}] = e
			}
		}
	}
	return entries
}

func sliceOf(v Verdict) map[string]crdv1.SliceRule {
	rules := map[string]crdv1.SliceRule{}
	for _, r := range v.Rules {
		rules[r.Name] = crdv1.SliceRule{Port: r.Port, EndPort: r.EndPort, Protocol: crdv1.Protocol(r.Protocol), Reason: r.Reason, Message: r.Message}
	}
	return rules
}

func statusOf(v Verdict, spec *crdv1.TCPIngressSpec) []crdv1.RuleStatus {
	var rules []crdv1.RuleStatus
	for i, r := range v.Rules {
		accepted := metav1.ConditionTrue
		if r.Reason != "" {
			accepted = metav1.ConditionFalse
		}
		s := crdv1.RuleStatus{
			Name: r.Name, Port: r.Port, EndPort: r.EndPort, Protocol: crdv1.Protocol(r.Protocol),
			ServiceName: spec.Rules[i].Backend.Service.Name,
			Conditions: []metav1.Condition{
				{Type: crdv1.ConditionAccepted, Status: accepted},
				{Type: crdv1.ConditionResolvedRefs, Status: metav1.ConditionTrue},
			},
		}
		if p := spec.Rules[i].Backend.Service.Port; p != nil {
			s.PortName, s.BackendPort = p.Name, p.Number
			if p.Name != "" {
				s.BackendPort = 4242
			}
		}
		rules = append(rules, s)
	}
	return rules
}

// taken lets somebody else's ports of the Service have 8080.
func taken(w *World) *World {
	for _, p := range []l4.Protocol{l4.TCP, l4.UDP} {
		w.Observed.Taken[l4.Key{Protocol: p, Port: 8080}] = "Port 8080 of Service ingress-nginx/lb is not ours; remove it there, or choose another port."
	}
	return w
}
