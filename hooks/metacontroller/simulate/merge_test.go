package simulate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

func TestMerge(t *testing.T) {
	cases := map[string]struct {
		observed, last, desired, want string
	}{
		"a field that is not desired any more goes, others stay": {
			observed: `{data: {"6379": a, "9999": hand}}`,
			last:     `{data: {"6379": a}}`,
			desired:  `{data: {"6380": b}}`,
			want:     `{data: {"6380": b, "9999": hand}}`,
		},
		"without a memory of what was applied nothing goes": {
			observed: `{data: {"6379": "c/d:2", "9999": "x/y:1"}}`,
			last:     `{}`,
			desired:  `{data: {"6380": "c/d:2"}}`,
			want:     `{data: {"6379": "c/d:2", "6380": "c/d:2", "9999": "x/y:1"}}`,
		},
		"an object that was desired and is not any more goes with all its fields": {
			observed: `{data: {"6379": a, "9999": hand}, kind: ConfigMap}`,
			last:     `{data: {"6379": a}, kind: ConfigMap}`,
			desired:  `{kind: ConfigMap}`,
			want:     `{kind: ConfigMap}`,
		},
		"an empty object against none is a difference": {
			observed: `{kind: ConfigMap}`,
			last:     `{kind: ConfigMap}`,
			desired:  `{kind: ConfigMap, data: {}}`,
			want:     `{kind: ConfigMap, data: {}}`,
		},
		"ports are merged by number, node ports survive": {
			observed: `{ports: [{name: tcp-8080, port: 8080, protocol: TCP, targetPort: 8080, nodePort: 32808}]}`,
			last:     `{ports: [{name: tcp-8080, port: 8080, protocol: TCP, targetPort: 8080}]}`,
			desired: `{ports: [{name: tcp-5432, port: 5432, protocol: TCP, targetPort: 5432},
				{name: tcp-8080, port: 8080, protocol: TCP, targetPort: 8080}]}`,
			want: `{ports: [{name: tcp-8080, port: 8080, protocol: TCP, targetPort: 8080, nodePort: 32808},
				{name: tcp-5432, port: 5432, protocol: TCP, targetPort: 5432}]}`,
		},
		"an empty list of ports takes ours and leaves the others": {
			observed: `{ports: [{name: http, port: 80, nodePort: 30080}, {name: tcp-22, port: 22}]}`,
			last:     `{ports: [{name: tcp-22, port: 22}]}`,
			desired:  `{ports: []}`,
			want:     `{ports: [{name: http, port: 80, nodePort: 30080}]}`,
		},
		"one number for two protocols becomes one port twice": {
			observed: `{ports: [{name: tcp-53, port: 53, protocol: TCP, nodePort: 31000}, {name: udp-53, port: 53, protocol: UDP, nodePort: 31001}]}`,
			last:     `{ports: [{name: tcp-53, port: 53, protocol: TCP}, {name: udp-53, port: 53, protocol: UDP}]}`,
			desired:  `{ports: [{name: tcp-53, port: 53, protocol: TCP}, {name: udp-53, port: 53, protocol: UDP}]}`,
			want:     `{ports: [{name: udp-53, port: 53, protocol: UDP, nodePort: 31001}, {name: udp-53, port: 53, protocol: UDP, nodePort: 31001}]}`,
		},
		"containerPort goes before name": {
			observed: `{ports: [{name: a, containerPort: 1, hostPort: 7}]}`,
			last:     `{}`,
			desired:  `{ports: [{name: b, containerPort: 1}]}`,
			want:     `{ports: [{name: b, containerPort: 1, hostPort: 7}]}`,
		},
		"mountPath goes before name": {
			observed: `{mounts: [{name: a, mountPath: /x, readOnly: true}]}`,
			last:     `{}`,
			desired:  `{mounts: [{name: b, mountPath: /x}]}`,
			want:     `{mounts: [{name: b, mountPath: /x, readOnly: true}]}`,
		},
		"ip goes before path": {
			observed: `{list: [{ip: 1.2.3.4, path: /a, x: 1}]}`,
			last:     `{}`,
			desired:  `{list: [{ip: 1.2.3.4, path: /b}]}`,
			want:     `{list: [{ip: 1.2.3.4, path: /b, x: 1}]}`,
		},
		"an item without the key makes it no key": {
			observed: `{list: [{name: a, x: 1}, {y: 1}]}`,
			last:     `{}`,
			desired:  `{list: [{name: a}]}`,
			want:     `{list: [{name: a}]}`,
		},
		"a list of scalars is replaced": {
			observed: `{list: [a, b]}`,
			last:     `{list: [a]}`,
			desired:  `{list: [c]}`,
			want:     `{list: [c]}`,
		},
		"an item that was desired and is not any more goes": {
			observed: `{list: [{name: a}, {name: b}, {name: hand}]}`,
			last:     `{list: [{name: a}, {name: b}]}`,
			desired:  `{list: [{name: b}]}`,
			want:     `{list: [{name: b}, {name: hand}]}`,
		},
		"a scalar becomes what is desired": {
			observed: `{spec: {type: ClusterIP}}`,
			last:     `{}`,
			desired:  `{spec: {type: LoadBalancer}}`,
			want:     `{spec: {type: LoadBalancer}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			observed := object(t, tc.observed)
			got, err := simulate.Merge(observed, object(t, tc.last), object(t, tc.desired))
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(object(t, tc.want), got))
			assert.Empty(t, cmp.Diff(object(t, tc.observed), observed), "an argument was changed")
		})
	}
}

func TestMergeRefusesAnotherShape(t *testing.T) {
	cases := map[string]struct{ observed, last, desired, want string }{
		"a list for an object": {
			observed: `{data: {a: b}}`, last: `{}`, desired: `{data: [a]}`,
			want: "merging: desired value of .data is a []interface {} and not a map[string]interface {} as the observed one",
		},
		"an object for a list": {
			observed: `{list: [a]}`, last: `{list: {a: b}}`, desired: `{list: [b]}`,
			want: "merging: last applied value of .list is a map[string]interface {} and not a []interface {} as the observed one",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := simulate.Merge(object(t, tc.observed), object(t, tc.last), object(t, tc.desired))
			assert.EqualError(t, err, tc.want)
		})
	}
}

func TestApplySettles(t *testing.T) {
	desired := object(t, `
apiVersion: v1
kind: Service
metadata: {namespace: ingress-nginx, name: nginx-stream-tcp, labels: {controller-uid: u}}
spec: {type: LoadBalancer, ports: [{name: tcp-53, port: 53, protocol: TCP, targetPort: 53}]}`)
	created, err := simulate.Create(desired)
	require.NoError(t, err)
	// What an API server and a cloud would add.
	observed := object(t, string(yamlOf(t, created)))
	observed["status"] = object(t, `{loadBalancer: {ingress: [{ip: 192.0.2.1}]}}`)
	require.NoError(t, unstructured.SetNestedField(observed, "x", "metadata", "uid"))
	require.NoError(t, unstructured.SetNestedField(observed, "10.0.0.1", "spec", "clusterIP"))

	same, err := simulate.Apply(observed, desired)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(observed, same), "an apply of what is there already changed something")

	unstructured.RemoveNestedField(desired, "metadata", "labels")
	desired["status"] = object(t, `{loadBalancer: {}}`)
	changed, err := simulate.Apply(observed, desired)
	require.NoError(t, err)
	assert.Equal(t, observed["status"], changed["status"], "a child's status is not ours")
	assert.NotContains(t, changed["metadata"], "labels")
	again, err := simulate.Apply(changed, desired)
	require.NoError(t, err)
	assert.Empty(t, cmp.Diff(changed, again))
}

func TestApplyRefusesABrokenAnnotation(t *testing.T) {
	observed := object(t, `{metadata: {name: a, annotations: {metacontroller.k8s.io/last-applied-configuration: "{"}}}`)
	_, err := simulate.Apply(observed, object(t, `{metadata: {name: a}}`))
	assert.ErrorContains(t, err, "decoding annotation metacontroller.k8s.io/last-applied-configuration: ")
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	var value any
	require.NoError(t, yaml.Unmarshal([]byte(text), &value))
	decoded, err := simulate.JSONObject(value)
	require.NoError(t, err)
	return decoded
}

func yamlOf(t *testing.T, value any) []byte {
	t.Helper()
	text, err := yaml.Marshal(value)
	require.NoError(t, err)
	return text
}
