package simulate_test

import (
	"encoding/json"
	"errors"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// A Box (namespaced) wants a ConfigMap of its name with what is in its spec, and
// tells in its status how many Services of its namespace's color it sees. Services
// annotated with "box" get a Box.
type request struct {
	Parent, Object *unstructured.Unstructured
	Children       map[string]map[string]*unstructured.Unstructured
	Related        map[string]map[string]*unstructured.Unstructured
}

func boxHooks() []metacontroller.Hook {
	return []metacontroller.Hook{
		{Path: "/box/customize", Serve: func([]byte, time.Time) (any, error) {
			return metacontroller.CustomizeResponse{RelatedResources: []metacontroller.RelatedResourceRule{
				{APIVersion: "v1", Resource: "services", NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"color": "red"}}},
				{APIVersion: "v1", Resource: "pods", LabelSelector: &metav1.LabelSelector{}},
			}}, nil
		}},
		{Path: "/box/sync", Serve: func(body []byte, _ time.Time) (any, error) {
			var r request
			if err := json.Unmarshal(body, &r); err != nil {
				return nil, err
			}
			if r.Related["Pod.v1"] == nil || r.Children["ConfigMap.v1"] == nil {
				return nil, errors.New("a group is missing")
			}
			response := metacontroller.CompositeResponse{Status: map[string]any{"services": len(r.Related["Service.v1"])}}
			if data, found, _ := unstructured.NestedMap(r.Parent.Object, "spec", "data"); found {
				response.Children = []any{map[string]any{
					"apiVersion": "v1", "kind": "ConfigMap",
					"metadata": map[string]any{"name": r.Parent.GetName()},
					"data":     data,
				}}
			}
			return response, nil
		}},
		{Path: "/boxer/sync", Serve: func(body []byte, _ time.Time) (any, error) {
			var r request
			if err := json.Unmarshal(body, &r); err != nil {
				return nil, err
			}
			seen := "yes"
			return metacontroller.DecoratorResponse{
				Annotations: map[string]*string{"seen": &seen, "error": nil},
				Attachments: []any{map[string]any{
					"apiVersion": "example.org/v1", "kind": "Box",
					"metadata": map[string]any{"name": r.Object.GetName()},
					"spec":     map[string]any{"data": map[string]any{"from": r.Object.GetAnnotations()["box"]}},
				}},
			}, nil
		}},
	}
}

func TestSettle(t *testing.T) {
	const box = `{apiVersion: example.org/v1, kind: Box, metadata: {namespace: a, name: one, uid: u1}, spec: {data: {k: v}}}`
	cases := map[string]struct {
		objects []string
		writes  []string
	}{
		"a child is made, then its parent is quiet": {
			objects: []string{box},
			writes:  []string{"create v1 ConfigMap a/one", "status of example.org/v1 Box a/one"},
		},
		"a child that is not desired is deleted": {
			objects: []string{
				`{apiVersion: example.org/v1, kind: Box, metadata: {namespace: a, name: one, uid: u1}, status: {observedGeneration: 1, services: 0}}`,
				`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: one, labels: {controller-uid: u1}, ownerReferences: [{apiVersion: example.org/v1, kind: Box, name: one, uid: u1, controller: true}]}}`,
			},
			writes: []string{"delete v1 ConfigMap a/one"},
		},
		"an orphan with the label is adopted and updated": {
			objects: []string{box, `{apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: one, labels: {controller-uid: u1}}, data: {hand: made}}`},
			writes:  []string{"adopt v1 ConfigMap a/one", "update v1 ConfigMap a/one", "status of example.org/v1 Box a/one"},
		},
		"an object of that name without the label is never seen": {
			objects: []string{box, `{apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: one}, data: {hand: made}}`},
			writes:  []string{"status of example.org/v1 Box a/one"},
		},
		"an own child without the label is released": {
			objects: []string{box, `{apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: one, ownerReferences: [{apiVersion: example.org/v1, kind: Box, name: one, uid: u1, controller: true}]}}`},
			writes:  []string{"release v1 ConfigMap a/one", "status of example.org/v1 Box a/one"},
		},
		"a parent that goes gets its status only": {
			objects: []string{`{apiVersion: example.org/v1, kind: Box, metadata: {namespace: a, name: one, deletionTimestamp: "2024-01-01T00:00:00Z"}, spec: {data: {k: v}}}`},
			writes:  []string{"status of example.org/v1 Box a/one"},
		},
		"a decorated object gets its annotation and its attachment, which is a parent": {
			objects: []string{`{apiVersion: v1, kind: Service, metadata: {namespace: a, name: s, annotations: {box: x, error: old}}, spec: {ports: [{port: 1}]}}`},
			writes: []string{
				"update v1 Service a/s", "create example.org/v1 Box a/s",
				"create v1 ConfigMap a/s", "status of example.org/v1 Box a/s",
			},
		},
		"an object that the annotation selector leaves out is left alone": {
			objects: []string{`{apiVersion: v1, kind: Service, metadata: {namespace: a, name: s}, spec: {ports: [{port: 1}]}}`},
			writes:  []string{},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, boxHooks(), nil)
			put(t, c, tc.objects...)
			rounds, err := c.Settle()
			require.NoError(t, err)
			assert.LessOrEqual(t, rounds, 2)
			assert.Empty(t, cmp.Diff(tc.writes, append([]string{}, c.Writes()...)))
			_, err = c.Settle()
			require.NoError(t, err)
			assert.Len(t, c.Writes(), len(tc.writes), "a settled cluster was written to")
		})
	}
}

func TestSettleIsIndependentOfTheOrder(t *testing.T) {
	objects := []string{
		`{apiVersion: example.org/v1, kind: Box, metadata: {namespace: b, name: one}, spec: {data: {k: v}}}`,
		`{apiVersion: example.org/v1, kind: Box, metadata: {namespace: a, name: two}, spec: {data: {k: v}}}`,
		`{apiVersion: v1, kind: Service, metadata: {namespace: a, name: s, annotations: {box: x}}, spec: {ports: [{port: 1}]}}`,
		`{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {color: red}}}`,
	}
	var first []simulate.Entry
	for range objects {
		objects = append(objects[1:], objects[0])
		c := newCluster(t, boxHooks(), nil)
		put(t, c, objects...)
		_, err := c.Settle()
		require.NoError(t, err)
		if first == nil {
			first = c.Entries()
		}
		assert.Empty(t, cmp.Diff(first, c.Entries()))
	}
	status, _, _ := unstructured.NestedMap(first[5].Object.Object, "status")
	assert.Equal(t, map[string]any{"services": int64(1), "observedGeneration": int64(1)}, status)
}

func TestRequestsLookLikeMetacontrollers(t *testing.T) {
	requests := map[string]string{}
	c := newCluster(t, boxHooks(), func(path string, request, _ []byte) {
		if requests[path] == "" {
			requests[path] = string(request)
		}
	})
	put(t, c,
		`{apiVersion: v1, kind: Namespace, metadata: {name: b, labels: {color: red}}}`,
		`{apiVersion: v1, kind: Service, metadata: {namespace: b, name: s, uid: u2}, spec: {ports: [{port: 1}]}}`,
		`{apiVersion: example.org/v1, kind: Box, metadata: {namespace: a, name: one, uid: u1, generation: 3}, spec: {data: {k: v}}}`,
		`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: one, uid: u3, labels: {controller-uid: u1}}}`)
	_, err := c.Settle()
	require.NoError(t, err)

	customize, sync := decode(t, requests["/box/customize"]), decode(t, requests["/box/sync"])
	assert.Equal(t, []string{"controller", "parent"}, names(customize))
	assert.Equal(t, []string{"children", "controller", "finalizing", "parent", "related"}, names(sync))
	assert.Equal(t, false, sync["finalizing"])
	assert.Equal(t, []string{"Pod.v1", "Service.v1"}, names(below(t, sync, "related")))
	assert.Empty(t, below(t, sync, "related", "Pod.v1"))
	assert.Equal(t, []string{"b/s"}, names(below(t, sync, "related", "Service.v1")))
	assert.Equal(t, []string{"a/one"}, names(below(t, sync, "children", "ConfigMap.v1")))
	assert.Equal(t, map[string]any{
		"apiVersion": "example.org/v1", "kind": "Box", "spec": map[string]any{"data": map[string]any{"k": "v"}},
		"metadata": map[string]any{"namespace": "a", "name": "one", "uid": "u1", "generation": 3.0, "creationTimestamp": "2024-05-01T00:00:00Z"},
	}, sync["parent"])
}

func TestCustomizeIsAskedOncePerGeneration(t *testing.T) {
	calls := 0
	c := newCluster(t, boxHooks(), func(path string, _, _ []byte) {
		if path == "/box/customize" {
			calls++
		}
	})
	box := `{apiVersion: example.org/v1, kind: Box, metadata: {namespace: a, name: one}, spec: {data: {k: v}}}`
	put(t, c, box)
	_, err := c.Settle()
	require.NoError(t, err)
	put(t, c, box)
	_, err = c.Settle()
	require.NoError(t, err)
	assert.Equal(t, 1, calls)
	put(t, c, `{apiVersion: example.org/v1, kind: Box, metadata: {namespace: a, name: one}, spec: {data: {k: w}}}`)
	_, err = c.Settle()
	require.NoError(t, err)
	assert.Equal(t, 2, calls)
	observed, _, _ := unstructured.NestedInt64(c.Get("example.org/v1", "Box", "a", "one").Object, "status", "observedGeneration")
	assert.Equal(t, int64(2), observed)
}

func TestDeleteTakesTheChildren(t *testing.T) {
	c := newCluster(t, boxHooks(), nil)
	put(t, c, `{apiVersion: v1, kind: Service, metadata: {namespace: a, name: s, annotations: {box: x}}, spec: {ports: [{port: 1}]}}`)
	_, err := c.Settle()
	require.NoError(t, err)
	require.NotNil(t, c.Get("v1", "ConfigMap", "a", "s"))
	c.Delete("v1", "Service", "a", "s")
	assert.Empty(t, c.Entries())
}

func TestSettleRefuses(t *testing.T) {
	child := func(text string) func(*testing.T) any {
		return func(t *testing.T) any {
			return metacontroller.CompositeResponse{Status: map[string]any{}, Children: []any{object(t, text)}}
		}
	}
	cases := map[string]struct {
		answer func(*testing.T) any
		want   string
	}{
		"a field that is not documented": {
			answer: func(*testing.T) any { return map[string]any{"status": nil, "kids": nil} },
			want:   `decoding response of /box/sync: json: unknown field "kids"`,
		},
		"a child of a kind that the controller does not have": {
			answer: child(`{apiVersion: v1, kind: Service, metadata: {name: x}}`),
			want:   "Service is no child resource of box",
		},
		"a child of an unknown kind": {
			answer: child(`{apiVersion: v1, kind: Nonsense, metadata: {name: x}}`),
			want:   "kind Nonsense of v1 is not known",
		},
		"a child without a name": {
			answer: child(`{apiVersion: v1, kind: ConfigMap}`),
			want:   "the object has no name",
		},
		"a null, which the API server drops and which is sent again for ever": {
			answer: child(`{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: null}}`),
			want:   "the controllers do not settle; the last of 20 rounds wrote: update v1 ConfigMap a/x",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			hooks := boxHooks()
			hooks[1].Serve = func([]byte, time.Time) (any, error) { return tc.answer(t), nil }
			c := newCluster(t, hooks, nil)
			put(t, c, `{apiVersion: example.org/v1, kind: Box, metadata: {namespace: a, name: one}}`)
			_, err := c.Settle()
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

func TestPutRefusesAsTheAPIServer(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"a port twice":                 {`{apiVersion: v1, kind: Service, metadata: {namespace: a, name: s}, spec: {ports: [{name: a, port: 53}, {name: b, port: 53, protocol: TCP}]}}`, `port "b", 53/TCP is there twice`},
		"a port name twice":            {`{apiVersion: v1, kind: Service, metadata: {namespace: a, name: s}, spec: {ports: [{name: a, port: 53}, {name: a, port: 54}]}}`, `port "a", 54/TCP is there twice`},
		"one of two ports has no name": {`{apiVersion: v1, kind: Service, metadata: {namespace: a, name: s}, spec: {ports: [{name: a, port: 53}, {port: 54}]}}`, "a port without a name beside others"},
		"a Service without ports":      {`{apiVersion: v1, kind: Service, metadata: {namespace: a, name: s}, spec: {type: LoadBalancer, ports: []}}`, "a Service needs a port"},
		"no namespace":                 {`{apiVersion: v1, kind: Service, metadata: {name: s}}`, `the kind is namespaced: true, but the namespace is ""`},
		"a number in a ConfigMap":      {`{apiVersion: v1, kind: ConfigMap, metadata: {namespace: a, name: s}, data: {a: 1}}`, "the API server would refuse it"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			c := newCluster(t, boxHooks(), nil)
			err := c.Put(&unstructured.Unstructured{Object: object(t, tc.text)})
			assert.ErrorContains(t, err, tc.want)
		})
	}
}

func TestNewRefuses(t *testing.T) {
	cases := map[string]struct {
		path  []string
		value any // nil removes the field
		want  string
	}{
		"a hook of version v1": {
			path: []string{"spec", "hooks", "sync", "version"},
			want: `reading CompositeController box: reading sync hook: version "" is not simulated, only v2`,
		},
		"a finalize hook": {
			path: []string{"spec", "hooks", "finalize"}, value: map[string]any{},
			want: "reading CompositeController box: a finalize hook is not simulated",
		},
		"no generated selector": {
			path: []string{"spec", "generateSelector"},
			want: "reading CompositeController box: a CompositeController without generateSelector is not simulated",
		},
		"a resource that is not known": {
			path: []string{"spec", "parentResource", "resource"}, value: "box",
			want: "reading CompositeController box: reading parent resource: resource box of example.org/v1 is not known",
		},
		"a path that no hook answers": {
			path: []string{"spec", "hooks", "sync", "webhook", "path"}, value: "/x",
			want: `reading CompositeController box: reading sync hook: no hook answers "/x"`,
		},
		"rolling updates": {
			path: []string{"spec", "childResources"}, value: []any{map[string]any{
				"apiVersion": "v1", "resource": "configmaps", "updateStrategy": map[string]any{"method": "RollingInPlace"},
			}},
			want: "reading CompositeController box: reading child resource: update method RollingInPlace is not simulated",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			controllers := controllers(t)
			unstructured.RemoveNestedField(controllers[0].Object, tc.path...)
			if tc.value != nil {
				require.NoError(t, unstructured.SetNestedField(controllers[0].Object, tc.value, tc.path...))
			}
			_, err := simulate.New(options(controllers, boxHooks(), nil))
			assert.EqualError(t, err, tc.want)
		})
	}
}

func newCluster(t *testing.T, hooks []metacontroller.Hook, onCall func(string, []byte, []byte)) *simulate.Cluster {
	t.Helper()
	c, err := simulate.New(options(controllers(t), hooks, onCall))
	require.NoError(t, err)
	return c
}

func options(controllers []*unstructured.Unstructured, hooks []metacontroller.Hook, onCall func(string, []byte, []byte)) simulate.Options {
	return simulate.Options{
		Kinds:       []simulate.Kind{{APIVersion: "example.org/v1", Kind: "Box", Resource: "boxes", Namespaced: true}},
		Controllers: controllers,
		Hooks:       hooks,
		Now:         time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC),
		OnCall:      onCall,
	}
}

func controllers(t *testing.T) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile("testdata/controllers.yaml")
	require.NoError(t, err)
	list, err := simulate.ReadManifests(text)
	require.NoError(t, err)
	return list
}

func put(t *testing.T, c *simulate.Cluster, texts ...string) {
	t.Helper()
	for _, text := range texts {
		require.NoError(t, c.Put(&unstructured.Unstructured{Object: object(t, text)}))
	}
}

func decode(t *testing.T, text string) map[string]any {
	t.Helper()
	var decoded map[string]any
	require.NoError(t, json.Unmarshal([]byte(text), &decoded))
	return decoded
}

func below(t *testing.T, fields map[string]any, path ...string) map[string]any {
	t.Helper()
	inner, found, err := unstructured.NestedMap(fields, path...)
	require.NoError(t, err)
	require.True(t, found, path)
	return inner
}

func names(fields map[string]any) []string {
	var list []string
	for name := range fields {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
