package udp

import (
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/agent/generation"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// What the renderer writes is what is read.
func TestReadPlan(t *testing.T) {
	var many []uint16
	for port := uint16(1000); port <= 5600; port++ {
		many = append(many, port)
	}
	listener := func(protocol l4.Protocol, port, end int32) l4.Listener {
		l := l4.Listener{
			Owner: l4.Owner{Namespace: "dns", Name: "dns", Rule: "rule"}, Protocol: protocol, Port: port, EndPort: end,
			Backend: l4.Backend{Namespace: "dns", Service: "dns"},
		}
		if end == 0 {
			l.Backend.Port = 53
		}
		return l
	}
	tests := map[string]struct {
		table l4.Table
		want  plan
	}{
		"nothing":           {want: plan{workers: 1}},
		"TCP is not for us": {table: l4.Table{listener(l4.TCP, 53, 0)}, want: plan{workers: 1}},
		"a port":            {table: l4.Table{listener(l4.UDP, 53, 0)}, want: plan{workers: 2, ipv6: true, ports: []uint16{53}}},
		"ports":             {table: l4.Table{listener(l4.UDP, 53, 0), listener(l4.UDP, 54, 0)}, want: plan{workers: 2, ipv6: true, ports: []uint16{53, 54}}},
		"a range has all its ports": {
			table: l4.Table{listener(l4.UDP, 65533, 65535)},
			want:  plan{workers: 2, ipv6: true, ports: []uint16{65533, 65534, 65535}},
		},
		"many ports, and few workers": {table: l4.Table{listener(l4.UDP, 1000, 5600)}, want: plan{workers: 1, ipv6: true, ports: many}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			files := nginx.New(nginx.Config{Namespace: "edge", Name: "edge", Dir: bundle.SharedDir, Workers: 2, Sessions: 64}).Files(tc.table)
			dir := t.TempDir()
			for name, text := range files {
				if name == bundle.UDPFile {
					name = bundle.MainFile
				} else if name == bundle.MainFile || !hasPrefix(name) {
					continue
				}
				require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
			}
			got, err := readPlan(dir, "abc")
			require.NoError(t, err)
			tc.want.generation, tc.want.config, tc.want.resolverTimeout = "abc", filepath.Join(dir, "nginx.conf"), 30*time.Second
			assert.ElementsMatch(t, tc.want.ports, got.ports)
			got.ports, tc.want.ports = nil, nil
			assert.Equal(t, &tc.want, got)
		})
	}
	_, err := readPlan(filepath.Join(t.TempDir(), "none"), "abc")
	assert.ErrorContains(t, err, "reading generation")
}

func hasPrefix(name string) bool {
	return len(name) > len(bundle.UDPPrefix) && name[:len(bundle.UDPPrefix)] == bundle.UDPPrefix
}

// What the agent adds is what is read.
func TestReadResolvers(t *testing.T) {
	index := &bundle.Index{Resolvers: []string{"10.96.0.10", "10.0.0.1:5353", "fd00::10", "[fd00::11]:5353"}, ResolverTimeout: "1.5s"}
	g, err := generation.New(index, map[string]string{}, &generation.Pod{SharedDir: "/run/tcpingress/udp"})
	require.NoError(t, err)
	p := &plan{}
	for _, text := range g.Files {
		p.read(text)
	}
	var want []netip.AddrPort
	for _, address := range []string{"10.96.0.10:53", "10.0.0.1:5353", "[fd00::10]:53", "[fd00::11]:5353"} {
		want = append(want, netip.MustParseAddrPort(address))
	}
	assert.Equal(t, want, p.resolvers)
	assert.Equal(t, 1500*time.Millisecond, p.resolverTimeout)
}
