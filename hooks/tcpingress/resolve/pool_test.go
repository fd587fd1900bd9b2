package resolve

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

func pooled(w *World, from, to int32) *World {
	w.ports().Pool = &crdv1.PortRange{From: from, To: to}
	return w
}

func TestPool(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		world *World
		dp    fake
		want  map[string]string
	}{
		"newcomers get the lowest free numbers, the older first": {
			world: pooled(newWorld(ti("b/x", 2, "p=pool/TCP -> x:1"), ti("a/x", 3, "p=pool/TCP -> x:1; q=pool/TCP -> x:1"), ti("c/x", 1, "p=pool/UDP -> x:1")), 30000, 30010),
			want:  map[string]string{"b/x p": "30000/TCP", "a/x p": "30001/TCP", "a/x q": "30002/TCP", "c/x p": "30000/UDP"},
		},
		"a number in the book is kept": {
			world: pooled(newWorld(ti("a/x", 1, "p=pool/TCP -> x:1"), ti("b/x", 2, "p=pool/TCP -> x:1")), 30000, 30010).
				book("30000/TCP", "b/x/p").book("30005/TCP", "a/x/p"),
			want: map[string]string{"a/x p": "30005/TCP", "b/x p": "30000/TCP"},
		},
		"a number in a slice is kept": {
			world: pooled(newWorld(ti("a/x", 1, "p=pool/TCP -> x:1"), ti("b/x", 2, "p=pool/TCP -> x:1")), 30000, 30010).
				slice("b/x", "p", "30000/TCP", ""),
			want: map[string]string{"a/x p": "30001/TCP", "b/x p": "30000/TCP"},
		},
		"a number in the own status is kept": {
			world: pooled(newWorld(ti("a/x", 1, "p=pool/TCP -> x:1"), ti("b/x", 2, "p=pool/TCP -> x:1")), 30000, 30010).
				status("b/x", "p", "30000/TCP", "x", 1),
			want: map[string]string{"a/x p": "30001/TCP", "b/x p": "30000/TCP"},
		},
		"a number that the own status claims and the data plane gives to another is not kept": {
			world: pooled(newWorld(ti("a/x", 1, "p=pool/TCP -> x:1"), ti("b/x", 2, "p=pool/TCP -> y:1")), 30000, 30010).
				status("a/x", "p", "30000/TCP", "x", 1).status("b/x", "p", "30000/TCP", "y", 1).entry("30000/TCP", "b/y:1"),
			want: map[string]string{"a/x p": "30001/TCP", "b/x p": "30000/TCP"},
		},
		"two rules of one object do not swap their numbers": {
			world: pooled(newWorld(ti("a/x", 1, "p=pool/TCP -> x:1; q=pool/TCP -> x:1")), 30000, 30010).
				book("30000/TCP", "a/x/q").book("30001/TCP", "a/x/p"),
			want: map[string]string{"a/x p": "30001/TCP", "a/x q": "30000/TCP"},
		},
		"a number outside the pool is kept after the pool has moved": {
			world: pooled(newWorld(ti("a/x", 1, "p=pool/TCP -> x:1")), 30000, 30010).book("20000/TCP", "a/x/p"),
			want:  map[string]string{"a/x p": "20000/TCP"},
		},
		"a number is kept after the pool is gone": {
			world: newWorld(ti("a/x", 1, "p=pool/TCP -> x:1"), ti("a/y", 2, "p=pool/TCP -> x:1")).book("20000/TCP", "a/x/p"),
			want:  map[string]string{"a/x p": "20000/TCP", "a/y p": "0/TCP PoolExhausted"},
		},
		"a number that is not allowed any more is exchanged": {
			world: allowing(pooled(newWorld(ti("a/x", 1, "p=pool/TCP -> x:1")), 30000, 30010).book("20000/TCP", "a/x/p"), 30000, 30010),
			want:  map[string]string{"a/x p": "30000/TCP"},
		},
		"a renamed rule keeps the number that leads to its backend": {
			world: pooled(newWorld(ti("a/x", 1, "new=pool/TCP -> x:1"), ti("a/w", 2, "new=pool/TCP -> x:2")), 30000, 30010).
				entry("30004/TCP", "a/x:1").entry("30003/TCP", "a/x:2").entry("30002/TCP", "b/x:1").entry("20000/TCP", "a/x:1"),
			want: map[string]string{"a/x new": "30004/TCP", "a/w new": "30003/TCP"},
		},
		"a renamed rule leaves what another rule kept by name": {
			world: pooled(newWorld(ti("a/x", 1, "new=pool/TCP -> x:1; p=pool/TCP -> x:1")), 30000, 30010).
				entry("30004/TCP", "a/x:1").entry("30003/TCP", "a/x:1").book("30003/TCP", "a/x/p").book("30004/TCP", "a/x/old"),
			want: map[string]string{"a/x new": "30004/TCP", "a/x p": "30003/TCP"},
		},
		"a renamed rule leaves what another rule names itself": {
			world: pooled(newWorld(ti("a/x", 1, "new=pool/TCP -> x:1"), ti("a/y", 2, "30004/TCP -> x:1")), 30000, 30010).
				entry("30004/TCP", "a/x:1"),
			want: map[string]string{"a/x new": "30000/TCP", "a/y tcp-30004": "30004/TCP"},
		},
		"an older rule that names a number does not take it from its holder": {
			world: pooled(newWorld(ti("a/x", 2, "p=pool/TCP -> x:1"), ti("b/y", 1, "30000/TCP -> x:1")), 30000, 30010).
				book("30000/TCP", "a/x/p"),
			want: map[string]string{"a/x p": "30000/TCP", "b/y tcp-30000": "30000/TCP PortConflict"},
		},
		"a rule that is given the number it had keeps it": {
			world: pooled(newWorld(ti("a/x", 2, "pinned=30000/TCP -> x:1"), ti("b/y", 1, "p=pool/TCP -> x:1")), 30000, 30010).
				book("30000/TCP", "a/x/p"),
			want: map[string]string{"a/x pinned": "30000/TCP", "b/y p": "30001/TCP"},
		},
		"a number that another rule of the object names is left to it": {
			world: pooled(newWorld(ti("a/x", 2, "p=pool/TCP -> x:1; pinned=30000/TCP -> x:1")), 30000, 30010).
				book("30000/TCP", "a/x/p"),
			want: map[string]string{"a/x p": "30001/TCP", "a/x pinned": "30000/TCP"},
		},
		"numbers that rules name are given last": {
			world: pooled(newWorld(ti("a/x", 1, "p=pool/TCP -> x:1"), ti("a/y", 2, "p=pool/TCP -> x:1"), ti("b/y", 3, "30000/TCP -> x:1")), 30000, 30001),
			want:  map[string]string{"a/x p": "30001/TCP", "a/y p": "30000/TCP", "b/y tcp-30000": "30000/TCP PortConflict"},
		},
		"numbers that cannot be given are passed over": {
			world: allowing(pooled(taken(newWorld(ti("a/x", 1, "p=pool/TCP -> x:1; q=pool/TCP -> x:1"))), 8079, 8090), 8080, 8084),
			dp:    fake{reserved: []int32{8081}},
			want:  map[string]string{"a/x p": "8082/TCP", "a/x q": "8083/TCP"},
		},
		"each namespace gets what it was granted": {
			world: granting(pooled(newWorld(ti("a/x", 1, "p=pool/TCP -> x:1"), ti("b/x", 2, "p=pool/TCP -> x:1"), ti("c/x", 3, "p=pool/TCP -> x:1")), 1, 100)),
			want:  map[string]string{"a/x p": "50/TCP", "b/x p": "10/TCP", "c/x p": "0/TCP PoolExhausted"},
		},
		"an exhausted pool": {
			world: pooled(newWorld(ti("a/x", 1, "p=pool/TCP -> x:1; q=pool/TCP -> x:1; r=pool/UDP -> x:1")), 30000, 30000),
			want:  map[string]string{"a/x p": "30000/TCP", "a/x q": "0/TCP PoolExhausted", "a/x r": "30000/UDP"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			out := Resolve(tc.world, &tc.dp)
			assert.Equal(t, tc.want, verdicts(out))
			assert.Equal(t, tc.want, verdicts(Resolve(advance(tc.world, out), &tc.dp)), "the numbers stay")
		})
	}
}

func allowing(w *World, from, to int32) *World {
	allows(from, to)(w)
	return w
}

func granting(w *World) *World {
	w.ports().Grants = []crdv1.PortGrant{
		{Namespaces: []string{"a"}, Ports: portSet{{From: 50, To: 50}}},
		{Namespaces: []string{"b"}, Ports: portSet{{From: 10, To: 60}}},
	}
	return w
}

// A pool of many numbers with many takers: each gets its own.
func TestPoolOfThousands(t *testing.T) {
	t.Parallel()
	var all []Ingress
	for i := range 3000 {
		all = append(all, ti(fmt.Sprintf("n%d/x", i%7), i, "p=pool/TCP -> x:1"))
		all[i].Name = fmt.Sprintf("x%d", i)
	}
	out := Resolve(pooled(newWorld(all...), 20000, 22999), &fake{})
	assert.Len(t, out.Listeners, 3000)
	assert.Equal(t, "n0/x0/p", out.Listeners["20000/TCP"])
}
