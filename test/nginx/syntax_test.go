package nginx

import (
	"flag"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
	"github.com/nginx-stream/tcpingress/test/nginx/process"
	"github.com/nginx-stream/tcpingress/test/nginx/tables"
)

// A thousand tables take half a minute of two processors.
var rounds = flag.Int("tables", 200, "how many random tables nginx -t is given") //nolint:gochecknoglobals // a flag

// config is the layout of a class for tests.
func config(dir string) nginx.Config {
	return nginx.Config{
		Namespace: "edge", Name: "edge-stream-nginx", Dir: dir, Workers: 2, Sessions: 512,
		ClusterDomain: "cluster.local", EphemeralFrom: 32768, EphemeralTo: 60999,
	}
}

// Whatever table comes, nginx takes what is made of it. It runs by itself, since
// others measure time.
func TestNginxTakesRandomTables(t *testing.T) {
	count := *rounds
	if testing.Short() {
		count = min(count, 50)
	}
	n, err := process.New(t.TempDir(), "127.0.0.1:53")
	require.NoError(t, err)
	provider := nginx.New(config(n.Dir))
	var group errgroup.Group
	var listeners atomic.Int64
	group.SetLimit(2)
	begin := time.Now()
	for seed := range count {
		group.Go(func() error {
			table := tables.Random(uint64(seed), 1+seed%40)
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
	t.Logf("nginx -t took %d tables with %d listeners in %.1f s", count, listeners.Load(), time.Since(begin).Seconds())
}
