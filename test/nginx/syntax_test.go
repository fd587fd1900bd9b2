package nginx

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
	"github.com/nginx-stream/tcpingress/test/nginx/process"
)

// A thousand tables take a minute of two processors.
var tables = flag.Int("tables", 250, "how many random tables nginx -t is given") //nolint:gochecknoglobals // a flag

// config is the layout of a class for tests.
func config(dir string) nginx.Config {
	return nginx.Config{
		Namespace: "edge", Name: "edge-stream-nginx", Dir: dir, Workers: 2, Sessions: 512,
		ClusterDomain: "cluster.local", EphemeralFrom: 32768, EphemeralTo: 60999,
	}
}

// dice picks what a rule can say; the seed decides.
type dice struct{ *rand.Rand }

func (d dice) duration() time.Duration {
	return []time.Duration{0, 0, 1500 * time.Millisecond, time.Second, 10 * time.Minute, 720 * time.Hour}[d.IntN(6)]
}

func (d dice) sources() []netip.Prefix {
	all := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("192.0.2.1/32")}
	return all[:[]int{0, 0, 1, 4}[d.IntN(4)]]
}

func (d dice) listener(port int32, i int) l4.Listener {
	l := l4.Listener{
		Owner:    l4.Owner{Namespace: fmt.Sprintf("team-%d", i%7), Name: fmt.Sprintf("in.%d", i), Rule: fmt.Sprintf("rule-%d", i)},
		Protocol: l4.TCP, Port: port,
		AllowSources: d.sources(), IdleTimeout: d.duration(), ConnectionsPerClient: int32(d.IntN(3)),
		Backend: l4.Backend{Namespace: fmt.Sprintf("team-%d", i%7), Service: fmt.Sprintf("svc-%d", i), Port: int32(1 + d.IntN(65535))},
	}
	if d.IntN(4) == 0 {
		l.Protocol = l4.UDP
		return l
	}
	l.AcceptProxy, l.ConnectTimeout = d.IntN(5) == 0, d.duration()
	if d.IntN(5) == 0 {
		l.SendProxy = l4.SendV1
	}
	return l
}

// table makes a table of about n listeners.
func (d dice) table(n int) l4.Table {
	var table l4.Table
	port := int32(1 + d.IntN(50))
	for i := range n {
		port += int32(1 + d.IntN(12))
		switch l := d.listener(port, i); {
		case d.IntN(6) == 0:
			l.EndPort, l.Backend.Port = port+int32(1+d.IntN(9)), 0
			port = l.EndPort
			table = append(table, l)
		case l.Protocol == l4.TCP && d.IntN(4) == 0:
			for k := range 1 + d.IntN(4) {
				shared := l
				if d.IntN(2) == 0 {
					shared = d.listener(port, 1000*i+k)
					shared.Protocol, shared.AcceptProxy = l4.TCP, l.AcceptProxy
				}
				shared.Owner.Rule = fmt.Sprintf("tls-%d", k)
				shared.Hosts = []string{[]string{"default", "include", "hostnames", "volatile"}[k], fmt.Sprintf("*.h%d-%d.example.com", i, k), fmt.Sprintf("h%d-%d.example.com", i, k)}
				table = append(table, shared)
			}
		default:
			table = append(table, l)
		}
	}
	return slices.DeleteFunc(table, func(l l4.Listener) bool { return l.Last() >= 32768 })
}

// Whatever table comes, nginx takes what is made of it.
func TestNginxTakesRandomTables(t *testing.T) {
	t.Parallel()
	rounds := *tables
	if testing.Short() {
		rounds = min(rounds, 50)
	}
	n, err := process.New(t.TempDir(), "127.0.0.1:53")
	require.NoError(t, err)
	provider := nginx.New(config(n.Dir))
	var group errgroup.Group
	var listeners atomic.Int64
	group.SetLimit(2)
	begin := time.Now()
	for seed := range rounds {
		group.Go(func() error {
			d := dice{rand.New(rand.NewPCG(1, uint64(seed)))} //nolint:gosec // it shall be the same every time
			table := d.table(1 + seed%40)
			listeners.Add(int64(len(table)))
			folder := fmt.Sprintf("t%d", seed)
			if err := n.Write(folder, provider.Files(table)); err != nil {
				return err
			}
			if err := n.Check(t.Context(), folder); err != nil {
				return fmt.Errorf("seed %d: %w", seed, err)
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	t.Logf("nginx -t took %d tables with %d listeners in %.1f s", rounds, listeners.Load(), time.Since(begin).Seconds())
}
