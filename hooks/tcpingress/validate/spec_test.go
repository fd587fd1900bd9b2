package validate

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

func objectTexts(rules ...*crdv1.Rule) []string {
	obj := &crdv1.TCPIngress{}
	for _, r := range rules {
		obj.Spec.Rules = append(obj.Spec.Rules, *r)
	}
	return texts(TCPIngress(obj))
}

func onHost(name string, accept bool, hosts ...string) *crdv1.Rule {
	return redis(func(r *crdv1.Rule) {
		r.Name, r.Port, r.Hosts = name, 8443, hosts
		r.ProxyProtocol = &crdv1.ProxyProtocol{Accept: accept}
	})
}

func onRange(name string, from, to int32) *crdv1.Rule {
	return redis(func(r *crdv1.Rule) { r.Name, r.Port, r.EndPort, r.Backend.Service.Port = name, from, to, nil })
}

func TestTCPIngressComparesItsRules(t *testing.T) {
	named := func(name string, port int32) *crdv1.Rule {
		return redis(func(r *crdv1.Rule) { r.Name, r.Port = name, port })
	}
	dns := redis(func(r *crdv1.Rule) { r.Port, r.Protocol = 6379, crdv1.ProtocolUDP })
	tests := map[string]struct {
		rules []*crdv1.Rule
		want  []string
	}{
		"one number for TCP and for UDP is right": {[]*crdv1.Rule{redis(), dns}, nil},
		"no rules": {nil, []string{"spec.rules: Required value: a TCPIngress has at least one rule"}},
		"two names that are the same": {
			[]*crdv1.Rule{named("a", 1), named("b", 2), named("a", 3)},
			[]string{`spec.rules[2].name: Invalid value: "a": rules[0] has this name already; give this rule a name of its own`},
		},
		"two rules without name on one port are reported for the port": {
			[]*crdv1.Rule{redis(), redis()},
			[]string{"spec.rules[1].port: Invalid value: 6379: rules[0] has this port already; only rules with different hosts can share one"},
		},
		"two rules without name that may share the port need names": {
			[]*crdv1.Rule{onHost("", false, "a.example.com"), onHost("", false, "b.example.com")},
			[]string{`spec.rules[1].name: Invalid value: "tcp-8443": rules[0] has this name already; give this rule a name of its own`},
		},
		"a port within a range of another rule": {
			[]*crdv1.Rule{onRange("pasv", 30000, 30100), named("one", 30100)},
			[]string{"spec.rules[1].port: Invalid value: 30100: rules[0] has this port already; only rules with different hosts can share one"},
		},
		"ranges that touch are right": {[]*crdv1.Rule{onRange("a", 30000, 30100), onRange("b", 30101, 30200)}, nil},
		"ranges that overlap": {
			[]*crdv1.Rule{onRange("a", 30100, 30200), onRange("b", 30000, 30100)},
			[]string{"spec.rules[1].port: Invalid value: 30000: rules[0] has this port already; only rules with different hosts can share one"},
		},
		"a port with hosts beside one without": {
			[]*crdv1.Rule{onHost("a", false, "a.example.com"), named("b", 8443)},
			[]string{"spec.rules[1].port: Invalid value: 8443: rules[0] has this port already; only rules with different hosts can share one"},
		},
		"hosts that differ are right": {
			[]*crdv1.Rule{onHost("a", true, "a.example.com", "*.example.com"), onHost("b", true, "b.example.com", "*.b.example.com")}, nil,
		},
		"a host that is there twice": {
			[]*crdv1.Rule{onHost("a", false, "a.example.com"), onHost("b", false, "b.example.com", "a.example.com")},
			[]string{`spec.rules[1].hosts[1]: Invalid value: "a.example.com": rules[0] has this host on the same port already`},
		},
		"hosts that disagree on the port's PROXY": {
			[]*crdv1.Rule{onHost("a", false, "a.example.com"), onHost("b", true, "b.example.com")},
			[]string{"spec.rules[1].proxyProtocol.accept: Invalid value: true: rules[0] shares the port and has another value; accept belongs to the port, so all its rules must agree"},
		},
		"two rules of the pool do not collide": {[]*crdv1.Rule{named("a", 0), named("b", 0)}, nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, append([]string{}, tc.want...), objectTexts(tc.rules...))
		})
	}
}

func TestRulesBeyondThe64thAndRangesBeyondThe8thAreRefusedAlone(t *testing.T) {
	spec := &crdv1.TCPIngressSpec{}
	for i := range int32(66) {
		r := redis(func(r *crdv1.Rule) { r.Port = 100 + i })
		if i >= 50 && i < 59 {
			r.EndPort, r.Backend.Service.Port = r.Port, nil
		}
		spec.Rules = append(spec.Rules, *r)
	}
	errs := Spec(spec, field.NewPath("spec"))
	require.Len(t, errs.Rules, 66)
	assert.Empty(t, errs.Object)
	assert.Equal(t, []string{
		"spec.rules[58].endPort: Forbidden: a TCPIngress has at most 8 rules with endPort; move this one to another TCPIngress",
		"spec.rules[64]: Forbidden: a TCPIngress has at most 64 rules; move this one to another TCPIngress",
		"spec.rules[65]: Forbidden: a TCPIngress has at most 64 rules; move this one to another TCPIngress",
	}, texts(errs.All()))
}

func TestSpecLeavesOverlapsToTheBook(t *testing.T) {
	spec := &crdv1.TCPIngressSpec{IngressClassName: "Nginx", Rules: []crdv1.Rule{*redis(), *redis()}}
	errs := Spec(spec, field.NewPath("spec"))
	assert.Equal(t, []string{`spec.ingressClassName: Invalid value: "Nginx": ` + classNameText}, texts(errs.Object))
	assert.Empty(t, errs.Rules[0].Own)
	assert.Nil(t, errs.Rules[0].SameName)
	assert.Empty(t, errs.Rules[1].Own)
	assert.NotNil(t, errs.Rules[1].SameName)
}
