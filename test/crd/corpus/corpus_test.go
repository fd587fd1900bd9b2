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
		"invalid/a/b.yaml":   {Data: []byte("# one\n# two\n" + object + "# no announcement\n---\n" + object + "data: {}\n")},
		"invalid/a/note.txt": {Data: []byte("no manifest")},
	})
	require.NoError(t, err)
	require.Len(t, valid, 1)
	assert.Nil(t, valid[0].Old)
	assert.Empty(t, valid[0].Refusal)
	require.Len(t, invalid, 1)
	assert.Equal(t, []string{"one", "two"}, invalid[0].Refusal)
	assert.NotContains(t, invalid[0].Old.Object, "data")
	assert.Contains(t, invalid[0].Object.Object, "data")

	_, _, err = Read(fstest.MapFS{"valid/a.yaml": {Data: []byte("a: 1\na: 2\n")}})
	assert.ErrorContains(t, err, "reading valid/a.yaml: ")
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
