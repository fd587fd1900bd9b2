package resolve

import (
	"testing"

	"github.com/stretchr/testify/assert"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// Who of two has port 5432 already. Each world has the older dev-a/x and the
// younger dev-b/x or dev-a/y, and evidence.
func TestResolveKeepsTheIncumbent(t *testing.T) {
	t.Parallel()
	strangers := func() *World {
		return newWorld(ti("dev-a/x", 1, "5432/TCP -> a:5432"), ti("dev-b/x", 2, "5432/TCP -> b:5432"))
	}
	neighbours := func() *World {
		return newWorld(ti("dev/x", 1, "5432/TCP -> pg:5432"), ti("dev/y", 2, "5432/TCP -> pg:5432"))
	}
	tests := map[string]struct {
		world  *World
		holder string
	}{
		"nobody, so the older gets it": {strangers(), "dev-a/x"},
		"the observed entry leads where the younger says": {
			strangers().entry("5432/TCP", "dev-b/b:5432"), "dev-b/x",
		},
		"the observed entry decides against the book": {
			strangers().entry("5432/TCP", "dev-b/b:5432").book("5432/TCP", "dev-a/x/tcp-5432"), "dev-b/x",
		},
		"the observed entry decides against a status": {
			strangers().entry("5432/TCP", "dev-b/b:5432").status("dev-a/x", "tcp-5432", "5432/TCP", "a", 5432), "dev-b/x",
		},
		"the entry of somebody who is gone decides nothing": {
			strangers().entry("5432/TCP", "dev-c/c:5432"), "dev-a/x",
		},
		"behind the entry of somebody who is gone the book decides": {
			strangers().entry("5432/TCP", "dev-c/c:5432").book("5432/TCP", "dev-b/x/tcp-5432"), "dev-b/x",
		},
		"behind the entry of somebody who is gone a slice decides": {
			strangers().entry("5432/TCP", "dev-c/c:5432").slice("dev-b/x", "tcp-5432", "5432/TCP", ""), "dev-b/x",
		},
		"without an entry the book decides": {
			strangers().book("5432/TCP", "dev-b/x/tcp-5432"), "dev-b/x",
		},
		"the name of the rule in the book does not matter": {
			strangers().book("5432/TCP", "dev-b/x/old-name"), "dev-b/x",
		},
		"without an entry a slice decides": {
			strangers().slice("dev-b/x", "tcp-5432", "5432/TCP", ""), "dev-b/x",
		},
		"a slice that waits for the children decides as well": {
			strangers().slice("dev-b/x", "tcp-5432", "5432/TCP", crdv1.ReasonPending), "dev-b/x",
		},
		"a slice that refuses names nobody": {
			strangers().slice("dev-b/x", "tcp-5432", "5432/TCP", crdv1.ReasonPortConflict), "dev-a/x",
		},
		"a slice of UDP says nothing of TCP": {
			strangers().slice("dev-b/x", "udp-5432", "5432/UDP", ""), "dev-a/x",
		},
		"a slice, locked as it is, decides against the book": {
			strangers().slice("dev-b/x", "tcp-5432", "5432/TCP", "").book("5432/TCP", "dev-a/x/tcp-5432"), "dev-b/x",
		},
		"without all that an own status decides": {
			strangers().status("dev-b/x", "tcp-5432", "5432/TCP", "b", 5432), "dev-b/x",
		},
		"of two own statuses the older": {
			strangers().status("dev-b/x", "tcp-5432", "5432/TCP", "b", 5432).
				status("dev-a/x", "tcp-5432", "5432/TCP", "a", 5432), "dev-a/x",
		},
		"the book decides against an own status": {
			strangers().status("dev-a/x", "tcp-5432", "5432/TCP", "a", 5432).
				book("5432/TCP", "dev-b/x/tcp-5432"), "dev-b/x",
		},
		"a status from another class says nothing": {
			ofClass(strangers().status("dev-b/x", "tcp-5432", "5432/TCP", "b", 5432), "dev-b/x", "internal"), "dev-a/x",
		},
		"an entry that fits both, and the older": {
			neighbours().entry("5432/TCP", "dev/pg:5432"), "dev/x",
		},
		"an entry that fits both, and a slice": {
			neighbours().entry("5432/TCP", "dev/pg:5432").slice("dev/y", "tcp-5432", "5432/TCP", ""), "dev/y",
		},
		"an entry that fits both, and the book": {
			neighbours().entry("5432/TCP", "dev/pg:5432").book("5432/TCP", "dev/y/tcp-5432"), "dev/y",
		},
		"an entry that fits both, and an own status": {
			neighbours().entry("5432/TCP", "dev/pg:5432").status("dev/y", "tcp-5432", "5432/TCP", "pg", 5432), "dev/y",
		},
		"an edited backend: the entry is what the status recorded": {
			newWorld(ti("dev/x", 1, "5432/TCP -> other:1"), ti("dev/y", 2, "5432/TCP -> new:5432")).
				entry("5432/TCP", "dev/pg:5432").status("dev/y", "tcp-5432", "5432/TCP", "pg", 5432), "dev/y",
		},
		"an edited backend by name: the entry is what the status recorded": {
			newWorld(ti("dev/x", 1, "5432/TCP -> other:1"), ti("dev/y", 2, "5432/TCP -> new:5432")).
				entry("5432/TCP", "dev/pg:db").status("dev/y", "tcp-5432", "5432/TCP", "pg:db", 5432), "dev/y",
		},
		"an edited backend: nothing fits, and the book names one of the namespace": {
			newWorld(ti("dev/x", 1, "5432/TCP -> other:1"), ti("dev/y", 2, "5432/TCP -> new:5432")).
				entry("5432/TCP", "dev/pg:5432").book("5432/TCP", "dev/y/tcp-5432"), "dev/y",
		},
		"an edited backend, already judged, against a neighbour who asks for the old one": {
			newWorld(ti("dev/x", 1, "5432/TCP -> pg:5432"), ti("dev/y", 2, "5432/TCP -> new:5432")).
				entry("5432/TCP", "dev/pg:5432").status("dev/y", "tcp-5432", "5432/TCP", "new", 5432).
				slice("dev/y", "tcp-5432", "5432/TCP", ""), "dev/y",
		},
		"a renamed rule keeps its port": {
			newWorld(ti("dev-a/x", 1, "5432/TCP -> a:1"), ti("dev-b/x", 2, "renamed=5432/TCP -> new:5432")).
				entry("5432/TCP", "dev-b/pg:5432").slice("dev-b/x", "old", "5432/TCP", ""), "dev-b/x",
		},
		"a name that stands for the recorded number fits": {
			newWorld(ti("dev/x", 1, "5432/TCP -> pg:1"), ti("dev/y", 2, "5432/TCP -> pg:db")).
				entry("5432/TCP", "dev/pg:5432").status("dev/y", "tcp-5432", "5432/TCP", "pg:db", 5432), "dev/y",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := Resolve(tc.world, &fake{})
			assert.Equal(t, map[string]string{"5432/TCP": tc.holder + "/" + ruleAt(out, tc.holder)}, out.Listeners)
		})
	}
}

// ruleAt is the name of the first rule.
func ruleAt(out Outcome, ingress string) string { return out.Verdicts[ingress].Rules[0].Name }

// ofClass changes which class wrote a TCPIngress's status.
func ofClass(w *World, ingress, class string) *World {
	w.ingress(ingress).StatusClass = class
	return w
}

func TestIncumbentsOfRangesAndHosts(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		world *World
		want  map[string]string
	}{
		"what the book has of an unknown protocol or of no port counts for nothing": {
			world: ranged(newWorld(ti("a/old", 1, "105/TCP -> x:1"), ti("b/ftp", 2, "100-110/TCP -> ftp")),
				crdv1.ListenerRange{From: 100, To: 110, Protocol: "SCTP", Holder: "b/ftp/tcp-100"},
				crdv1.ListenerRange{From: -5, To: 70_000, Protocol: "UDP", Holder: "b/ftp/tcp-100"}).
				book("0105/TCP", "b/ftp/x").book("105/TCP/", "b/ftp/x").book("105/TCP", "nonsense"),
			want: map[string]string{"a/old tcp-105": "105/TCP", "b/ftp tcp-100": "100-110/TCP PortConflict"},
		},
		"a range in the book is held port by port": {
			world: ranged(newWorld(ti("a/old", 1, "105/TCP -> x:1"), ti("b/ftp", 2, "100-110/TCP -> ftp")),
				crdv1.ListenerRange{From: 100, To: 110, Protocol: "TCP", Holder: "b/ftp/tcp-100"}),
			want: map[string]string{"a/old tcp-105": "105/TCP PortConflict", "b/ftp tcp-100": "100-110/TCP"},
		},
		"a range that grows comes before newcomers": {
			world: ranged(newWorld(ti("a/old", 1, "105/TCP -> x:1"), ti("b/ftp", 2, "100-110/TCP -> ftp")),
				crdv1.ListenerRange{From: 100, To: 103, Protocol: "TCP", Holder: "b/ftp/tcp-100"}),
			want: map[string]string{"a/old tcp-105": "105/TCP PortConflict", "b/ftp tcp-100": "100-110/TCP"},
		},
		"a range does not grow over a port that works": {
			world: ranged(newWorld(ti("a/new", 3, "105/TCP -> x:1"), ti("b/ftp", 2, "100-110/TCP -> ftp")),
				crdv1.ListenerRange{From: 100, To: 103, Protocol: "TCP", Holder: "b/ftp/tcp-100"}).
				book("105/TCP", "a/new/tcp-105"),
			want: map[string]string{"a/new tcp-105": "105/TCP", "b/ftp tcp-100": "100-110/TCP PortConflict"},
		},
		"a host is held by whom the entry of that host fits": {
			world: newWorld(ti("a/x", 1, "8443/TCP a.org -> x:1"), ti("b/x", 2, "8443/TCP a.org -> x:1")).
				entry("8443/TCP/a.org", "b/x:1"),
			want: map[string]string{"a/x tcp-8443": "8443/TCP HostConflict", "b/x tcp-8443": "8443/TCP"},
		},
		"a port with hosts is not taken as a whole, not even by one of its holders": {
			world: newWorld(ti("a/x", 1, "8443/TCP -> x:1"), ti("b/x", 2, "8443/TCP b.org -> x:1")).
				entry("8443/TCP/a.org", "a/x:1").entry("8443/TCP/b.org", "b/x:1").
				slice("a/x", "tcp-8443", "8443/TCP", "").slice("b/x", "tcp-8443", "8443/TCP", ""),
			want: map[string]string{"a/x tcp-8443": "8443/TCP PortConflict", "b/x tcp-8443": "8443/TCP"},
		},
		"who has all hosts of a port may have it as a whole, before an older one": {
			world: newWorld(ti("b/x", 1, "8443/TCP -> x:1"), ti("a/x", 2, "8443/TCP -> x:1")).
				entry("8443/TCP/a.org", "a/x:1").entry("8443/TCP/b.org", "a/x:2").book("8443/TCP", HolderHosts).
				book("8443/TCP/a.org", "a/x/one").book("8443/TCP/b.org", "a/x/two"),
			want: map[string]string{"a/x tcp-8443": "8443/TCP", "b/x tcp-8443": "8443/TCP PortConflict"},
		},
		"who has a port as a whole may share it by hosts, before an older one": {
			world: newWorld(ti("b/x", 1, "8443/TCP -> x:1"), ti("a/x", 2, "8443/TCP a.org -> x:1"), ti("c/x", 3, "8443/TCP c.org -> x:1")).
				entry("8443/TCP", "a/x:1"),
			want: map[string]string{
				"b/x tcp-8443": "8443/TCP PortConflict", "a/x tcp-8443": "8443/TCP", "c/x tcp-8443": "8443/TCP",
			},
		},
		"nobody turns on the PROXY protocol under his neighbours": {
			world: newWorld(ti("a/x", 1, "8443/TCP a.org -> x:1 +accept"), ti("b/x", 2, "8443/TCP b.org -> x:1")).
				entry("8443/TCP/a.org", "a/x:1").entry("8443/TCP/b.org", "b/x:1"),
			want: map[string]string{"a/x tcp-8443": "8443/TCP HostConflict", "b/x tcp-8443": "8443/TCP"},
		},
		"neighbours who agree turn on the PROXY protocol": {
			world: newWorld(ti("a/x", 1, "8443/TCP a.org -> x:1 +accept"), ti("b/x", 2, "8443/TCP b.org -> x:1 +accept")).
				entry("8443/TCP/a.org", "a/x:1").entry("8443/TCP/b.org", "b/x:1"),
			want: map[string]string{"a/x tcp-8443": "8443/TCP", "b/x tcp-8443": "8443/TCP"},
		},
		"a slice names a host, not its port: an older neighbour does not take it": {
			world: newWorld(ti("a/x", 1, "8443/TCP a.org,b.org -> x:1"), ti("a/y", 2, "8443/TCP b.org -> x:1")).
				entry("8443/TCP/a.org", "a/x:1").entry("8443/TCP/b.org", "a/x:1").
				slice("a/x", "tcp-8443", "8443/TCP/a.org", "").slice("a/y", "tcp-8443", "8443/TCP/b.org", ""),
			want: map[string]string{"a/x tcp-8443": "8443/TCP HostConflict", "a/y tcp-8443": "8443/TCP"},
		},
		"hosts in the book count while nothing is observed": {
			world: newWorld(ti("a/x", 1, "8443/TCP a.org -> x:1"), ti("b/x", 2, "8443/TCP a.org -> x:1")).
				book("8443/TCP", HolderHosts).book("8443/TCP/a.org", "b/x/tcp-8443"),
			want: map[string]string{"a/x tcp-8443": "8443/TCP HostConflict", "b/x tcp-8443": "8443/TCP"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, verdicts(Resolve(tc.world, &fake{})))
		})
	}
}

func ranged(w *World, ranges ...crdv1.ListenerRange) *World {
	w.Class.Ranges = append(w.Class.Ranges, ranges...)
	return w
}

func TestScoreTellsBackendsApart(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		want, got l4.Backend
		same      bool
	}{
		"the same number":                 {l4.Backend{Service: "a", Port: 1}, l4.Backend{Service: "a", Port: 1}, true},
		"another number":                  {l4.Backend{Service: "a", Port: 1}, l4.Backend{Service: "a", Port: 2}, false},
		"the same name":                   {l4.Backend{Service: "a", PortName: "p"}, l4.Backend{Service: "a", PortName: "p"}, true},
		"a name and a number":             {l4.Backend{Service: "a", PortName: "p"}, l4.Backend{Service: "a", Port: 1}, false},
		"another Service":                 {l4.Backend{Service: "a", Port: 1}, l4.Backend{Service: "b", Port: 1}, false},
		"a range, port by port":           {l4.Backend{Service: "a"}, l4.Backend{Service: "a", Port: 100}, true},
		"a range, stored as a range":      {l4.Backend{Service: "a"}, l4.Backend{Service: "a"}, true},
		"a range, and one port elsewhere": {l4.Backend{Service: "a"}, l4.Backend{Service: "a", Port: 101}, false},
		"a range, and a name":             {l4.Backend{Service: "a"}, l4.Backend{Service: "a", PortName: "p"}, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.same, leadsTo(&tc.want, &tc.got, 100))
		})
	}
}

// The holder leaves; the next in line takes over by itself, once.
func TestTheNextInLineTakesOver(t *testing.T) {
	t.Parallel()
	w := newWorld(ti("dev-a/x", 1, "5432/TCP -> a:5432"), ti("dev-b/x", 2, "5432/TCP -> b:5432"), ti("dev-c/x", 3, "5432/TCP -> c:5432"))
	for range 3 {
		out := Resolve(w, &fake{})
		assert.Equal(t, "dev-a/x/tcp-5432", out.Listeners["5432/TCP"])
		w = advance(w, out)
	}
	w.Ingresses[0].Deleting = true
	out := Resolve(w, &fake{})
	assert.Equal(t, "dev-b/x/tcp-5432", out.Listeners["5432/TCP"])
	assert.NotContains(t, out.Verdicts, "dev-a/x")
	// A holder that comes back, older as it is, waits.
	w = advance(w, out)
	w.Ingresses[0].Deleting = false
	w.Ingresses[0].StatusRules = nil
	assert.Equal(t, "dev-b/x/tcp-5432", Resolve(w, &fake{}).Listeners["5432/TCP"])
}
