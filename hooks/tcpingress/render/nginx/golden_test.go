package nginx_test

import (
	"flag"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

var update = flag.Bool("update", false, "rewrite the goldens, and remove those that nobody needs")

const fileIn = "in.yaml"

// config is the layout of a class with nothing set.
func config() nginx.Config {
	return nginx.Config{
		Namespace: "edge", Name: "edge-stream-nginx", Dir: bundle.SharedDir, Workers: 2, Sessions: 512,
		ClusterDomain: "cluster.local", EphemeralFrom: 32768, EphemeralTo: 60999,
	}
}

// input is a case: what differs from the layout above, and the listeners.
type input struct {
	Config struct {
		Workers, Sessions, MaxOldWorkers int
		ClusterDomain                    string
		Resolvers                        []netip.Addr
		TrustedProxies                   []netip.Prefix
		ResolverTimeout, ReloadInterval  metav1.Duration
	}
	Listeners []struct {
		Owner, Backend              string
		Protocol                    l4.Protocol
		Port, EndPort               int32
		Hosts                       []string
		AcceptProxy                 bool
		SendProxy                   l4.SendProxy
		AllowSources                []netip.Prefix
		ConnectTimeout, IdleTimeout metav1.Duration
		ConnectionsPerClient        int32
	}
}

func readInput(t *testing.T, text []byte) (nginx.Config, l4.Table) {
	t.Helper()
	var in input
	require.NoError(t, yaml.UnmarshalStrict(text, &in))
	c := config()
	for given, field := range map[int]*int{in.Config.Workers: &c.Workers, in.Config.Sessions: &c.Sessions} {
		if given != 0 {
			*field = given
		}
	}
	if in.Config.ClusterDomain != "" {
		c.ClusterDomain = in.Config.ClusterDomain
	}
	c.Resolvers, c.TrustedProxies, c.MaxOldWorkers = in.Config.Resolvers, in.Config.TrustedProxies, in.Config.MaxOldWorkers
	c.ResolverTimeout, c.ReloadInterval = in.Config.ResolverTimeout.Duration, in.Config.ReloadInterval.Duration
	table := make(l4.Table, len(in.Listeners))
	for i, l := range in.Listeners {
		owner := strings.Split(l.Owner, "/")
		require.Len(t, owner, 3)
		table[i] = l4.Listener{
			Owner:    l4.Owner{Namespace: owner[0], Name: owner[1], Rule: owner[2]},
			Protocol: l.Protocol, Port: l.Port, EndPort: l.EndPort, Hosts: l.Hosts,
			AcceptProxy: l.AcceptProxy, SendProxy: l.SendProxy, AllowSources: l.AllowSources,
			ConnectTimeout: l.ConnectTimeout.Duration, IdleTimeout: l.IdleTimeout.Duration,
			ConnectionsPerClient: l.ConnectionsPerClient, Backend: readBackend(l.Backend),
		}
	}
	return c, table
}

// readBackend reads "data/redis:6379", "data/redis:http" or "data/redis".
func readBackend(text string) l4.Backend {
	service, port, _ := strings.Cut(text, ":")
	namespace, name, _ := strings.Cut(service, "/")
	b := l4.Backend{Namespace: namespace, Service: name}
	if number, err := strconv.ParseInt(port, 10, 32); err == nil {
		b.Port = int32(number)
	} else {
		b.PortName = port
	}
	return b
}

func TestGolden(t *testing.T) {
	t.Parallel()
	inputs, err := filepath.Glob("testdata/*/" + fileIn)
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	for _, in := range inputs {
		dir := filepath.Dir(in)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(in)
			require.NoError(t, err)
			require.Regexp(t, `\A# \S`, string(text), "the first line says what to look at")
			c, table := readInput(t, text)
			got := nginx.New(c).Files(table)
			for range 3 {
				require.Equal(t, got, nginx.New(c).Files(table), "the same every time")
			}
			compare(t, dir, got)
		})
	}
}

// compare holds the files against those of the folder.
func compare(t *testing.T, dir string, got map[string]string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, entry := range entries {
		if _, ok := got[entry.Name()]; ok || entry.Name() == fileIn {
			continue
		}
		if *update {
			require.NoError(t, os.Remove(filepath.Join(dir, entry.Name())))
			continue
		}
		assert.Fail(t, "stale", "%s in %s is not rendered any more", entry.Name(), dir)
	}
	for name, text := range got {
		file := filepath.Join(dir, name)
		if *update {
			require.NoError(t, os.WriteFile(file, []byte(text), 0o644))
			continue
		}
		want, err := os.ReadFile(file)
		if !os.IsNotExist(err) {
			require.NoError(t, err)
		}
		assert.Empty(t, cmp.Diff(string(want), text), "%s differs; look at it, then run make golden", file)
	}
}
