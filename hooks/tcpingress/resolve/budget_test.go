package resolve

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// A load balancer takes 50 listeners and has two already.
func TestTheOldestGetThePortsThatThereAre(t *testing.T) {
	t.Parallel()
	var all []Ingress
	for i := range 49 {
		all = append(all, ti(fmt.Sprintf("app/x%02d", i), i+1, fmt.Sprintf("%d/TCP -> x:1", 20001+i)))
	}
	dp := &fake{limit: 50, used: 2}
	w := newWorld(all...)
	out := Resolve(w, dp)
	assert.Len(t, out.Listeners, 48)
	last := verdict(t, out, "app/x48", "tcp-20049")
	assert.Equal(t, crdv1.ReasonCapacityExceeded, last.Reason)
	assert.Equal(t, "50 of 50 ports of the TCP Service of class nginx are used, so 1 TCP port cannot be given; free some, or ask the platform admin to raise spec.service.maxPorts.", last.Message)
	w = advance(w, out)
	w.Ingresses = append(w.Ingresses, ti("app/older", 0, "30000/TCP -> x:1"))
	again := Resolve(w, dp)
	assert.Equal(t, out.Listeners, again.Listeners, "nothing is moved for an older one")
	w.Ingresses[3].Deleting = true
	assert.Equal(t, "app/older/tcp-30000", Resolve(w, dp).Listeners["30000/TCP"], "what is free goes to the older of those who wait")
}

func TestBudgets(t *testing.T) {
	t.Parallel()
	quota := func(n int32, w *World) *World {
		w.ports().MaxPerNamespace = &n
		return w
	}
	long := strings.Repeat("s", 63)
	tests := map[string]struct {
		world *World
		dp    fake
		want  map[string]string
	}{
		"each protocol has a Service of its own": {
			newWorld(ti("a/x", 1, "1/TCP -> x:1; 2/TCP -> x:1; 1/UDP -> x:1")),
			fake{limit: 1},
			map[string]string{"a/x tcp-1": "1/TCP", "a/x tcp-2": "2/TCP CapacityExceeded", "a/x udp-1": "1/UDP"},
		},
		"every port of a range counts, and what is smaller may still fit": {
			newWorld(ti("a/x", 1, "1/TCP -> x:1; 10-14/TCP -> x; 20-21/TCP -> x; 30/TCP -> x:1")),
			fake{limit: 5},
			map[string]string{"a/x tcp-1": "1/TCP", "a/x tcp-10": "10-14/TCP CapacityExceeded", "a/x tcp-20": "20-21/TCP", "a/x tcp-30": "30/TCP"},
		},
		"a port that hosts share counts once": {
			newWorld(ti("a/x", 1, "1/TCP a.org -> x:1"), ti("b/x", 2, "1/TCP b.org -> x:1"), ti("c/x", 3, "2/TCP c.org -> x:1")),
			fake{limit: 1},
			map[string]string{"a/x tcp-1": "1/TCP", "b/x tcp-1": "1/TCP", "c/x tcp-2": "2/TCP CapacityExceeded"},
		},
		"a namespace has a quota over both protocols": {
			quota(2, newWorld(ti("a/x", 1, "1/TCP -> x:1; 2/UDP -> x:1; 3/TCP -> x:1"), ti("b/x", 2, "4/TCP -> x:1"))),
			fake{},
			map[string]string{"a/x tcp-1": "1/TCP", "a/x udp-2": "2/UDP", "a/x tcp-3": "3/TCP NamespaceQuotaExceeded", "b/x tcp-4": "4/TCP"},
		},
		"a shared port counts once for each namespace on it": {
			quota(1, newWorld(ti("a/x", 1, "1/TCP a.org -> x:1"), ti("a/y", 2, "1/TCP b.org -> x:1"), ti("b/x", 3, "1/TCP c.org -> x:1; 2/TCP c.org -> x:1"))),
			fake{},
			map[string]string{"a/x tcp-1": "1/TCP", "a/y tcp-1": "1/TCP", "b/x tcp-1": "1/TCP", "b/x tcp-2": "2/TCP NamespaceQuotaExceeded"},
		},
		"rules that share ports by hosts count as the ports they share": {
			quota(2, newWorld(
				ti("a/x", 1, "p=1/TCP a.org,b.org -> x:1; q=1/TCP c.org -> x:1; r=1/TCP *.d.org -> y:1; s=2/TCP a.org -> x:1; t=3/TCP a.org -> x:1"),
				ti("a/y", 2, "1/TCP e.org -> x:1; 2/TCP e.org -> x:1; 4/UDP -> x:1"))),
			fake{},
			map[string]string{
				"a/x p": "1/TCP", "a/x q": "1/TCP", "a/x r": "1/TCP", "a/x s": "2/TCP", "a/x t": "3/TCP NamespaceQuotaExceeded",
				"a/y tcp-1": "1/TCP", "a/y tcp-2": "2/TCP", "a/y udp-4": "4/UDP NamespaceQuotaExceeded",
			},
		},
		"a quota of none": {
			quota(0, newWorld(ti("a/x", 1, "1/TCP -> x:1"))),
			fake{},
			map[string]string{"a/x tcp-1": "1/TCP NamespaceQuotaExceeded"},
		},
		"what a child cannot carry is refused, and what is smaller may still fit": {
			newWorld(ti("a/x", 1, "1/TCP -> "+long+":1; 2/TCP -> x:1; 1/UDP -> x:1")),
			fake{bytes: 40},
			map[string]string{"a/x tcp-1": "1/TCP CapacityExceeded", "a/x tcp-2": "2/TCP", "a/x udp-1": "1/UDP"},
		},
		"an edit that needs more does not push out a younger one that works": {
			newWorld(ti("a/x", 1, "1/TCP -> "+long+":1"), ti("b/x", 2, "2/TCP -> x:1")).
				entry("1/TCP", "a/x:1").entry("2/TCP", "b/x:1").
				slice("a/x", "tcp-1", "1/TCP", "").slice("b/x", "tcp-2", "2/TCP", "").
				status("a/x", "tcp-1", "1/TCP", "x", 1).status("b/x", "tcp-2", "2/TCP", "x", 1),
			fake{bytes: 90},
			map[string]string{"a/x tcp-1": "1/TCP CapacityExceeded", "b/x tcp-2": "2/TCP"},
		},
		"what has no room counts for no quota": {
			quota(1, newWorld(ti("a/x", 1, "1/TCP -> x:1"), ti("b/x", 2, "1/TCP -> x:1; 2/TCP -> x:1"))),
			fake{},
			map[string]string{"a/x tcp-1": "1/TCP", "b/x tcp-1": "1/TCP PortConflict", "b/x tcp-2": "2/TCP"},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, verdicts(Resolve(tc.world, &tc.dp)))
		})
	}
}

func TestTheBookHoldsAtMost256Ranges(t *testing.T) {
	t.Parallel()
	var all []Ingress
	for i := range 258 {
		all = append(all, ti(fmt.Sprintf("app/x%03d", i), i, fmt.Sprintf("%d-%d/TCP -> x", 2*i+1, 2*i+2)))
	}
	all = append(all, ti("app/single", 999, "9999/TCP -> x:1"))
	out := Resolve(newWorld(all...), &fake{})
	assert.Len(t, out.Ranges, 256)
	assert.Contains(t, out.Listeners, "9999/TCP")
	refused := verdict(t, out, "app/x256", "tcp-513")
	assert.Equal(t, crdv1.ReasonCapacityExceeded, refused.Reason)
	assert.Equal(t, "Class nginx holds 256 of 256 ranges of ports; name single ports, or use another class.", refused.Message)
}

// The book fits into the status: names of the longest kind use it up.
func TestTheBookFitsTheStatus(t *testing.T) {
	t.Parallel()
	var all []Ingress
	for i := range 3000 {
		in := ti("x/y", i, fmt.Sprintf("%d/TCP -> x:1", i+1))
		in.Namespace = strings.Repeat("n", 63)
		in.Name = fmt.Sprintf("%s%04d", strings.Repeat("i", 249), i)
		all = append(all, in)
	}
	out := Resolve(newWorld(all...), &fake{})
	size := 0
	for key, holder := range out.Listeners {
		size += len(fmt.Sprintf("%q:%q,", key, holder))
	}
	assert.LessOrEqual(t, size, 900<<10)
	assert.Greater(t, size, 899<<10)
	refused := 0
	for _, v := range out.Verdicts {
		if v.Rules[0].Reason == crdv1.ReasonCapacityExceeded {
			refused++
			require.Contains(t, v.Rules[0].Message, "The status of TCPIngressClass nginx has no room for this rule")
		}
	}
	assert.Equal(t, 3000-len(out.Listeners), refused)
}
