package corpus

import (
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadTellsWhatAFileAnnounces(t *testing.T) {
	const object = "apiVersion: v1\nkind: A\nmetadata: {name: x}\n"
	valid, invalid, err := Read(fstest.MapFS{
		"valid/a.yaml":       {Data: []byte(object)},
		"invalid/a/b.yaml":   {Data: []byte("# schema: one\n# rule: two: 2\n# hooks: three\n" + object + "# no announcement\n---\n" + object + "data: {}\n")},
		"invalid/a/note.txt": {Data: []byte("no manifest")},
	})
	require.NoError(t, err)
	require.Len(t, valid, 1)
	assert.Nil(t, valid[0].Old)
	assert.Empty(t, valid[0].Refusal)
	require.Len(t, invalid, 1)
	assert.Equal(t, []string{"one", "two: 2"}, invalid[0].Refusal)
	assert.Equal(t, []string{Schema, Rule}, invalid[0].Layers)
	assert.Equal(t, []string{"three"}, invalid[0].Hooks)
	assert.NotContains(t, invalid[0].Old.Object, "data")
	assert.Contains(t, invalid[0].Object.Object, "data")

	_, _, err = Read(fstest.MapFS{"valid/a.yaml": {Data: []byte("a: 1\na: 2\n")}})
	assert.ErrorContains(t, err, "reading valid/a.yaml: ")
	_, _, err = Read(fstest.MapFS{"invalid/a.yaml": {Data: []byte("# spec.rules: Required value\n" + object)}})
	assert.ErrorContains(t, err, "names no layer")
}

func TestLoosen(t *testing.T) {
	const definition = `
spec:
  versions:
  - schema:
      openAPIV3Schema:
        properties:
          required: {type: string, minLength: 1}
          list: {type: array, minItems: 1, x-kubernetes-list-type: set, items: {type: string, enum: [a], x-kubernetes-validations: [{rule: "true"}]}}
          conditions: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type], items: {type: object, required: [type], properties: {type: {type: string, pattern: a}}}}
        required: [list]
`
	rules, err := Loosen(definition, false)
	require.NoError(t, err)
	assert.NotContains(t, rules, "x-kubernetes-validations")
	assert.Contains(t, rules, "minItems: 1")
	all, err := Loosen(definition, true)
	require.NoError(t, err)
	for _, word := range []string{"minItems", "minLength", "enum", "pattern", "- list", ": set"} {
		assert.NotContains(t, all, word)
	}
	assert.Contains(t, all, "- type", "the keys of a list stay")
	assert.Contains(t, all, "required:\n            type: string", "a property may have the name of a keyword")
}

func TestPrintedReadsKubectl(t *testing.T) {
	tests := map[string]struct {
		output string
		want   []string
	}{
		"one error": {
			"The TCPIngress \"x\" is invalid: spec.rules: Required value\n", []string{"spec.rules: Required value"},
		},
		"several errors": {
			"The TCPIngress \"x\" is invalid: \n* spec.a: Required value\n* spec.b: Invalid value: 1\n",
			[]string{"spec.a: Required value", "spec.b: Invalid value: 1"},
		},
		"unknown fields": {
			`Error from server (BadRequest): error when creating "x.yaml": TCPIngress in version "v1" cannot be handled as a TCPIngress: strict decoding error: unknown field "spec.a", unknown field "spec.b"`,
			[]string{`unknown field "spec.a"`, `unknown field "spec.b"`},
		},
		"no refusal": {"tcpingress.nginx-stream.dev/x created\n", nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, Printed(tc.output))
		})
	}
}
