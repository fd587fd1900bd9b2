package resolve

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// scene is a random world together with its data plane.
type scene struct {
	world *World
	dp    *fake
}

func drawScene(t *rapid.T) scene {
	s := scene{world: newWorld(), dp: &fake{reserved: []int32{14}}}
	if rapid.IntRange(0, 3).Draw(t, "limited") == 0 {
		s.dp.limit = rapid.IntRange(1, 12).Draw(t, "limit")
	}
	if rapid.IntRange(0, 3).Draw(t, "small") == 0 {
		s.dp.bytes = rapid.IntRange(30, 400).Draw(t, "bytes")
	}
	drawPorts(t, s.world)
	for i := range rapid.IntRange(1, 10).Draw(t, "ingresses") {
		s.world.Ingresses = append(s.world.Ingresses, drawIngress(t, fmt.Sprintf("i%d", i)))
	}
	return s
}

func drawPorts(t *rapid.T, w *World) {
	p := w.ports()
	if rapid.Bool().Draw(t, "pool") {
		p.Pool = &crdv1.PortRange{From: 5, To: int32(rapid.IntRange(5, 16).Draw(t, "pool end"))}
	}
	if rapid.IntRange(0, 3).Draw(t, "quota") == 0 {
		quota := int32(rapid.IntRange(0, 6).Draw(t, "per namespace"))
		p.MaxPerNamespace = &quota
	}
	if rapid.IntRange(0, 4).Draw(t, "grants") == 0 {
		p.Grants = []crdv1.PortGrant{
			{Namespaces: []string{"a", "b"}, Ports: []crdv1.PortRange{{From: 1, To: 9}}},
			{Namespaces: []string{"b", "c"}, Ports: []crdv1.PortRange{{From: 8, To: 30}}},
		}
	}
	if rapid.IntRange(0, 4).Draw(t, "a taken port") == 0 {
		w.Observed.Taken[l4.Key{Protocol: l4.TCP, Port: 7}] = "Port 7 is not ours; remove it there, or choose another port."
	}
}

func drawIngress(t *rapid.T, name string) Ingress {
	in := Ingress{
		Namespace: rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "namespace"), Name: name,
		Created: at(rapid.IntRange(0, 3).Draw(t, "age")), Generation: 1,
		Spec: &crdv1.TCPIngressSpec{IngressClassName: "nginx"},
	}
	for range rapid.IntRange(1, 4).Draw(t, "rules") {
		in.Spec.Rules = append(in.Spec.Rules, drawRule(t))
	}
	return in
}

func drawRule(t *rapid.T) crdv1.Rule {
	r := crdv1.Rule{
		Name:     rapid.SampledFrom([]string{"", "x", "y", "z", "w"}).Draw(t, "name"),
		Port:     int32(rapid.IntRange(1, 16).Draw(t, "port")),
		Protocol: rapid.SampledFrom([]crdv1.Protocol{"", "TCP", "TCP", "UDP"}).Draw(t, "protocol"),
	}
	r.Backend.Service.Name = rapid.SampledFrom([]string{"s", "longer-service"}).Draw(t, "service")
	r.Backend.Service.Port = rapid.SampledFrom([]*crdv1.BackendPort{{Number: 80}, {Number: 81}, {Name: "http"}}).Draw(t, "backend port")
	if rapid.IntRange(0, 3).Draw(t, "accepts") == 0 && r.Protocol != "UDP" {
		r.ProxyProtocol = &crdv1.ProxyProtocol{Accept: true}
	}
	switch rapid.IntRange(0, 7).Draw(t, "kind") {
	case 0, 1:
		r.Port, r.Name = 0, "p"+r.Name
	case 2:
		r.EndPort, r.Backend.Service.Port = r.Port+int32(rapid.IntRange(0, 6).Draw(t, "size")), nil
	case 3, 4:
		r.Protocol = ""
		r.Hosts = rapid.SliceOfNDistinct(rapid.SampledFrom([]string{"a.x.org", "b.x.org", "*.x.org", "c.org"}), 1, 2, rapid.ID).Draw(t, "hosts")
	case 5:
		r.Port = rapid.SampledFrom([]int32{-1, 0, 14, 70_000}).Draw(t, "bad port")
	}
	return r
}

// settled makes a scene whose outcome is written everywhere: observed, judged.
func settled(s scene) (scene, Outcome) {
	out := Resolve(s.world, s.dp)
	for range 2 {
		s.world = advance(s.world, out)
		out = Resolve(s.world, s.dp)
	}
	return s, out
}

func requireSame(t *rapid.T, want, got Outcome) {
	t.Helper()
	require.Empty(t, cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.EquateComparable()))
}

func TestPropertyOrderOfInputDoesNotMatter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		if rapid.Bool().Draw(t, "settled") {
			s, _ = settled(s)
		}
		want := Resolve(s.world, s.dp)
		shuffled := *s.world
		shuffled.Ingresses = rapid.Permutation(s.world.Ingresses).Draw(t, "order")
		shuffled.Classes = rapid.Permutation(s.world.Classes).Draw(t, "order of classes")
		shuffled.Class.Ranges = rapid.Permutation(s.world.Class.Ranges).Draw(t, "order of ranges")
		requireSame(t, want, Resolve(&shuffled, s.dp))
	})
}

func TestPropertyTwoRoundsReachAFixpoint(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		first := Resolve(s.world, s.dp)
		s.world = advance(s.world, first)
		second := Resolve(s.world, s.dp)
		require.Equal(t, acceptedIn(first), acceptedIn(second), "what was accepted stays accepted")
		s.world = advance(s.world, second)
		requireSame(t, second, Resolve(s.world, s.dp))
	})
}

func TestPropertyIncumbentsNeverLoseToNewcomersOrEdits(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		older := s.world.Class
		if rapid.Bool().Draw(t, "started from something else") {
			older = advance(s.world, Resolve(s.world, s.dp)).Class
			for i := range s.world.Ingresses {
				if rapid.Bool().Draw(t, "edited before") {
					s.world.Ingresses[i].Spec = drawIngress(t, "").Spec
				}
			}
		}
		s, before := settled(s)
		next := *s.world
		current := loseBook(t, &next, &older)
		next.Ingresses = slices.Clone(next.Ingresses)
		touched := map[string]bool{}
		for i := range next.Ingresses {
			in := &next.Ingresses[i]
			if rapid.IntRange(0, 2).Draw(t, "edited") == 0 {
				in.Spec = drawIngress(t, "").Spec
				touched[in.Namespace+"/"+in.Name] = true
			}
		}
		for i := range rapid.IntRange(0, 4).Draw(t, "newcomers") {
			in := drawIngress(t, fmt.Sprintf("new%d", i))
			in.Created = at(rapid.IntRange(-5, 5).Draw(t, "age of the newcomer"))
			next.Ingresses = append(next.Ingresses, in)
		}
		after := acceptedIn(Resolve(&next, s.dp))
		for owner, what := range acceptedIn(before) {
			// Slices and statuses do not tell hosts. Without the book, two objects of one
			// namespace with one backend on one port cannot be told apart.
			if !touched[owner.Ingress()] && (current || strings.HasSuffix(what, "[]")) {
				require.Equal(t, what, after[owner], "%s lost what it held", owner)
			}
		}
	})
}

// loseBook makes the book in the class's status old, or lets it vanish, or leaves
// it current.
func loseBook(t *rapid.T, w *World, older *Class) (current bool) {
	switch rapid.IntRange(0, 2).Draw(t, "the book is") {
	case 0:
		w.Class.Listeners, w.Class.Ranges = nil, nil
	case 1:
		w.Class.Listeners, w.Class.Ranges = older.Listeners, older.Ranges
	default:
		current = true
	}
	w.Classes = []Class{w.Class}
	return current
}

// acceptedIn gives the ports and hosts of each accepted rule.
func acceptedIn(out Outcome) map[l4.Owner]string {
	got := map[l4.Owner]string{}
	for _, v := range out.Verdicts {
		for i := range v.Rules {
			if r := &v.Rules[i]; r.Accepted() {
				got[r.Want.Owner] = fmt.Sprint(portOf(r), r.Want.Hosts)
			}
		}
	}
	return got
}

func TestPropertyNoTwoListenersOverlap(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		if rapid.Bool().Draw(t, "settled") {
			s, _ = settled(s)
			edit(t, s.world)
		}
		out := Resolve(s.world, s.dp)
		seen := map[l4.Key]l4.Owner{}
		accepts := map[l4.Key]bool{}
		for i := range out.Table {
			for _, key := range keysOf(&out.Table[i]) {
				require.NotContains(t, seen, key)
				seen[key] = out.Table[i].Owner
				bare := l4.Key{Protocol: key.Protocol, Port: key.Port}
				if accept, ok := accepts[bare]; ok {
					require.Equal(t, accept, out.Table[i].AcceptProxy)
				}
				accepts[bare] = out.Table[i].AcceptProxy
			}
		}
		for key, owner := range seen {
			if key.Host != "" {
				require.NotContains(t, seen, l4.Key{Protocol: key.Protocol, Port: key.Port}, "%s shares a port held as a whole", owner)
			}
		}
	})
}

// edit changes some TCPIngresses of a settled world.
func edit(t *rapid.T, w *World) {
	w.Ingresses = slices.Clone(w.Ingresses)
	for i := range w.Ingresses {
		if rapid.Bool().Draw(t, "edited") {
			w.Ingresses[i].Spec = drawIngress(t, "").Spec
			w.Ingresses[i].Generation++
		}
	}
}

func keysOf(l *l4.Listener) []l4.Key {
	return slices.Collect(maps.Keys(entriesOf(l4.Table{*l})))
}

func TestPropertyBudgetsAreNeverExceeded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		if rapid.Bool().Draw(t, "settled") {
			s, _ = settled(s)
			edit(t, s.world)
		}
		out := Resolve(s.world, s.dp)
		open := map[l4.Key]bool{}
		held := map[string]map[l4.Key]bool{}
		bytes := map[string]int{}
		for _, v := range out.Verdicts {
			for i := range v.Rules {
				want := v.Rules[i].Want
				if want == nil {
					continue
				}
				for _, key := range keysOf(want) {
					key.Host = ""
					open[key] = true
					if held[want.Owner.Namespace] == nil {
						held[want.Owner.Namespace] = map[l4.Key]bool{}
					}
					held[want.Owner.Namespace][key] = true
				}
				for _, c := range s.dp.Charges(want) {
					bytes[c.Child] += c.Bytes
				}
			}
		}
		for _, p := range []l4.Protocol{l4.TCP, l4.UDP} {
			n := 0
			for key := range open {
				if key.Protocol == p {
					n++
				}
			}
			limit, _ := s.dp.MaxPorts(p)
			require.LessOrEqual(t, n, limit)
		}
		for _, left := range s.dp.Budgets() {
			require.LessOrEqual(t, bytes[left.Child], left.Bytes)
		}
		if quota := s.world.ports().MaxPerNamespace; quota != nil {
			for namespace := range held {
				require.LessOrEqual(t, len(held[namespace]), int(*quota))
			}
		}
	})
}

func TestPropertyABadObjectChangesNoOtherVerdict(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		if rapid.Bool().Draw(t, "settled") {
			s, _ = settled(s)
		}
		want := Resolve(s.world, s.dp)
		next := *s.world
		bad := drawIngress(t, "bad")
		bad.Created = at(-1)
		for i := range bad.Spec.Rules {
			spoil(t, &bad.Spec.Rules[i])
		}
		next.Ingresses = append(slices.Clone(next.Ingresses), bad)
		got := Resolve(&next, s.dp)
		require.Contains(t, got.Verdicts, bad.Namespace+"/bad")
		for _, r := range got.Verdicts[bad.Namespace+"/bad"].Rules {
			require.False(t, r.Accepted())
			require.NotEmpty(t, r.Message)
		}
		delete(got.Verdicts, bad.Namespace+"/bad")
		requireSame(t, want, got)
	})
}

// spoil makes a rule wrong by itself.
func spoil(t *rapid.T, r *crdv1.Rule) {
	switch rapid.IntRange(0, 4).Draw(t, "spoilt by") {
	case 0:
		r.Port, r.EndPort = 70_000, 0
	case 1:
		r.Backend.Service.Name = "other/mysql"
	case 2:
		r.Name = "tcp-1"
	case 3:
		r.Protocol = "SCTP"
	case 4:
		r.Port, r.EndPort = 14, 0
		r.Backend.Service.Port = &crdv1.BackendPort{Number: 80}
	}
}

// sentence is what a message is: a full sentence, or one that begins with the path
// of a field. A rule that has its port has none.
const sentence = `(?s)\A(([A-Z]|[0-9]+ of |spec\.).*\.)?\z`

func TestPropertyRulesKeepNamesApart(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := drawScene(t)
		for key, v := range Resolve(s.world, s.dp).Verdicts {
			names := map[string]bool{}
			for _, r := range v.Rules {
				require.NotEmpty(t, r.Name, key)
				require.False(t, names[r.Name], "two verdicts on %s of %s", r.Name, key)
				names[r.Name] = true
				require.Equal(t, r.Reason == "", r.Message == "")
				require.NotContains(t, r.Message, "0 of 0", "a refusal that nothing explains")
				require.Regexp(t, sentence, r.Message)
			}
		}
	})
}

func TestPropertyTheWorldIsNotChanged(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s, _ := settled(drawScene(t))
		edit(t, s.world)
		before := fmt.Sprintf("%+v", *s.world)
		Resolve(s.world, s.dp)
		require.Equal(t, before, fmt.Sprintf("%+v", *s.world))
	})
}
