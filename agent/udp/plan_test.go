package udp

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// What the renderer writes is what is read.
func TestReadPlan(t *testing.T) {
	listener := func(protocol l4.Protocol, port, end int32, idle time.Duration) l4.Listener {
		l := l4.Listener{
			Owner: l4.Owner{Namespace: "dns", Name: "dns", Rule: "rule"}, Protocol: protocol, Port: port, EndPort: end,
			Backend: l4.Backend{Namespace: "dns", Service: "dns"}, IdleTimeout: idle,
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
		"TCP is not for us": {table: l4.Table{listener(l4.TCP, 53, 0, time.Hour)}, want: plan{workers: 1}},
		"a port":            {table: l4.Table{listener(l4.UDP, 53, 0, 0)}, want: plan{workers: 2, ports: []uint16{53}, drain: time.Minute}},
		"the longest silence": {
			table: l4.Table{listener(l4.UDP, 53, 0, time.Second), listener(l4.UDP, 54, 0, 90*time.Second), listener(l4.UDP, 55, 0, time.Millisecond)},
			want:  plan{workers: 2, ports: []uint16{55, 53, 54}, drain: 90 * time.Second},
		},
		"what nginx does by itself":   {table: l4.Table{listener(l4.UDP, 53, 0, 10*time.Minute)}, want: plan{workers: 2, ports: []uint16{53}, drain: 10 * time.Minute}},
		"nobody waits for hours":      {table: l4.Table{listener(l4.UDP, 53, 0, 5*time.Hour)}, want: plan{workers: 2, ports: []uint16{53}, drain: 10 * time.Minute}},
		"a range has all its ports":   {table: l4.Table{listener(l4.UDP, 65533, 65535, time.Second)}, want: plan{workers: 2, ports: []uint16{65533, 65534, 65535}, drain: time.Second}},
		"many ports, and few workers": {table: l4.Table{listener(l4.UDP, 1000, 5600, time.Second)}, want: plan{workers: 1, drain: time.Second}},
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
			if tc.want.ports == nil && tc.want.drain != 0 {
				assert.Len(t, got.ports, 4601)
				got.ports = nil
			}
			tc.want.generation, tc.want.config = "abc", filepath.Join(dir, "nginx.conf")
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
