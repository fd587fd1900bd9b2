package resolve

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// unsupported records that the Services of an object's rules may not be used.
func unsupported(w *World, ingress string) *World {
	in := w.ingress(ingress)
	for i := range in.StatusRules {
		in.StatusRules[i].Conditions = append(in.StatusRules[i].Conditions[:1:1], metav1.Condition{
			Type: crdv1.ConditionResolvedRefs, Status: metav1.ConditionFalse, Reason: crdv1.ReasonUnsupportedService,
		})
	}
	return w
}

func missing(w *World, ingress string) *World {
	unsupported(w, ingress)
	for i := range w.ingress(ingress).StatusRules {
		w.ingress(ingress).StatusRules[i].Conditions[1].Reason = crdv1.ReasonServiceNotFound
	}
	return w
}

func provider(w *World, nginx *crdv1.Nginx) *World {
	w.Class.Spec.Provider, w.Class.Spec.Nginx = crdv1.ProviderNginx, nginx
	return w
}

func TestWhatIsRendered(t *testing.T) {
	t.Parallel()
	one := func(rules string) *World { return newWorld(ti("a/x", 1, rules)) }
	pending, withdrawn := []string(nil), []string{"withdrawn"}
	tests := map[string]struct {
		world *World
		want  []string
	}{
		"a Service that was not judged is not rendered": {one("1/TCP -> x:1"), pending},
		"a Service that was judged is rendered": {
			one("1/TCP -> x:1").status("a/x", "tcp-1", "1/TCP", "x", 1), []string{"1/TCP a/x:1"},
		},
		"a Service that another class judged is rendered": {
			ofClass(one("1/TCP -> x:1").status("a/x", "tcp-1", "1/TCP", "x", 1), "a/x", "other"), []string{"1/TCP a/x:1"},
		},
		"a Service that is missing is rendered": {
			missing(one("1/TCP -> x:1").status("a/x", "tcp-1", "1/TCP", "x", 1), "a/x"), []string{"1/TCP a/x:1"},
		},
		"a Service that another rule was judged for is rendered": {
			one("2/TCP -> x:1").status("a/x", "tcp-1", "1/TCP", "x", 1).entry("1/TCP", "a/x:1"), []string{"2/TCP a/x:1"},
		},
		"a Service that another rule may not use is withdrawn": {
			unsupported(one("2/TCP -> x:1").status("a/x", "tcp-1", "1/TCP", "x", 1).entry("1/TCP", "a/x:1"), "a/x"), withdrawn,
		},
		"another name of a port of a Service that another rule was judged for is not rendered": {
			one("2/TCP -> x:new").status("a/x", "tcp-1", "1/TCP", "x:old", 1).entry("1/TCP", "a/x:old"), pending,
		},
		"another number of the same Service is rendered": {
			one("1/TCP -> x:2").status("a/x", "tcp-1", "1/TCP", "x", 1).entry("1/TCP", "a/x:1"), []string{"1/TCP a/x:2"},
		},
		"a Service that may not be used is withdrawn": {
			unsupported(one("1/TCP -> x:1").status("a/x", "tcp-1", "1/TCP", "x", 1).entry("1/TCP", "a/x:1"), "a/x"), withdrawn,
		},
		"an ExternalName that the class allows is rendered": {
			provider(unsupported(one("1/TCP -> x:1").status("a/x", "tcp-1", "1/TCP", "x", 1), "a/x"), &crdv1.Nginx{AllowExternalName: true}),
			[]string{"1/TCP a/x:1"},
		},
		"an ExternalName that the class does not allow is withdrawn": {
			provider(unsupported(one("1/TCP -> x:1").status("a/x", "tcp-1", "1/TCP", "x", 1), "a/x"), &crdv1.Nginx{}), withdrawn,
		},
		"an edited backend waits with the observed one": {
			one("1/TCP -> new:2").status("a/x", "tcp-1", "1/TCP", "old", 1).entry("1/TCP", "a/old:1"), []string{"1/TCP a/old:1"},
		},
		"an edited name of a port waits with the observed one": {
			one("1/TCP -> x:new").status("a/x", "tcp-1", "1/TCP", "x:old", 1).entry("1/TCP", "a/x:old"), []string{"1/TCP a/x:old"},
		},
		"an edited backend does not wait with one that may not be used": {
			unsupported(one("1/TCP -> new:2").status("a/x", "tcp-1", "1/TCP", "old", 1).entry("1/TCP", "a/old:1"), "a/x"), pending,
		},
		"an edited backend does not wait with one of another namespace": {
			one("1/TCP -> new:2").book("1/TCP", "a/x/tcp-1").entry("1/TCP", "b/old:1"), pending,
		},
		"a newcomer does not wait with what somebody left": {one("1/TCP -> new:2").entry("1/TCP", "a/left:1"), pending},
		"what is spoken to a backend waits with the backend": {
			one("1/TCP -> new:2 +accept +send").status("a/x", "tcp-1", "1/TCP", "old", 1).entry("1/TCP", "a/old:1"),
			[]string{"1/TCP a/old:1 accept"},
		},
		"a range waits as a range": {
			one("1-3/TCP -> new").book("1/TCP", "a/x/r").book("2/TCP", "a/x/r").book("3/TCP", "a/x/r").
				entry("1/TCP", "a/old:1").entry("2/TCP", "a/old:2").entry("3/TCP", "a/old:3"),
			[]string{"1-3/TCP a/old:0"},
		},
		"a range that is observed as a range waits as a range": {
			one("1-2/TCP -> new").book("1/TCP", "a/x/r").book("2/TCP", "a/x/r").entry("1/TCP", "a/old:0").entry("2/TCP", "a/old:0"),
			[]string{"1-2/TCP a/old:0"},
		},
		"a range that grew waits with the ports that it had": {
			one("1-5/TCP -> new").book("2/TCP", "a/x/r").book("3/TCP", "a/x/r").entry("2/TCP", "a/old:2").entry("3/TCP", "a/old:3"),
			[]string{"2-3/TCP a/old:0"},
		},
		"a port that became a range waits as the port": {
			one("1-5/TCP -> new").book("1/TCP", "a/x/r").entry("1/TCP", "a/old:80"), []string{"1/TCP a/old:80"},
		},
		"hosts wait together where they lead to one backend": {
			one("1/TCP a.org,b.org,c.org -> new:1").book("1/TCP", HolderHosts).book("1/TCP/a.org", "a/x/r").book("1/TCP/b.org", "a/x/r").
				entry("1/TCP/a.org", "a/old:1").entry("1/TCP/b.org", "a/old:1"),
			[]string{"1/TCP [a.org b.org] a/old:1"},
		},
		"hosts that become the whole port wait where they lead to one backend": {
			one("1/TCP -> new:1").book("1/TCP/a.org", "a/x/r").book("1/TCP/b.org", "a/x/r").
				entry("1/TCP/a.org", "a/old:1").entry("1/TCP/b.org", "a/old:1"),
			[]string{"1/TCP a/old:1"},
		},
		"hosts that become the whole port wait for nothing where they lead to two backends": {
			one("1/TCP -> new:1").book("1/TCP/a.org", "a/x/r").book("1/TCP/b.org", "a/x/r").
				entry("1/TCP/a.org", "a/old:1").entry("1/TCP/b.org", "a/older:1"),
			pending,
		},
		"ingress-nginx gets names of ports": {
			one("1/TCP -> x:db").status("a/x", "tcp-1", "1/TCP", "x:db", 5432), []string{"1/TCP a/x:db"},
		},
		"provider Nginx gets the numbers behind them": {
			provider(one("1/TCP -> x:db").status("a/x", "tcp-1", "1/TCP", "x:db", 5432), nil), []string{"1/TCP a/x:5432"},
		},
		"provider Nginx waits for the number": {
			provider(one("1/TCP -> x:db").status("a/x", "tcp-1", "1/TCP", "x:db", 0), nil), pending,
		},
		"provider Nginx waits for the number with the one it has": {
			provider(one("1/TCP -> x:db").status("a/x", "tcp-1", "1/TCP", "x:db", 0), nil).book("1/TCP", "a/x/tcp-1").entry("1/TCP", "a/x:5432"),
			[]string{"1/TCP a/x:5432"},
		},
		"a rule that is refused is not rendered": {
			newWorld(ti("a/x", 1, "1/TCP -> x:1"), ti("b/x", 0, "1/TCP -> x:1")).status("a/x", "tcp-1", "2/TCP", "x", 1), nil,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := Resolve(tc.world, &fake{})
			r := out.Verdicts["a/x"].Rules[0]
			var got []string
			if r.Withdrawn {
				got = append(got, "withdrawn")
			}
			for i := range out.Table {
				got = append(got, listenerText(&out.Table[i]))
				assert.Equal(t, r.Render, &out.Table[i])
			}
			assert.Equal(t, tc.want, got)
			assert.Equal(t, r.Accepted(), r.Want != nil)
			assert.Equal(t, r.Accepted(), books(out, "a/x/"+r.Name), "an accepted claim is booked")
		})
	}
}

func listenerText(l *l4.Listener) string {
	v := RuleVerdict{Port: l.Port, EndPort: l.EndPort, Protocol: l.Protocol}
	text := portOf(&v)
	if len(l.Hosts) > 0 {
		text += fmt.Sprintf(" %v", l.Hosts)
	}
	port := l.Backend.PortName
	if port == "" {
		port = fmt.Sprint(l.Backend.Port)
	}
	text += fmt.Sprintf(" %s/%s:%s", l.Backend.Namespace, l.Backend.Service, port)
	if l.AcceptProxy {
		text += " accept"
	}
	if l.SendProxy != "" {
		text += " send"
	}
	return text
}

// books tells whether the book has a holder.
func books(out Outcome, holder string) bool {
	for _, h := range out.Listeners {
		if h == holder {
			return true
		}
	}
	return slices.ContainsFunc(out.Ranges, func(r crdv1.ListenerRange) bool { return r.Holder == holder })
}

// A rule was renamed, so that its Service counts as not judged: what is observed
// of it stays, and is complete only if it is all that the rule says.
func TestCompleteIsAllThatTheRuleSays(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		rules    string
		complete bool
	}{
		"the same port":    {"new=1/TCP -> x:1", true},
		"a longer range":   {"new=2-4/TCP -> y", false},
		"the same range":   {"new=2-3/TCP -> y", true},
		"another number":   {"new=1/TCP -> x:2", false},
		"one host more":    {"new=5/TCP a.org,b.org -> x:1", false},
		"the same host":    {"new=5/TCP a.org -> x:1", true},
		"nothing observed": {"new=9/TCP -> x:1", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(ti("a/x", 1, tc.rules)).entry("1/TCP", "a/x:1").entry("2/TCP", "a/y:2").entry("3/TCP", "a/y:3").entry("5/TCP/a.org", "a/x:1").
				book("1/TCP", "a/x/old")
			r := Resolve(w, &fake{}).Verdicts["a/x"].Rules[0]
			assert.True(t, r.Accepted())
			assert.Equal(t, tc.complete, r.Complete())
		})
	}
}
