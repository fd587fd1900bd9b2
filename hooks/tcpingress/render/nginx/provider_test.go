package nginx_test

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
)

func TestCheck(t *testing.T) {
	t.Parallel()
	hosts := []string{"a.example.com"}
	sources := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	tests := map[string]struct {
		l    l4.Listener
		want string
	}{
		"TCP": {l4.Listener{Protocol: l4.TCP}, ""},
		"UDP": {l4.Listener{Protocol: l4.UDP}, ""},
		"a range of UDP, with all that UDP can say": {
			l4.Listener{Protocol: l4.UDP, Port: 1, EndPort: 9, AllowSources: sources, IdleTimeout: time.Second, ConnectionsPerClient: 1}, "",
		},
		"all that TCP can say": {
			l4.Listener{Protocol: l4.TCP, AcceptProxy: true, SendProxy: l4.SendV1, AllowSources: sources, ConnectTimeout: 1, IdleTimeout: 1, ConnectionsPerClient: 1}, "",
		},
		"all that hosts can say": {
			l4.Listener{Protocol: l4.TCP, Hosts: hosts, AcceptProxy: true, AllowSources: sources, ConnectTimeout: 1, IdleTimeout: 1, ConnectionsPerClient: 1}, "",
		},
		"hosts that send":                    {l4.Listener{Protocol: l4.TCP, Hosts: hosts, SendProxy: l4.SendV1, ConnectTimeout: 1, IdleTimeout: 1}, ""},
		"hosts that send and tell clients":   {l4.Listener{Protocol: l4.TCP, Hosts: hosts, SendProxy: l4.SendV1, AllowSources: sources}, "proxyProtocol.send"},
		"hosts that send and count clients":  {l4.Listener{Protocol: l4.TCP, Hosts: hosts, SendProxy: l4.SendV1, ConnectionsPerClient: 1}, "proxyProtocol.send"},
		"hosts of UDP":                       {l4.Listener{Protocol: l4.UDP, Hosts: hosts}, "hosts"},
		"hosts of a range":                   {l4.Listener{Protocol: l4.TCP, Port: 1, EndPort: 2, Hosts: hosts}, "hosts"},
		"PROXY from clients of UDP":          {l4.Listener{Protocol: l4.UDP, AcceptProxy: true}, "proxyProtocol.accept"},
		"PROXY to backends of UDP":           {l4.Listener{Protocol: l4.UDP, SendProxy: l4.SendV1}, "proxyProtocol.send"},
		"a version of PROXY that nobody has": {l4.Listener{Protocol: l4.TCP, SendProxy: "V2"}, "proxyProtocol.send"},
		"a connect timeout of UDP":           {l4.Listener{Protocol: l4.UDP, ConnectTimeout: 1}, "timeouts.connect"},
	}
	p := nginx.New(config())
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, p.Check(&tc.l))
		})
	}
}

func TestReserved(t *testing.T) {
	t.Parallel()
	c := config()
	c.Reserved = []int32{9000, 22, 10270, 9000}
	p := nginx.New(c)
	assert.Equal(t, "22, 9000, 10270, 32768-60999", p.ReservedText())
	for port, want := range map[int32]bool{21: false, 22: true, 9000: true, 10270: true, 10271: false, 32767: false, 32768: true, 60999: true, 61000: false} {
		for _, protocol := range []l4.Protocol{l4.TCP, l4.UDP} {
			assert.Equal(t, want, p.Reserved(protocol, port), port)
		}
	}
	assert.Equal(t, "10270", nginx.New(nginx.Config{Dir: "/run", ClusterDomain: "cluster.local"}).ReservedText())
	assert.True(t, p.Enabled(l4.TCP))
	assert.True(t, p.Enabled(l4.UDP))
}

// What would have to be quoted in a configuration never comes into one.
func TestNewRefusesADirectory(t *testing.T) {
	t.Parallel()
	for _, dir := range []string{"", "run", "/run/a b", "/run;", "/run/$x", "/run\n"} {
		c := config()
		c.Dir = dir
		assert.Panics(t, func() { nginx.New(c) }, dir)
	}
}

func TestConfigMaps(t *testing.T) {
	t.Parallel()
	c := config()
	c.Labels = map[string]string{"nginx-stream.dev/class": "edge"}
	p := nginx.New(c)
	names := p.ConfigMapNames()
	require.Len(t, names, 17)
	assert.Equal(t, []string{"edge-stream-nginx", "edge-stream-nginx-00", "edge-stream-nginx-15"}, []string{names[0], names[1], names[16]})
	children := observed(t, p.ConfigMaps(many(100)))
	require.Len(t, children, 17)
	for i := range children {
		assert.Equal(t, names[i], children[i].Name)
		assert.Equal(t, "edge", children[i].Namespace)
		assert.Equal(t, c.Labels, children[i].Labels)
	}
	assert.Len(t, p.ConfigMaps(nil), 1, "without a listener there is nginx.conf")
}

func TestProblems(t *testing.T) {
	t.Parallel()
	p := nginx.New(config())
	table := many(100)
	immutable := true
	list := observed(t, p.ConfigMaps(table))
	list[3].Immutable = &immutable
	stranger := corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "edge", Name: "kube-root-ca.crt"}, Immutable: &immutable}
	elsewhere := *list[3].DeepCopy()
	elsewhere.Namespace = "other"
	o := p.Observe(append(list, stranger, elsewhere))
	assert.Equal(t, []string{"ConfigMap edge/edge-stream-nginx-02 is immutable, so that its ports cannot change; let it be made anew without immutable."}, o.Problems)
	assert.True(t, o.Live(&table[0]))

	// One that is being deleted serves nobody for long.
	now := metav1.Now()
	list[3].DeletionTimestamp = &now
	assert.False(t, p.Observe(list).Live(&table[0]))
}
