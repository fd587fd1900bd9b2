package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestForwardsReadsAConfigMap(t *testing.T) {
	t.Parallel()
	got, err := forwards("tcp", map[string]string{"9000": "demo/a:http", "53": "demo/dns:53"})
	require.NoError(t, err)
	assert.Equal(t, []forward{
		{number: 53, network: "tcp", backend: "demo/dns:53"},
		{number: 9000, network: "tcp", backend: "demo/a:http"},
	}, got)
}

func TestForwardsRefusesWhatTheDemoCannotPlay(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]map[string]string{
		"a key that is no number":     {"x": "demo/a:1"},
		"port 0":                      {"0": "demo/a:1"},
		"a number that is no port":    {"65536": "demo/a:1"},
		"no namespace":                {"1": "a:1"},
		"no port":                     {"1": "demo/a"},
		"the PROXY protocol":          {"1": "demo/a:1:PROXY"},
		"text for nginx in a backend": {"1": "demo/a:1; }"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := forwards("tcp", data)
			assert.Error(t, err)
		})
	}
}

func TestPlaceNeedsNoRootAndGivesNoPortTwice(t *testing.T) {
	t.Parallel()
	list := []forward{{number: 53, network: "tcp"}, {number: 53, network: "udp"}, {number: 21, network: "tcp"}, {number: 22, network: "tcp"}}
	require.NoError(t, place(list))
	seen := map[string]bool{}
	for _, f := range list {
		assert.Regexp(t, `^127\.0\.0\.1:[0-9]{4,5}$`, f.listen)
		assert.False(t, seen[f.network+f.listen], f.listen)
		seen[f.network+f.listen] = true
	}
}

func TestNginxConfigIsWhatNginxReads(t *testing.T) {
	t.Parallel()
	got := nginxConfig("/m/ngx_stream_module.so", []forward{
		{number: 53, network: "udp", backend: "demo/dns:53", listen: "127.0.0.1:4053", to: "127.0.0.1:9"},
		{number: 6379, network: "tcp", backend: "demo/redis:6379", listen: "127.0.0.1:6379", to: "127.0.0.1:8"},
	})
	assert.Equal(t, `load_module "/m/ngx_stream_module.so";
daemon off;
master_process off;
pid nginx.pid;
events {}
stream {
# 53/UDP: demo/dns:53
server { listen 127.0.0.1:4053 udp; proxy_pass 127.0.0.1:9; proxy_responses 1; }
# 6379/TCP: demo/redis:6379
server { listen 127.0.0.1:6379; proxy_pass 127.0.0.1:8; }
}
`, got)
}

func TestStreamsFindsTheModule(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	module := filepath.Join(dir, "modules", "ngx_stream_module.so")
	require.NoError(t, os.Mkdir(filepath.Dir(module), 0o700))
	require.NoError(t, os.WriteFile(module, nil, 0o600))
	for name, tc := range map[string]struct {
		said string
		want nginx
		err  string
	}{
		"built in": {
			said: "configure arguments: --prefix=" + dir + " --with-stream --with-stream_ssl_module",
			want: nginx{path: "nginx"},
		},
		"a module, where its folder is told": {
			said: "configure arguments: --prefix=/x --modules-path=" + dir + "/modules --with-stream=dynamic\n",
			want: nginx{path: "nginx", module: module},
		},
		"a module below the prefix": {
			said: "configure arguments: --with-stream=dynamic --prefix=" + dir,
			want: nginx{path: "nginx", module: module},
		},
		"a module that is not installed": {
			said: "configure arguments: --modules-path=" + dir + " --with-stream=dynamic",
			err:  "without its stream module",
		},
		"not compiled": {
			said: "configure arguments: --modules-path=" + dir + "/modules --with-stream_ssl_module",
			err:  "without its stream module",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := streams("nginx", tc.said)
			if tc.err != "" {
				require.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, got)
		})
	}
}
