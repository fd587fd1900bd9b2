package ingressnginx

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

func config(change func(*Config)) Config {
	c := Config{
		Namespace:    "ingress-nginx",
		TCPConfigMap: "tcp-services",
		UDPConfigMap: "udp-services",
		Reserved:     []int32{80, 442, 443, 8181, 8443, 10245, 10246, 10247, 10254, 11514},
		Labels:       map[string]string{"nginx-stream.dev/class": "nginx"},
	}
	if change != nil {
		change(&c)
	}
	return c
}

func TestCheck(t *testing.T) {
	tests := map[string]struct {
		listener l4.Listener
		want     string
	}{
		"a plain listener":         {l4.Listener{Protocol: l4.TCP, Backend: backend(1)}, ""},
		"a range":                  {l4.Listener{Protocol: l4.UDP, Port: 1, EndPort: 2}, ""},
		"a named port":             {l4.Listener{Protocol: l4.TCP, Backend: named("web")}, ""},
		"PROXY with TCP":           {l4.Listener{Protocol: l4.TCP, AcceptProxy: true, SendProxy: l4.SendV1}, ""},
		"accept with UDP":          {l4.Listener{Protocol: l4.UDP, AcceptProxy: true}, "proxyProtocol.accept"},
		"send with UDP":            {l4.Listener{Protocol: l4.UDP, SendProxy: l4.SendV1}, "proxyProtocol.send"},
		"another version of PROXY": {l4.Listener{Protocol: l4.TCP, SendProxy: "V2"}, "proxyProtocol.send"},
		"hosts":                    {l4.Listener{Protocol: l4.TCP, Hosts: []string{"db.example.com"}}, "hosts"},
		"sources":                  {l4.Listener{Protocol: l4.TCP, AllowSources: []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}, "allowSources"},
		"a connect timeout":        {l4.Listener{Protocol: l4.TCP, ConnectTimeout: time.Second}, "timeouts.connect"},
		"an idle timeout":          {l4.Listener{Protocol: l4.TCP, IdleTimeout: time.Second}, "timeouts.idle"},
		"a limit":                  {l4.Listener{Protocol: l4.TCP, ConnectionsPerClient: 1}, "limits.connectionsPerClient"},
		"a name that ingress-nginx takes for a number": {l4.Listener{Protocol: l4.TCP, Backend: named("8080")}, "backend.service.port.name"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, New(config(nil)).Check(&tc.listener))
		})
	}
}

func TestReserved(t *testing.T) {
	p := New(config(nil))
	for _, port := range []int32{80, 442, 443, 8181, 8443, 10245, 10246, 10247, 10254, 11514} { // C08, C33
		assert.True(t, p.Reserved(l4.TCP, port), port)
		assert.True(t, p.Reserved(l4.UDP, port), port)
	}
	for _, port := range []int32{1, 53, 389, 8180, 65535} { // C07
		assert.False(t, p.Reserved(l4.TCP, port), port)
	}
	assert.Equal(t, "80, 442, 443, 8181, 8443, 10245, 10246, 10247, 10254, 11514", p.ReservedText())

	other := New(config(func(c *Config) { c.Reserved = []int32{8443, 8080, 8443} }))
	assert.False(t, other.Reserved(l4.TCP, 80))
	assert.True(t, other.Reserved(l4.TCP, 8080))
	assert.Equal(t, "8080, 8443", other.ReservedText())

	none := New(config(func(c *Config) { c.Reserved = nil }))
	assert.False(t, none.Reserved(l4.TCP, 80))
	assert.Empty(t, none.ReservedText())
}

func TestEnabled(t *testing.T) {
	p := New(config(func(c *Config) { c.UDPConfigMap = "" }))
	assert.True(t, p.Enabled(l4.TCP))
	assert.False(t, p.Enabled(l4.UDP))
	assert.False(t, p.Enabled("SCTP"))
	assert.Empty(t, p.Charges(&l4.Listener{Protocol: l4.UDP, Port: 53}))
}
