package generation

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

func TestNew(t *testing.T) {
	pod := &Pod{SharedDir: "/run/tcpingress", LoadModules: []string{"/usr/lib/nginx/modules/ngx_stream_module.so"}, ResolvConf: "nameserver 10.96.0.10\n"}
	got, err := New(&bundle.Index{}, map[string]string{"nginx.conf": "a"}, pod)
	require.NoError(t, err)
	assert.Equal(t, map[string]string{
		"nginx.conf":    "a",
		"modules.conf":  "load_module \"/usr/lib/nginx/modules/ngx_stream_module.so\";\n",
		"resolver.conf": "resolver 10.96.0.10;\nresolver_timeout 2000ms;\n",
		"generation.conf": "server {\n    listen \"unix:/run/tcpingress/gen-" + got.Name + ".sock\";\n" +
			"    access_log off;\n    return " + got.Name + ";\n}\n",
	}, got.Files)
	assert.Regexp(t, "^[0-9a-f]{16}$", got.Name)
}

func TestWithoutIPv6(t *testing.T) {
	files := map[string]string{"nginx.conf": "# listen [::]:1\nserver {\n    listen 1;\n    listen [::]:1;\n}\nserver {\n    listen 2 udp reuseport;\n    listen [::]:2 udp reuseport;\n}"}
	got, err := New(&bundle.Index{}, files, &Pod{SharedDir: "/run", ResolvConf: "nameserver 10.96.0.10\n", IPv4Only: true})
	require.NoError(t, err)
	assert.Equal(t, "# listen [::]:1\nserver {\n    listen 1;\n}\nserver {\n    listen 2 udp reuseport;\n}", got.Files["nginx.conf"])
	assert.Equal(t, "resolver 10.96.0.10 ipv6=off;\nresolver_timeout 2000ms;\n", got.Files["resolver.conf"])
	with, err := New(&bundle.Index{}, files, &Pod{SharedDir: "/run", ResolvConf: "nameserver 10.96.0.10\n"})
	require.NoError(t, err)
	assert.NotEqual(t, with.Name, got.Name)
	assert.Equal(t, files["nginx.conf"], with.Files["nginx.conf"])
}

func TestSplit(t *testing.T) {
	tcp, udp := Split(map[string]string{"nginx.conf": "a", "servers-03.conf": "b", "udp.conf": "c", "udp-03.conf": "d"})
	assert.Equal(t, map[string]string{"nginx.conf": "a", "servers-03.conf": "b"}, tcp)
	assert.Equal(t, map[string]string{"nginx.conf": "c", "udp-03.conf": "d"}, udp)
}

func TestNameFollowsTheContent(t *testing.T) {
	pod := &Pod{SharedDir: "/run", ResolvConf: "nameserver 10.96.0.10\n"}
	name := func(contents map[string]string, pod *Pod) string {
		g, err := New(&bundle.Index{}, contents, pod)
		require.NoError(t, err)
		return g.Name
	}
	names := map[string]bool{}
	for range 2 {
		for _, contents := range []map[string]string{
			{"nginx.conf": "a"},
			{"nginx.conf": "b"},
			{"nginx.conf": "a", "x": ""},
			{"nginx.conf": "a", "x": "y"},
			{"nginx.conf": "a", "xy": ""},
		} {
			names[name(contents, pod)] = true
		}
		names[name(map[string]string{"nginx.conf": "a"}, &Pod{SharedDir: "/run", ResolvConf: "nameserver 10.96.0.11\n"})] = true
	}
	assert.Len(t, names, 6)
}

func TestResolver(t *testing.T) {
	tests := map[string]struct {
		index      bundle.Index
		resolvConf string
		want       string
		wantErr    string
	}{
		"the class goes before the pod": {
			index:      bundle.Index{Resolvers: []string{"10.0.0.1", "fd00::a"}, ResolverTimeout: "500ms"},
			resolvConf: "nameserver 10.96.0.10\n",
			want:       "resolver 10.0.0.1 [fd00::a];\nresolver_timeout 500ms;\n",
		},
		"a port may be named": {
			index: bundle.Index{Resolvers: []string{"127.0.0.1:5353", "[::1]:5353"}},
			want:  "resolver 127.0.0.1:5353 [::1]:5353;\nresolver_timeout 2000ms;\n",
		},
		"the pod's servers in their order": {
			resolvConf: "search a.svc b\n# nameserver 1.1.1.1\nnameserver fd00::b\nnameserver fe80::1%eth0\n nameserver 10.96.0.10 x\noptions ndots:5",
			want:       "resolver [fd00::b] 10.96.0.10;\nresolver_timeout 2000ms;\n",
		},
		"nobody to ask":             {resolvConf: "search a", wantErr: "no DNS server is known"},
		"a name is no address":      {index: bundle.Index{Resolvers: []string{"dns; worker_processes 9"}}, wantErr: "is no IP address"},
		"a timeout is a duration":   {index: bundle.Index{Resolvers: []string{"::1"}, ResolverTimeout: "2s; x"}, wantErr: "no duration such as 2s"},
		"a timeout is not negative": {index: bundle.Index{Resolvers: []string{"::1"}, ResolverTimeout: "-2s"}, wantErr: "no duration such as 2s"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := resolverConf(&tc.index, &Pod{ResolvConf: tc.resolvConf})
			if tc.wantErr != "" {
				assert.ErrorContains(t, err, tc.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}
