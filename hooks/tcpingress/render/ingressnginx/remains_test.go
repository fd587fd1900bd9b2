package ingressnginx

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

func TestWhatRemains(t *testing.T) {
	const (
		meta = `name: tcp-services, namespace: ingress-nginx`
		mark = `annotations: {metacontroller.k8s.io/last-applied-configuration: '{"metadata":{"labels":{"nginx-stream.dev/class":"nginx"}},"data":{"22":"a/b:1"}}'}`
	)
	tests := map[string]struct {
		observed string
		inUse    bool
		remains  string
	}{
		"a key of ours":            {`{metadata: {` + meta + `, ` + mark + `}, data: {"22": "a/b:1"}}`, true, `null`},
		"one of ours, one foreign": {`{metadata: {` + meta + `, ` + mark + `}, data: {"22": "a/b:1", "9": "x/y:1"}}`, true, `[{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"tcp-services","namespace":"ingress-nginx","labels":{"nginx-stream.dev/class":"nginx"}},"data":{}}]`},
		"ours is gone":             {`{metadata: {` + meta + `, ` + mark + `}, data: {"9": "x/y:1"}}`, false, `[{"kind":"ConfigMap","apiVersion":"v1","metadata":{"name":"tcp-services","namespace":"ingress-nginx","labels":{"nginx-stream.dev/class":"nginx"}},"data":{}}]`},
		"empty":                    {`{metadata: {` + meta + `, ` + mark + `}}`, false, `null`},
		"never written by us":      {`{metadata: {` + meta + `}, data: {"9": "x/y:1"}}`, false, `null`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := New(config(nil))
			o := p.Observe(configMaps(t, tc.observed))
			assert.Equal(t, tc.inUse, o.InUse())
			assert.True(t, o.Exists(l4.TCP))
			assert.False(t, o.Exists(l4.UDP))
			got, err := json.Marshal(p.Remains(o))
			require.NoError(t, err)
			assert.JSONEq(t, tc.remains, string(got))
		})
	}
}
