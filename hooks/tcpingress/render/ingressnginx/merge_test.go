package ingressnginx

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// sync plays one sync: what is rendered against the observed ConfigMaps, merged
// into them.
func sync(t testing.TB, p *Provider, table l4.Table, observed []corev1.ConfigMap) []corev1.ConfigMap {
	t.Helper()
	byName := map[string]*corev1.ConfigMap{}
	for i := range observed {
		byName[observed[i].Name] = &observed[i]
	}
	var merged []corev1.ConfigMap
	for _, child := range p.ConfigMaps(table, p.Observe(observed)) {
		desired, err := simulate.JSONObject(child)
		require.NoError(t, err)
		var live map[string]any
		if cm := byName[*child.Metadata.Name]; cm == nil {
			live, err = simulate.Create(desired)
		} else {
			before, jsonErr := simulate.JSONObject(cm)
			require.NoError(t, jsonErr)
			live, err = simulate.Apply(before, desired)
		}
		require.NoError(t, err)
		var cm corev1.ConfigMap
		require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(live, &cm))
		merged = append(merged, cm)
	}
	return merged
}

// applied gives the ConfigMaps as the first sync makes them.
func applied(t testing.TB, p *Provider, table l4.Table) []corev1.ConfigMap {
	t.Helper()
	return sync(t, p, table, nil)
}

func TestMergeSettles(t *testing.T) {
	var thousand l4.Table
	for i := range 1000 {
		thousand = append(thousand, tcp(int32(20000+i), fmt.Sprintf("namespace-%d", i), "service", 6379))
	}
	foreign := `{metadata: {name: tcp-services, namespace: ingress-nginx, labels: {controller-uid: u1}}, data: {"9999": "x/y:1", "09998": "x/y:1"}}`
	tests := map[string]struct {
		table    l4.Table
		observed []string
	}{
		"no listener":                      {},
		"one listener":                     {table: l4.Table{tcp(22, "a", "b", 1)}},
		"a thousand listeners":             {table: thousand},
		"53/TCP with 53/UDP":               {table: l4.Table{tcp(53, "a", "b", 53), udp(53, "a", "b", 53)}},
		"no listener, keys of others":      {observed: []string{foreign}},
		"a listener beside keys of others": {table: l4.Table{tcp(22, "a", "b", 1)}, observed: []string{foreign}},
		"no listener, no data":             {observed: []string{`{metadata: {name: tcp-services, namespace: ingress-nginx}}`}},
		"no listener, lost record":         {observed: []string{`{metadata: {name: tcp-services, namespace: ingress-nginx}, data: {"22": "a/b:1"}}`}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			p := New(config(nil))
			once := sync(t, p, tc.table, configMaps(t, tc.observed...))
			assert.Equal(t, once, sync(t, p, tc.table, once), "the second sync writes nothing")
		})
	}
}

func TestMergeTakesOnlyWhatIsOurs(t *testing.T) {
	p := New(config(nil))
	list := configMaps(t, `{metadata: {name: tcp-services, namespace: ingress-nginx}, data: {"9999": "x/y:1"}}`)
	list = sync(t, p, l4.Table{tcp(22, "a", "b", 1)}, list)
	assert.Equal(t, map[string]string{"22": "a/b:1", "9999": "x/y:1"}, list[0].Data)
	list = sync(t, p, l4.Table{tcp(23, "a", "b", 1)}, list)
	assert.Equal(t, map[string]string{"23": "a/b:1", "9999": "x/y:1"}, list[0].Data)
	list = sync(t, p, nil, list)
	assert.Equal(t, map[string]string{"9999": "x/y:1"}, list[0].Data)
	assert.Equal(t, list, sync(t, p, nil, list))
}

func TestMergeEmptiesOurOwn(t *testing.T) {
	p := New(config(nil))
	list := sync(t, p, l4.Table{tcp(22, "a", "b", 1)}, nil)
	list = sync(t, p, nil, list)
	assert.Empty(t, list[0].Data)
	assert.Equal(t, list, sync(t, p, nil, list))
}

func TestMergeGivesOneTenantsPortsBackUntouched(t *testing.T) { // C110
	p := New(config(nil))
	first := l4.Table{tcp(20465, "t1-mail", "mail", 465), tcp(20587, "t1-mail", "mail", 587), tcp(20588, "t1-mail", "mail", 588), tcp(20993, "t1-mail", "mail", 993), tcp(20994, "t1-mail", "mail", 994)}
	both := append(append(l4.Table{}, first...), tcp(21465, "t2-mail", "mail", 465), tcp(21993, "t2-mail", "mail", 993))
	assert.Equal(t, sync(t, p, first, nil), sync(t, p, first, sync(t, p, both, nil)))
}
