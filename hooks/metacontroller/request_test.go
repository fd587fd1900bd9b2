package metacontroller

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

const ours = "nginx-stream.dev/v1"

type testClass struct {
	Meta
	Spec struct {
		Namespace string `json:"namespace"`
	} `json:"spec"`
}

type testIngress struct {
	LabeledMeta
	Spec struct {
		IngressClassName string `json:"ingressClassName"`
	} `json:"spec"`
}

type testNamespace struct{ BareMeta }

// classSync is what a hook like ours reads.
type classSync struct {
	class      testClass
	ingresses  []testIngress
	namespaces []testNamespace
	configMaps []corev1.ConfigMap
	services   []corev1.Service
}

func (c *classSync) sync() *Sync {
	return &Sync{
		Parent: &c.class, ParentAPIVersion: ours, ParentKind: "TCPIngressClass",
		Children: []Group{
			IntoTyped("v1", "ConfigMap", &c.configMaps),
			IntoTyped("v1", "Service", &c.services),
		},
		Related: []Group{
			Into(ours, "TCPIngress", &c.ingresses),
			Into("v1", "Namespace", &c.namespaces),
		},
	}
}

func recorded(t testing.TB, name string) []byte {
	t.Helper()
	body, err := os.ReadFile(filepath.Join("testdata", name+".request.json"))
	require.NoError(t, err)
	return body
}

func TestDecodeComposite(t *testing.T) {
	tests := map[string]struct {
		request    string
		finalizing bool
	}{
		"version 2 keys objects by namespace and name": {request: "composite-sync-v2"},
		"version 1 keys objects by name":               {request: "composite-sync-v1"},
		"a finalize request says so":                   {request: "composite-finalize", finalizing: true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got classSync
			finalizing, err := DecodeComposite(recorded(t, tc.request), got.sync())
			require.NoError(t, err)
			assert.Equal(t, tc.finalizing, finalizing)

			assert.Equal(t, Identity{APIVersion: ours, Kind: "TCPIngressClass", Name: "nginx"}, got.class.Identity())
			assert.Equal(t, "c1", got.class.UID)
			assert.Equal(t, int64(3), got.class.Generation)
			assert.Equal(t, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), got.class.CreationTimestamp)
			assert.Equal(t, map[string]string{"a": "1"}, got.class.Annotations)
			assert.Equal(t, "ingress-nginx", got.class.Spec.Namespace)

			require.Len(t, got.ingresses, 2)
			assert.Equal(t, "a/redis", got.ingresses[0].Namespace+"/"+got.ingresses[0].Name, "sorted by namespace, not by key")
			assert.Equal(t, "other", got.ingresses[0].Spec.IngressClassName)
			assert.Nil(t, got.ingresses[0].DeletionTimestamp)
			assert.Equal(t, "a-b/db", got.ingresses[1].Namespace+"/"+got.ingresses[1].Name)
			assert.Equal(t, map[string]string{"app": "db"}, got.ingresses[1].Labels)
			require.NotNil(t, got.ingresses[1].DeletionTimestamp)
			assert.Equal(t, time.Date(2026, 2, 2, 3, 4, 5, 0, time.UTC), *got.ingresses[1].DeletionTimestamp)

			require.Len(t, got.configMaps, 1)
			assert.Equal(t, map[string]string{"6379": "data/redis:6379"}, got.configMaps[0].Data)
			assert.Empty(t, got.services)
			assert.Empty(t, got.namespaces)
		})
	}
}

func TestDecodeDecorator(t *testing.T) {
	var service corev1.Service
	var attached []testIngress
	finalizing, err := DecodeDecorator(recorded(t, "decorator-sync"), &Sync{
		Parent: TypedParent(&service), ParentAPIVersion: "v1", ParentKind: "Service",
		Children: []Group{Into(ours, "TCPIngress", &attached)},
	})
	require.NoError(t, err)
	assert.False(t, finalizing)
	assert.Equal(t, "6379", service.Annotations["nginx-stream.dev/expose"])
	assert.Equal(t, "redis", service.Spec.Ports[0].TargetPort.StrVal)
	assert.Equal(t, 2026, service.CreationTimestamp.Year())
	assert.Empty(t, service.ManagedFields, "managed fields are skipped")
	require.Len(t, attached, 1)
	assert.Equal(t, "redis", attached[0].Name)
}

func TestDecodeCustomize(t *testing.T) {
	var class testClass
	require.NoError(t, DecodeCustomize(recorded(t, "composite-customize"), &class, ours, "TCPIngressClass"))
	assert.Equal(t, "ingress-nginx", class.Spec.Namespace)

	err := DecodeCustomize(recorded(t, "composite-customize"), &class, ours, "TCPIngress")
	var bad *BadRequest
	require.ErrorAs(t, err, &bad)
	assert.Equal(t, "the parent is of another kind than nginx-stream.dev/v1 TCPIngress: nginx-stream.dev/v1 TCPIngressClass nginx", bad.Problem)
}

const (
	goodParent   = `"parent":{"apiVersion":"nginx-stream.dev/v1","kind":"TCPIngressClass","metadata":{"name":"nginx"}}`
	goodChildren = `"children":{"ConfigMap.v1":{},"Service.v1":{}}`
	goodRelated  = `"related":{"TCPIngress.nginx-stream.dev/v1":{},"Namespace.v1":{}}`
	ingressA     = `{"apiVersion":"nginx-stream.dev/v1","kind":"TCPIngress","metadata":{"namespace":"x","name":"a"}}`
)

func TestDecodeAccepts(t *testing.T) {
	tests := map[string]string{
		"unknown members":                 `{"new":[{"a":null}],"":1,` + goodParent + `,` + goodChildren + `,` + goodRelated + `}`,
		"space around":                    " \n{" + goodParent + `,` + goodChildren + `,` + goodRelated + "}\n ",
		"another order":                   `{` + goodRelated + `,` + goodChildren + `,` + goodParent + `}`,
		"an unknown group without object": `{` + goodParent + `,` + goodChildren + `,"related":{"Pod.v1":{},"Node.v1":null,"TCPIngress.nginx-stream.dev/v1":{},"Namespace.v1":{}}}`,
		"an escaped member name":          `{` + strings.Replace(goodParent, `"parent"`, `"p\u0061rent"`, 1) + `,` + goodChildren + `,` + goodRelated + `}`,
	}
	for name, body := range tests {
		t.Run(name, func(t *testing.T) {
			var got classSync
			_, err := DecodeComposite([]byte(body), got.sync())
			require.NoError(t, err)
			assert.Equal(t, "nginx", got.class.Name)
		})
	}
}

func TestDecodeRejects(t *testing.T) {
	rest := `,` + goodChildren + `,` + goodRelated + `}`
	with := func(related string) string {
		return `{` + goodParent + `,` + goodChildren + `,"related":` + related + `}`
	}
	tests := map[string]struct{ body, want string }{
		"nothing":               {``, "the body is empty"},
		"only space":            {" \n", "the body is empty"},
		"a list":                {`[]`, "the body is no JSON object but a list"},
		"null":                  {`null`, "the body is no JSON object but null"},
		"no JSON":               {`hello`, "the body is no valid JSON at byte 0: invalid character 'h' at start of value"},
		"a body that ends":      {`{` + goodParent, "the body ends too early, at byte 99"},
		"a string that ends":    {`{"controller":"abc`, "the body ends too early, at byte 18"},
		"more after the object": {`{` + goodParent + rest + `{}`, "the body goes on after its JSON object, at byte 213"},
		"garbage after the object": {
			`{` + goodParent + rest + `}`, "the body is no valid JSON at byte 213: invalid character '}' at start of value",
		},
		"a member twice":        {`{` + goodParent + `,` + goodParent + rest, `the body has the member "/parent" twice, at byte 100`},
		"a member twice inside": {`{"controller":{"a":1,"a":2}}`, `the body has the member "/controller/a" twice, at byte 21`},
		"invalid UTF-8":         {"{\"a\xff\":1}", "the body is no valid JSON at byte 3: invalid UTF-8"},
		"no parent":             {`{` + goodChildren + `,` + goodRelated + `}`, "the request has no parent"},
		"a null parent":         {`{"parent":null` + rest, "the request has no parent"},
		"a parent that is text": {`{"parent":"x"` + rest, `the value of "/parent" at byte 10 cannot be read: it must be an object and is a string`},
		"a parent of another kind": {
			`{"parent":{"apiVersion":"v1","kind":"Service","metadata":{"namespace":"a","name":"b"}}` + rest,
			"the parent is of another kind than nginx-stream.dev/v1 TCPIngressClass: v1 Service a/b",
		},
		"a parent without a name": {
			`{"parent":{"apiVersion":"nginx-stream.dev/v1","kind":"TCPIngressClass"}` + rest, "the parent has no metadata.name",
		},
		"a field of another type": {
			`{"parent":{"metadata":{"generation":"3"}}` + rest,
			`the value of "/parent/metadata/generation" at byte 36 cannot be read: it must be a whole number and is a string`,
		},
		"a number that is too large": {
			`{"parent":{"metadata":{"generation":99999999999999999999}}` + rest,
			`the value of "/parent/metadata/generation" at byte 36 cannot be read: value out of range`,
		},
		"finalizing that is text": {
			`{"finalizing":"yes",` + goodParent + rest, `the value of "/finalizing" at byte 14 cannot be read: it must be a boolean and is a string`,
		},
		"groups that are a list": {with(`[]`), "related is no JSON object but a list"},
		"a group that is a list": {
			with(`{"Namespace.v1":[]}`), "the group Namespace.v1 of related is no JSON object but a list",
		},
		"an unknown group with an object": {
			with(`{"Pod.v1":{"a":{}}}`), `related has objects in the group "Pod.v1", which this hook does not read`,
		},
		"an unknown group that is a list": {
			with(`{"Pod.v1":[1]}`), `the group "Pod.v1" of related is no JSON object but a list`,
		},
		"a null object": {
			with(`{"Namespace.v1":{"a":null}}`), `the object "/related/Namespace.v1/a" is null`,
		},
		"an object of another kind": {
			with(`{"Namespace.v1":{"a":` + ingressA + `}}`),
			"the group Namespace.v1 of related holds an object of another kind: nginx-stream.dev/v1 TCPIngress x/a",
		},
		"an object of another version": {
			with(`{"TCPIngress.nginx-stream.dev/v1":{"a":` + strings.Replace(ingressA, "/v1", "/v2", 1) + `}}`),
			"the group TCPIngress.nginx-stream.dev/v1 of related holds an object of another kind: nginx-stream.dev/v2 TCPIngress x/a",
		},
		"an object without a name": {
			with(`{"Namespace.v1":{"a":{"apiVersion":"v1","kind":"Namespace"}}}`),
			"the group Namespace.v1 of related holds an object without metadata.name",
		},
		"one object under two keys": {
			with(`{"TCPIngress.nginx-stream.dev/v1":{"x/a":` + ingressA + `,"a":` + ingressA + `}}`),
			"related has two objects of one name: nginx-stream.dev/v1 TCPIngress x/a",
		},
		"a name that would break the line": {
			with(`{"Namespace.v1":{"a":{"apiVersion":"a\nb","kind":"` + strings.Repeat("k", 500) + `"}}}`),
			"the group Namespace.v1 of related holds an object of another kind: a b " + strings.Repeat("k", 196) + "...",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got classSync
			_, err := DecodeComposite([]byte(tc.body), got.sync())
			var bad *BadRequest
			require.ErrorAs(t, err, &bad)
			assert.Equal(t, tc.want, bad.Problem)
		})
	}
}

func TestDecodeMissesGroup(t *testing.T) {
	tests := map[string]struct{ body, want string }{
		"no related": {
			`{` + goodParent + `,` + goodChildren + `}`, "the request has no related group TCPIngress.nginx-stream.dev/v1",
		},
		"null related": {
			`{` + goodParent + `,` + goodChildren + `,"related":null}`, "the request has no related group TCPIngress.nginx-stream.dev/v1",
		},
		"one group is absent": {
			`{` + goodParent + `,` + goodChildren + `,"related":{"TCPIngress.nginx-stream.dev/v1":{}}}`,
			"the request has no related group Namespace.v1",
		},
		"one group is null": {
			`{` + goodParent + `,` + goodRelated + `,"children":{"Service.v1":null,"ConfigMap.v1":{}}}`,
			"the request has no children group Service.v1",
		},
		"no children": {`{` + goodParent + `,` + goodRelated + `}`, "the request has no children group ConfigMap.v1"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var got classSync
			_, err := DecodeComposite([]byte(tc.body), got.sync())
			var missing *MissingGroup
			require.ErrorAs(t, err, &missing)
			assert.Equal(t, tc.want, err.Error())
		})
	}
}

// TestDecodeTruncated cuts a good body everywhere: no cut may be taken for a request.
func TestDecodeTruncated(t *testing.T) {
	body := recorded(t, "composite-sync-v2")
	end := strings.LastIndexByte(string(body), '}')
	for n := range end {
		var got classSync
		_, err := DecodeComposite(body[:n], got.sync())
		var bad *BadRequest
		require.ErrorAs(t, err, &bad, "cut at %d", n)
		require.NotContains(t, bad.Problem, "\n")
	}
}

func TestPeekParent(t *testing.T) {
	tests := map[string]struct{ body, want string }{
		"a composite":          {string(recorded(t, "composite-sync-v2")), "nginx-stream.dev/v1 TCPIngressClass nginx"},
		"a decorator":          {string(recorded(t, "decorator-sync")), "v1 Service data/redis"},
		"broken further down":  {`{` + goodParent + `,"children":{`, "nginx-stream.dev/v1 TCPIngressClass nginx"},
		"broken before":        {`{"controller":{`, ""},
		"a null parent":        {`{"parent":null}`, ""},
		"a parent of no shape": {`{"parent":[1]}`, ""},
		"no parent":            {`{"children":{}}`, ""},
		"no object":            {`[]`, ""},
		"nothing":              {``, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, PeekParent([]byte(tc.body)))
		})
	}
}
