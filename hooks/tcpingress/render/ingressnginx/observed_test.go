package ingressnginx

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

func TestObserve(t *testing.T) {
	p := New(config(nil))
	o := p.Observe(configMaps(t,
		`{metadata: {name: tcp-services, namespace: ingress-nginx}, data: {"22": "git/shell:8222", "443": "a/b:1", "9000": "a/b:2:PROXY", "09001": "a/b:3", "-1": "a/b:4", "70000": "a/b:5", abc: "a/b:6", "7": "broken", "8": "a/b:0"}}`,
		`{metadata: {name: udp-services, namespace: ingress-nginx}, data: {"22": "git/shell:8223:PROXY"}, binaryData: {"53": eA==, x: eA==}}`))
	assert.Equal(t, map[l4.Key]l4.Entry{
		{Protocol: l4.TCP, Port: 22}:   {Backend: l4.Backend{Namespace: "git", Service: "shell", Port: 8222}},
		{Protocol: l4.TCP, Port: 9000}: {Backend: backend(2), AcceptProxy: true},
		{Protocol: l4.UDP, Port: 22}:   {Backend: l4.Backend{Namespace: "git", Service: "shell", Port: 8223}},
	}, o.Entries)
	assert.Equal(t, map[l4.Key]string{
		{Protocol: l4.TCP, Port: 9001}: `The key "09001" in ConfigMap ingress-nginx/tcp-services stands for the same port; remove it there, or choose another port.`,
		{Protocol: l4.UDP, Port: 53}:   `The key "53" is in binaryData of ConfigMap ingress-nginx/udp-services; remove it there, or choose another port.`,
	}, o.Taken)
	assert.Empty(t, o.Problems)
}

func TestObserveImmutable(t *testing.T) {
	o := New(config(nil)).Observe(configMaps(t, `{metadata: {name: tcp-services, namespace: ingress-nginx}, immutable: true}`))
	assert.Equal(t, []string{"ConfigMap ingress-nginx/tcp-services is immutable, so that its ports cannot change; let it be made anew without immutable."}, o.Problems)
}

func TestLive(t *testing.T) {
	const meta = `metadata: {name: tcp-services, namespace: ingress-nginx}`
	one := tcp(22, "git", "shell", 8222)
	span := l4.Listener{Protocol: l4.TCP, Port: 5, EndPort: 6, Backend: backend(0)}
	tests := map[string]struct {
		observed string
		listener l4.Listener
		want     bool
	}{
		"the same value":             {`{` + meta + `, data: {"22": "git/shell:8222"}}`, one, true},
		"another value":              {`{` + meta + `, data: {"22": "git/shell:8223"}}`, one, false},
		"another spelling of it":     {`{` + meta + `, data: {"22": "git/shell:08222"}}`, one, false},
		"no value":                   {`{` + meta + `}`, one, false},
		"the other protocol":         {`{` + meta + `, data: {"22": "git/shell:8222"}}`, udp(22, "git", "shell", 8222), false},
		"another ConfigMap":          {`{metadata: {name: tcp-services, namespace: other}, data: {"22": "git/shell:8222"}}`, one, false},
		"a ConfigMap that goes":      {`{metadata: {name: tcp-services, namespace: ingress-nginx, deletionTimestamp: "2026-01-01T00:00:00Z"}, data: {"22": "git/shell:8222"}}`, one, false},
		"a second key of the number": {`{` + meta + `, data: {"22": "git/shell:8222", "022": "x/y:1"}}`, one, false},
		"all of a range":             {`{` + meta + `, data: {"5": "a/b:5", "6": "a/b:6"}}`, span, true},
		"a part of a range":          {`{` + meta + `, data: {"5": "a/b:5", "6": "a/b:5"}}`, span, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, New(config(nil)).Observe(configMaps(t, tc.observed)).Live(&tc.listener))
		})
	}
}

func TestForeign(t *testing.T) {
	p := New(config(nil))
	o := p.Observe(configMaps(t,
		`{metadata: {name: tcp-services, namespace: ingress-nginx, annotations: {metacontroller.k8s.io/last-applied-configuration: '{"data":{"6379":"c/d:2"}}'}},
		data: {"22": "a/b:1", "5": "a/b:5", "6": "a/b:6", "6379": "c/d:2", "9999": "x/y:1", "10000": "x/y:1", "077": "x/y:1", "70000": "x/y:1", abc: x}}`,
		`{metadata: {name: udp-services, namespace: ingress-nginx}, data: {"22": "a/b:1"}}`))
	table := l4.Table{{Protocol: l4.TCP, Port: 4, EndPort: 6}}
	previous := func(k l4.Key) bool { return k == l4.Key{Protocol: l4.TCP, Port: 22} }
	assert.Equal(t, []string{
		"key 70000 of ConfigMap ingress-nginx/tcp-services",
		"key abc of ConfigMap ingress-nginx/tcp-services",
		"key 077 of ConfigMap ingress-nginx/tcp-services",
		"key 9999 of ConfigMap ingress-nginx/tcp-services",
		"key 10000 of ConfigMap ingress-nginx/tcp-services",
		"key 22 of ConfigMap ingress-nginx/udp-services",
	}, o.Foreign(table, previous))
}

func TestForeignAfterALostRecord(t *testing.T) { // C70
	o := New(config(nil)).Observe(configMaps(t, `{metadata: {name: tcp-services, namespace: ingress-nginx}, data: {"6379": "c/d:2", "9999": "x/y:1"}}`))
	none := func(l4.Key) bool { return false }
	assert.Equal(t, []string{
		"key 6379 of ConfigMap ingress-nginx/tcp-services",
		"key 9999 of ConfigMap ingress-nginx/tcp-services",
	}, o.Foreign(l4.Table{tcp(6380, "c", "d", 2)}, none))
	assert.Equal(t, []string{"key 6379 of ConfigMap ingress-nginx/tcp-services"}, o.Foreign(l4.Table{tcp(9999, "c", "d", 2)}, none), "a claim wins")
}
