package resolve

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

func TestCheckRefusesByReason(t *testing.T) {
	t.Parallel()
	noHosts := func(l *l4.Listener) string {
		if len(l.Hosts) > 0 {
			return "hosts"
		}
		return ""
	}
	tests := map[string]struct {
		rules string
		dp    fake
		spec  func(*World)
		want  string
	}{
		"what is fine is accepted":                        {"80/TCP -> x:1", fake{}, nil, ""},
		"the lowest and highest ports are fine":           {"1/TCP -> x:1; 65535/TCP -> x:65535", fake{}, nil, ""},
		"a privileged port is fine":                       {"389/TCP -> ldap:389", fake{}, nil, ""},
		"a port above all":                                {"65536/TCP -> x:1", fake{}, nil, crdv1.ReasonInvalidRule},
		"a port below all":                                {"a=-1/TCP -> x:1", fake{}, nil, crdv1.ReasonInvalidRule},
		"a backend port above all":                        {"80/TCP -> x:65536", fake{}, nil, crdv1.ReasonInvalidRule},
		"an unknown protocol":                             {"80/SCTP -> x:1", fake{}, nil, crdv1.ReasonInvalidRule},
		"a Service of another namespace":                  {"80/TCP -> b/x:1", fake{}, nil, crdv1.ReasonInvalidRule},
		"PROXY with UDP":                                  {"80/UDP -> x:1 +accept +send", fake{}, nil, crdv1.ReasonInvalidRule},
		"what the provider cannot do":                     {"80/TCP a.org -> x:1", fake{unsupported: noHosts}, nil, crdv1.ReasonUnsupportedByProvider},
		"a protocol that is off":                          {"80/UDP -> x:1", fake{disabled: l4.UDP}, nil, crdv1.ReasonProtocolDisabled},
		"a namespace that is not admitted":                {"80/TCP -> x:1", fake{}, admits("b"), crdv1.ReasonNamespaceNotAllowed},
		"a namespace that is admitted":                    {"80/TCP -> x:1", fake{}, admits("a"), ""},
		"a namespace whose labels are not known":          {"80/TCP -> x:1", fake{}, unlabelled, crdv1.ReasonNamespaceNotAllowed},
		"a selector that cannot be read admits nobody":    {"80/TCP -> x:1", fake{}, unreadable, crdv1.ReasonNamespaceNotAllowed},
		"a reserved port":                                 {"10254/TCP -> x:1", fake{reserved: []int32{10254}}, nil, crdv1.ReasonPortReserved},
		"a reserved port within a range":                  {"10250-10260/TCP -> x", fake{reserved: []int32{10254}}, nil, crdv1.ReasonPortReserved},
		"a port that is not allowed":                      {"80/TCP -> x:1", fake{}, allows(1024, 2000), crdv1.ReasonPortNotAllowed},
		"a range that leaves what is allowed":             {"1990-2001/TCP -> x", fake{}, allows(1024, 2000), crdv1.ReasonPortNotAllowed},
		"a range over two allowed ranges that touch":      {"1990-2001/TCP -> x", fake{}, allows(1024, 2000, 2001, 2010), ""},
		"a range over two allowed ranges with a gap":      {"1990-2005/TCP -> x", fake{}, allows(1024, 2000, 2002, 2010), crdv1.ReasonPortNotAllowed},
		"a port that is granted by name":                  {"80/TCP -> x:1", fake{}, grants(crdv1.PortGrant{Namespaces: []string{"a"}, Ports: portSet{{From: 80, To: 80}}}), ""},
		"a port that is granted by label":                 {"80/TCP -> x:1", fake{}, grants(crdv1.PortGrant{NamespaceSelector: label("team", "a"), Ports: portSet{{From: 80, To: 80}}}), ""},
		"a port that is granted to others":                {"80/TCP -> x:1", fake{}, grants(crdv1.PortGrant{Namespaces: []string{"b"}, Ports: portSet{{From: 80, To: 80}}}), crdv1.ReasonPortNotGranted},
		"a port beside those granted":                     {"81/TCP -> x:1", fake{}, grants(crdv1.PortGrant{Namespaces: []string{"a"}, Ports: portSet{{From: 80, To: 80}}}), crdv1.ReasonPortNotGranted},
		"a grant to nobody":                               {"80/TCP -> x:1", fake{}, grants(crdv1.PortGrant{Ports: portSet{{From: 80, To: 80}}}), crdv1.ReasonPortNotGranted},
		"of an invalid rule on a reserved port the first": {"a=80/TCP -> X:1", fake{reserved: []int32{80}}, nil, crdv1.ReasonInvalidRule},
		"of support and protocol the first":               {"80/TCP a.org -> x:1", fake{unsupported: noHosts, disabled: l4.TCP}, nil, crdv1.ReasonUnsupportedByProvider},
		"of protocol and namespace the first":             {"80/TCP -> x:1", fake{disabled: l4.TCP}, admits("b"), crdv1.ReasonProtocolDisabled},
		"of namespace and reserved the first":             {"80/TCP -> x:1", fake{reserved: []int32{80}}, admits("b"), crdv1.ReasonNamespaceNotAllowed},
		"of reserved and allowed the first":               {"80/TCP -> x:1", fake{reserved: []int32{80}}, allows(1024, 2000), crdv1.ReasonPortReserved},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			in := ti("a/x", 1, "79/TCP -> x:1")
			in.Spec.Rules = nil
			for text := range strings.SplitSeq(tc.rules, ";") {
				in.Spec.Rules = append(in.Spec.Rules, rule(text))
			}
			w := newWorld(in)
			w.Namespaces = map[string]map[string]string{"a": {"team": "a"}}
			if tc.spec != nil {
				tc.spec(w)
			}
			out := Resolve(w, &tc.dp)
			for _, r := range out.Verdicts["a/x"].Rules {
				assert.Equal(t, tc.want, r.Reason, r.Message)
				assert.Equal(t, tc.want == "", r.Want != nil)
			}
			if tc.want != "" {
				assert.Empty(t, out.Listeners)
			}
		})
	}
}

func label(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

func admits(team string) func(*World) {
	return func(w *World) {
		w.Class.Spec.AllowedNamespaces = &crdv1.AllowedNamespaces{From: crdv1.NamespacesFromSelector, Selector: label("team", team)}
	}
}

// unlabelled selects every namespace, but knows none.
func unlabelled(w *World) {
	w.Namespaces = map[string]map[string]string{}
	w.Class.Spec.AllowedNamespaces = &crdv1.AllowedNamespaces{From: crdv1.NamespacesFromSelector, Selector: &metav1.LabelSelector{}}
}

// unreadable has an operator that does not exist.
func unreadable(w *World) {
	w.Class.Spec.AllowedNamespaces = &crdv1.AllowedNamespaces{Selector: &metav1.LabelSelector{
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "Like", Values: []string{"a"}}},
	}}
}

func allows(bounds ...int32) func(*World) {
	return func(w *World) {
		for i := 0; i < len(bounds); i += 2 {
			w.ports().Allowed = append(w.ports().Allowed, crdv1.PortRange{From: bounds[i], To: bounds[i+1]})
		}
	}
}

func grants(g crdv1.PortGrant) func(*World) {
	return func(w *World) { w.ports().Grants = []crdv1.PortGrant{g} }
}

func TestRulesOfOneObject(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rules string
		want  map[string]string
	}{
		"the second of a name is a duplicate": {
			"db=1/TCP -> x:1; db=2/TCP -> x:1; 3/TCP -> x:1",
			map[string]string{"a/x db": "1/TCP", "a/x rules[1]": "2/TCP DuplicateRule", "a/x tcp-3": "3/TCP"},
		},
		"an invalid rule does not take the name of a valid one": {
			"db=70000/TCP -> x:1; db=2/TCP -> x:1",
			map[string]string{"a/x rules[0]": "0/TCP InvalidRule", "a/x db": "2/TCP"},
		},
		"an invalid rule keeps its name": {
			"db=70000/TCP -> x:1; 2/TCP -> x:1",
			map[string]string{"a/x db": "0/TCP InvalidRule", "a/x tcp-2": "2/TCP"},
		},
		"an invalid name does not get into the status": {
			"A_b=1/TCP -> x:1; 70000/TCP -> x:1; 5/SCTP -> x:1",
			map[string]string{"a/x rules[0]": "1/TCP InvalidRule", "a/x rules[1]": "0/TCP InvalidRule", "a/x sctp-5": "5/ InvalidRule"},
		},
		"a name of the form of a default one is invalid": {
			"tcp-2=1/TCP -> x:1; 2/TCP -> x:1",
			map[string]string{"a/x rules[0]": "1/TCP InvalidRule", "a/x tcp-2": "2/TCP"},
		},
		"the second rule on a port is a duplicate": {
			"a=1/TCP -> x:1; b=1/TCP -> y:1; c=1/UDP -> x:1",
			map[string]string{"a/x a": "1/TCP", "a/x b": "1/TCP DuplicateRule", "a/x c": "1/UDP"},
		},
		"a duplicate blocks nobody": {
			"a=1-3/TCP -> x; b=3-5/TCP -> x; c=5/TCP -> x:1",
			map[string]string{"a/x a": "1-3/TCP", "a/x b": "3-5/TCP DuplicateRule", "a/x c": "5/TCP"},
		},
		"hosts that differ are no duplicates": {
			"a=1/TCP a.org,b.org -> x:1; b=1/TCP c.org -> x:1; c=1/TCP b.org -> x:1; d=1/TCP -> x:1",
			map[string]string{
				"a/x a": "1/TCP", "a/x b": "1/TCP", "a/x c": "1/TCP DuplicateRule", "a/x d": "1/TCP DuplicateRule",
			},
		},
		"a wildcard beside a name that it covers is no duplicate": {
			"a=1/TCP *.org -> x:1; b=1/TCP a.org -> x:1",
			map[string]string{"a/x a": "1/TCP", "a/x b": "1/TCP"},
		},
		"a range of one port is a port": {
			"a=7-7/TCP -> x",
			map[string]string{"a/x a": "7/TCP"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, verdicts(Resolve(newWorld(ti("a/x", 1, tc.rules)), &fake{})))
		})
	}
}

func TestRulesBeyondTheLimitAreInvalid(t *testing.T) {
	t.Parallel()
	in := ti("a/x", 1, "1/TCP -> x:1")
	for i := range int32(70) {
		in.Spec.Rules = append(in.Spec.Rules, crdv1.Rule{Port: 2 + i, Backend: in.Spec.Rules[0].Backend})
	}
	out := Resolve(newWorld(in), &fake{})
	rules := out.Verdicts["a/x"].Rules
	assert.Len(t, rules, 71)
	for i, r := range rules {
		assert.Equal(t, i < 64, r.Accepted(), r.Name)
	}
	assert.Equal(t, crdv1.ReasonInvalidRule, rules[64].Reason)
	assert.Len(t, out.Listeners, 64)
}

// 20 good TCPIngresses and one on a port of nginx itself.
func TestABadObjectStopsNobody(t *testing.T) {
	t.Parallel()
	w := newWorld(ti("bad/x", 0, "10254/TCP -> x:1"))
	for i := range 20 {
		w.Ingresses = append(w.Ingresses, crowd(20).Ingresses[i])
	}
	out := Resolve(w, &fake{reserved: []int32{10254}})
	assert.Len(t, out.Listeners, 20)
	assert.Equal(t, crdv1.ReasonPortReserved, verdict(t, out, "bad/x", "tcp-10254").Reason)
}

func TestPortSet(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		in       []crdv1.PortRange
		text     string
		from, to int32
		missing  int32
	}{
		"nothing":             {nil, "none", 5, 5, 5},
		"one port":            {portSet{{From: 5, To: 5}}, "5", 5, 5, 0},
		"overlap and touch":   {portSet{{From: 8, To: 9}, {From: 1, To: 5}, {From: 3, To: 7}}, "1-9", 1, 9, 0},
		"a gap":               {portSet{{From: 8, To: 9}, {From: 1, To: 5}}, "1-5, 8-9", 4, 8, 6},
		"past the end":        {portSet{{From: 1, To: 5}}, "1-5", 4, 6, 6},
		"before the start":    {portSet{{From: 3, To: 5}}, "3-5", 2, 4, 2},
		"what no port can be": {portSet{{From: -4, To: 2}, {From: 65534, To: 70000}}, "1-2, 65534-65535", 65535, 65535, 0},
		"upside down":         {portSet{{From: 9, To: 2}}, "none", 3, 3, 3},
		"a list that is too long": {
			portSet{{From: 1, To: 1}, {From: 3, To: 3}, {From: 5, To: 5}, {From: 7, To: 7}, {From: 9, To: 9}, {From: 11, To: 11}, {From: 13, To: 13}, {From: 15, To: 15}, {From: 17, To: 17}, {From: 19, To: 19}},
			"1, 3, 5, 7, 9, 11, 13, 15, 2 more ranges", 3, 4, 4,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			set := newPortSet(tc.in)
			assert.Equal(t, tc.text, set.text())
			assert.Equal(t, tc.missing, set.missing(tc.from, tc.to))
		})
	}
}
