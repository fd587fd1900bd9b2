package ingressnginx

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

func tcp(port int32, namespace, service string, backend int32) l4.Listener {
	return l4.Listener{Protocol: l4.TCP, Port: port, Backend: l4.Backend{Namespace: namespace, Service: service, Port: backend}}
}

func udp(port int32, namespace, service string, backend int32) l4.Listener {
	l := tcp(port, namespace, service, backend)
	l.Protocol = l4.UDP
	return l
}

// configMaps reads ConfigMaps as a request carries them.
func configMaps(t testing.TB, texts ...string) []corev1.ConfigMap {
	t.Helper()
	var list []corev1.ConfigMap
	for _, text := range texts {
		var cm corev1.ConfigMap
		require.NoError(t, yaml.UnmarshalStrict([]byte(text), &cm))
		list = append(list, cm)
	}
	return list
}

func TestConfigMaps(t *testing.T) {
	const (
		tcpHead = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"tcp-services","namespace":"ingress-nginx","labels":{"nginx-stream.dev/class":"nginx"}}`
		udpHead = `{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"udp-services","namespace":"ingress-nginx","labels":{"nginx-stream.dev/class":"nginx"}}`
		meta    = `metadata: {name: tcp-services, namespace: ingress-nginx`
	)
	tests := map[string]struct {
		config   Config
		table    l4.Table
		observed []string
		want     string
	}{
		"without listeners both are there and say nothing (C107)": {
			config: config(nil), want: `[` + tcpHead + `},` + udpHead + `}]`,
		},
		"a number of both protocols is in both (C04)": {
			config: config(nil), table: l4.Table{tcp(5060, "voip", "sip", 5060), udp(5060, "voip", "sip", 5060)},
			want: `[` + tcpHead + `,"data":{"5060":"voip/sip:5060"}},` + udpHead + `,"data":{"5060":"voip/sip:5060"}}]`,
		},
		"low numbers are legal (C07)": {
			config: config(nil), table: l4.Table{tcp(389, "dir", "ldap", 389)},
			want: `[` + tcpHead + `,"data":{"389":"dir/ldap:389"}},` + udpHead + `}]`,
		},
		"external and backend numbers are not mixed up (C84, C104)": {
			config: config(nil), table: l4.Table{tcp(22, "git", "shell", 8222), tcp(9306, "default", "my-mysql", 3306)},
			want: `[` + tcpHead + `,"data":{"22":"git/shell:8222","9306":"default/my-mysql:3306"}},` + udpHead + `}]`,
		},
		"Services called tcp and udp are plain names (C113)": {
			config: config(nil),
			table: l4.Table{
				tcp(1883, "kube-system", "tcp", 1883), tcp(5684, "kube-system", "tcp", 5684), tcp(8883, "kube-system", "tcp", 8883),
				udp(5683, "kube-system", "udp", 5683), udp(5883, "kube-system", "udp", 5883),
			},
			want: `[` + tcpHead + `,"data":{"1883":"kube-system/tcp:1883","5684":"kube-system/tcp:5684","8883":"kube-system/tcp:8883"}},` +
				udpHead + `,"data":{"5683":"kube-system/udp:5683","5883":"kube-system/udp:5883"}}]`,
		},
		"a range becomes a key per port (C112)": {
			config: config(nil),
			table:  l4.Table{tcp(2222, "cf", "ssh-proxy", 2222), {Protocol: l4.TCP, Port: 20000, EndPort: 20002, Backend: l4.Backend{Namespace: "cf", Service: "tcp-router"}}},
			want:   `[` + tcpHead + `,"data":{"20000":"cf/tcp-router:20000","20001":"cf/tcp-router:20001","20002":"cf/tcp-router:20002","2222":"cf/ssh-proxy:2222"}},` + udpHead + `}]`,
		},
		"a UDP ConfigMap alone (C114)": {
			config: config(func(c *Config) { c.TCPConfigMap = "" }), table: l4.Table{tcp(1, "a", "b", 1), udp(9987, "voice", "server", 9987)},
			want: `[` + udpHead + `,"data":{"9987":"voice/server:9987"}}]`,
		},
		"they are sorted by name": {
			config: config(func(c *Config) { c.TCPConfigMap, c.UDPConfigMap, c.Labels = "z", "y", nil }),
			want: `[{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"y","namespace":"ingress-nginx"}},` +
				`{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"z","namespace":"ingress-nginx"}}]`,
		},
		"keys of others need data to stay": {
			config: config(nil), observed: []string{`{` + meta + `}, data: {"9999": "x/y:1"}}`},
			want: `[` + tcpHead + `,"data":{}},` + udpHead + `}]`,
		},
		"keys of ours go with data": {
			config:   config(nil),
			observed: []string{`{` + meta + `, annotations: {metacontroller.k8s.io/last-applied-configuration: '{"data":{"22":"a/b:1"}}'}}, data: {"22": "a/b:1"}}`},
			want:     `[` + tcpHead + `},` + udpHead + `}]`,
		},
		"a number whose key has another spelling is left out (C31)": {
			config: config(nil), table: l4.Table{tcp(9000, "b", "y", 2), tcp(9001, "b", "y", 2)},
			observed: []string{`{` + meta + `}, data: {"09000": "a/x:1"}}`},
			want:     `[` + tcpHead + `,"data":{"9001":"b/y:2"}},` + udpHead + `}]`,
		},
		"a number whose key is in binaryData is left out": {
			config: config(nil), table: l4.Table{tcp(9000, "b", "y", 2)},
			observed: []string{`{` + meta + `}, binaryData: {"9000": eA==}}`},
			want:     `[` + tcpHead + `},` + udpHead + `}]`,
		},
		"an immutable ConfigMap stays as it is": {
			config: config(nil), table: l4.Table{tcp(23, "b", "y", 2)},
			observed: []string{`{` + meta + `, annotations: {metacontroller.k8s.io/last-applied-configuration: '{"data":{"22":"a/b:1"}}'}}, immutable: true, data: {"22": "a/b:1", "9999": "x/y:1"}}`},
			want:     `[` + tcpHead + `,"data":{"22":"a/b:1"}},` + udpHead + `}]`,
		},
		"an immutable ConfigMap of others stays as it is": {
			config: config(nil), table: l4.Table{tcp(23, "b", "y", 2)},
			observed: []string{`{` + meta + `}, immutable: true, data: {"9999": "x/y:1"}}`},
			want:     `[` + tcpHead + `,"data":{}},` + udpHead + `}]`,
		},
		"other ConfigMaps do not matter": {
			config: config(nil), observed: []string{`{metadata: {name: tcp-services, namespace: other}, data: {"9999": "x/y:1"}}`, `{metadata: {name: other, namespace: ingress-nginx}, data: {"9999": "x/y:1"}}`},
			want: `[` + tcpHead + `},` + udpHead + `}]`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := New(tc.config)
			children := p.ConfigMaps(tc.table, p.Observe(configMaps(t, tc.observed...)))
			got, err := json.Marshal(children)
			require.NoError(t, err)
			require.JSONEq(t, tc.want, string(got))
			encoded, err := metacontroller.Encode(children)
			require.NoError(t, err)
			assert.Equal(t, string(got), string(encoded), "what the server encodes")
		})
	}
}

// TestCharges compares what is promised with the JSON that is written.
func TestCharges(t *testing.T) {
	p := New(config(nil))
	table := l4.Table{
		tcp(22, "git", "shell", 8222),
		{Protocol: l4.TCP, Port: 80, AcceptProxy: true, SendProxy: l4.SendV1, Backend: named("web")},
		{Protocol: l4.TCP, Port: 998, EndPort: 1002, Backend: backend(0)},
		udp(53, "dns", "server", 53),
	}
	spent := map[string]int{}
	for i := range table {
		for _, charge := range p.Charges(&table[i]) {
			spent[charge.Child] += charge.Bytes
		}
	}
	size := map[string]int{}
	for _, child := range p.ConfigMaps(table, p.Observe(nil)) {
		encoded, err := json.Marshal(child)
		require.NoError(t, err)
		size[fmt.Sprintf("ConfigMap %s/%s", *child.Metadata.Namespace, *child.Metadata.Name)] = len(encoded)
	}
	require.Len(t, p.Budgets(), 2)
	for _, b := range p.Budgets() {
		assert.Equal(t, budget-b.Bytes+spent[b.Child]-1, size[b.Child], "%s: the first key has no comma", b.Child)
	}
}

func BenchmarkConfigMaps(b *testing.B) {
	var table l4.Table
	for i := range 1000 {
		table = append(table, tcp(int32(20000+i), fmt.Sprintf("namespace-%d", i), "service", 6379))
	}
	p := New(config(nil))
	observed := p.Observe(applied(b, p, table))
	b.ReportAllocs()
	for b.Loop() {
		if children := p.ConfigMaps(table, observed); len(children[0].Data) != 1000 {
			b.Fatal("a listener is missing")
		}
	}
}

func BenchmarkObserve(b *testing.B) {
	var table l4.Table
	for i := range 1000 {
		table = append(table, tcp(int32(20000+i), fmt.Sprintf("namespace-%d", i), "service", 6379))
	}
	p := New(config(nil))
	list := applied(b, p, table)
	b.ReportAllocs()
	for b.Loop() {
		o := p.Observe(list)
		for i := range table {
			if !o.Live(&table[i]) {
				b.Fatal("a listener is not live")
			}
		}
	}
}
