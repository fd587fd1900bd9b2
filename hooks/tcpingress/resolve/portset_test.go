package resolve

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// Sets of ranges say what plain sets of numbers say.
func TestPortSets(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	list := func() (portSet, map[int32]bool) {
		var ranges []crdv1.PortRange
		has := map[int32]bool{}
		for range random.IntN(5) {
			from := random.Int32N(40) - 5
			r := crdv1.PortRange{From: from, To: from + random.Int32N(10) - 2}
			if random.IntN(8) == 0 {
				r = crdv1.PortRange{From: maxPort - random.Int32N(5), To: maxPort + random.Int32N(5)}
			}
			ranges = append(ranges, r)
			for port := max(r.From, minPort); port <= min(r.To, maxPort); port++ {
				has[port] = true
			}
		}
		return newPortSet(ranges), has
	}
	for range 2000 {
		a, inA := list()
		b, inB := list()
		both, left := a.within(b), a.without(b)
		wantBoth, wantLeft := 0, 0
		for port := range inA {
			if inB[port] {
				wantBoth++
				require.Zero(t, both.missing(port, port), "%v within %v is %v", a, b, both)
				continue
			}
			wantLeft++
			require.Zero(t, left.missing(port, port), "%v without %v is %v", a, b, left)
		}
		assert.Equal(t, len(inA), a.size())
		require.Equal(t, wantBoth, both.size(), "%v within %v is %v", a, b, both)
		require.Equal(t, wantLeft, left.size(), "%v without %v is %v", a, b, left)
		for _, s := range []portSet{both, left} {
			assert.True(t, slices.IsSortedFunc(s, func(x, y crdv1.PortRange) int { return int(x.From - y.From) }))
		}
	}
}
