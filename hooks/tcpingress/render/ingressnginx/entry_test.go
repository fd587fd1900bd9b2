package ingressnginx

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

func backend(port int32) l4.Backend { return l4.Backend{Namespace: "a", Service: "b", Port: port} }

func named(port string) l4.Backend { return l4.Backend{Namespace: "a", Service: "b", PortName: port} }

func TestFormat(t *testing.T) {
	tests := map[string]struct {
		listener l4.Listener
		want     string
	}{
		"the number is the Service's (C84)":  {l4.Listener{Protocol: l4.TCP, Port: 22, Backend: l4.Backend{Namespace: "git", Service: "shell", Port: 8222}}, "git/shell:8222"},
		"a Service may be called tcp (C113)": {l4.Listener{Protocol: l4.TCP, Port: 1883, Backend: l4.Backend{Namespace: "kube-system", Service: "tcp", Port: 1883}}, "kube-system/tcp:1883"},
		"a named port":                       {l4.Listener{Protocol: l4.TCP, Port: 1, Backend: named("web")}, "a/b:web"},
		"a range leads to its own numbers":   {l4.Listener{Protocol: l4.TCP, Port: 5, EndPort: 7, Backend: backend(0)}, "a/b:6"},
		"accept":                             {l4.Listener{Protocol: l4.TCP, Port: 1, AcceptProxy: true, Backend: backend(2)}, "a/b:2:PROXY"},
		"send":                               {l4.Listener{Protocol: l4.TCP, Port: 1, SendProxy: l4.SendV1, Backend: backend(2)}, "a/b:2::PROXY"},
		"accept and send":                    {l4.Listener{Protocol: l4.TCP, Port: 1, AcceptProxy: true, SendProxy: l4.SendV1, Backend: backend(2)}, "a/b:2:PROXY:PROXY"},
		"UDP takes no PROXY (C23)":           {l4.Listener{Protocol: l4.UDP, Port: 1, AcceptProxy: true, SendProxy: l4.SendV1, Backend: backend(2)}, "a/b:2"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, Format(&tc.listener, 6))
		})
	}
}

func TestParseAccepts(t *testing.T) {
	tests := map[string]l4.Entry{
		"a/b:80":                 {Backend: backend(80)},
		"a/b:1":                  {Backend: backend(1)},
		"a/b:65535":              {Backend: backend(65535)},
		"a/b:080":                {Backend: backend(80)},
		"a/b:+80":                {Backend: backend(80)},
		"a/b:http":               {Backend: named("http")},
		"a/b:80:PROXY":           {Backend: backend(80), AcceptProxy: true},
		"a/b:80:proxy":           {Backend: backend(80), AcceptProxy: true},
		"a/b:80::PROXY":          {Backend: backend(80), SendProxy: l4.SendV1},
		"a/b:80::Proxy":          {Backend: backend(80), SendProxy: l4.SendV1},
		"a/b:80:PROXY:PROXY":     {Backend: backend(80), AcceptProxy: true, SendProxy: l4.SendV1},
		"a/b:80:PROXY:":          {Backend: backend(80), AcceptProxy: true},
		"a/b:80:":                {Backend: backend(80)},
		"a/b:80:SSL":             {Backend: backend(80)},
		"a/b:80: PROXY":          {Backend: backend(80)},
		"a/b:80:PROXY:PROXY-V2":  {Backend: backend(80), AcceptProxy: true},
		"a/b:80:PROXY:PROXY:crt": {Backend: backend(80), AcceptProxy: true},
		"a/b:80::PROXY:":         {Backend: backend(80)},
		"kube-system/tcp:1883":   {Backend: l4.Backend{Namespace: "kube-system", Service: "tcp", Port: 1883}},
		"1a/2b:8080-tcp":         {Backend: l4.Backend{Namespace: "1a", Service: "2b", PortName: "8080-tcp"}},
		// too long for a number, so it is a name
		"a/b:99999999999999999999": {Backend: named("99999999999999999999")},
	}
	for value, want := range tests {
		got, err := Parse(value, l4.TCP)
		require.NoError(t, err, value)
		assert.Equal(t, want, got, value)

		want.AcceptProxy, want.SendProxy = false, l4.SendNone
		got, err = Parse(value, l4.UDP)
		require.NoError(t, err, value)
		assert.Equal(t, want, got, value+" for UDP")
	}
}

func TestParseRejects(t *testing.T) {
	for _, value := range []string{
		"", ":", "a/b", "a/b:", "b:80", "/b:80", "a/:80", "a/b/c:80", "a/b: 80", "a/b:80 ", " a/b:80", "a /b:80",
		"a/b:0", "a/b:-1", "a/b:65536", "a/b:4294967376", "a/b:ht_tp", "a/b:HTTP", "a.b/c:80", "a/b.c:80", "a/-b:80", "a/b-:80",
		"a/1234567890123456789012345678901234567890123456789012345678901234:80",
	} {
		_, err := Parse(value, l4.TCP)
		assert.Error(t, err, value)
	}
}

func TestParseReadsWhatFormatWrites(t *testing.T) {
	for _, protocol := range []l4.Protocol{l4.TCP, l4.UDP} {
		for _, b := range []l4.Backend{backend(1), backend(65535), named("http"), named("8080-tcp"), backend(0)} {
			for _, accept := range []bool{false, true} {
				for _, send := range []l4.SendProxy{l4.SendNone, l4.SendV1} {
					l := l4.Listener{Protocol: protocol, Port: 77, AcceptProxy: accept, SendProxy: send, Backend: b}
					got, err := Parse(Format(&l, l.Port), protocol)
					require.NoError(t, err)
					want := l4.Entry{Backend: b}
					if b == backend(0) {
						want.Backend.Port = 77
					}
					if protocol == l4.TCP {
						want.AcceptProxy, want.SendProxy = accept, send
					}
					assert.Equal(t, want, got)
				}
			}
		}
	}
}
