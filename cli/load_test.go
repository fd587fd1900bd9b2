package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

func loadText(t *testing.T, text string) (*input, error) {
	t.Helper()
	l := &loader{kinds: slices.Concat(simulate.CoreKinds(), ourKinds()), stdin: strings.NewReader(text)}
	return l.load([]string{"-"})
}

func TestLoadAccepts(t *testing.T) {
	cases := map[string]struct {
		text string
		want []string
	}{
		"documents with comments and empty ones between": {
			text: "# first\n---\n\n---\napiVersion: v1\nkind: Service\nmetadata: {name: a, namespace: ns}\n--- # second\n# nothing\n---\nkind: Namespace\napiVersion: v1\nmetadata: {name: ns}\n",
			want: []string{"<stdin>:11 v1 Namespace ns", "<stdin>:5 v1 Service ns/a"},
		},
		"a List and the lists of one kind": {
			text: "apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: Service\n  metadata: {name: a}\n---\napiVersion: v1\nkind: ServiceList\nitems:\n- metadata: {name: b}\n",
			want: []string{"<stdin>:4 v1 Service default/a", "<stdin>:11 v1 Service default/b"},
		},
		"JSON with tabs": {
			text: "{\n\t\"apiVersion\": \"v1\",\n\t\"kind\": \"Namespace\",\n\t\"metadata\": {\n\t\t\"name\": \"ns\"\n\t}\n}\n",
			want: []string{"<stdin>:1 v1 Namespace ns"},
		},
		"a namespaced object without a namespace, and a namespace where none belongs": {
			text: "{apiVersion: v1, kind: Namespace, metadata: {name: ns, namespace: x}}\n---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: c}}\n",
			want: []string{"<stdin>:3 v1 ConfigMap default/c", "<stdin>:1 v1 Namespace ns"},
		},
		"an integer key, as the API server takes it": {
			text: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}\ndata:\n  5672: default/rabbitmq:5672\n",
			want: []string{"<stdin>:1 v1 ConfigMap default/c"},
		},
		"an unknown field in the status, of a later version": {
			text: "{apiVersion: nginx-stream.dev/v1, kind: TCPIngress, metadata: {name: a}, spec: {rules: []}, status: {later: 1}}",
			want: []string{"<stdin>:1 nginx-stream.dev/v1 TCPIngress default/a"},
		},
		"nothing": {text: "", want: nil},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			in, err := loadText(t, tc.text)
			require.NoError(t, err)
			var got []string
			for i := range in.sources {
				got = append(got, in.sources[i].at()+" "+simulate.Describe(in.sources[i].object))
			}
			assert.Equal(t, tc.want, got)
		})
	}
}

func TestLoadRefuses(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"what is no YAML": {
			text: "---\n# b\n---\napiVersion: v1\nkind: {\n",
			want: "<stdin>:5: did not find expected node content",
		},
		"a field twice": {
			text: "---\napiVersion: v1\nkind: Service\nkind: Service\n",
			want: `<stdin>:4: key "kind" already set in map`,
		},
		"a list": {
			text: "- a\n",
			want: "<stdin>:1: this is no Kubernetes object, but a []interface {}",
		},
		"Helm values": {
			text: "\ntcp: {}\n",
			want: "<stdin>:2: this is no Kubernetes object: apiVersion or kind is missing",
		},
		"an object without a name": {
			text: "apiVersion: v1\nkind: Service\nmetadata: {namespace: a}\n",
			want: "<stdin>:1: the Service has no metadata.name",
		},
		"all unknown fields, with their lines": {
			text: "apiVersion: nginx-stream.dev/v1\nkind: TCPIngress\nmetadata: {name: web, namespace: app}\nspec:\n  rules:\n  - port: 1\n    backend: {service: {name: a, port: {number: 1}}}\n  - port: 443\n    tls: {}\n    host: a.example\n    backend:\n      service:\n        nam: a\n",
			want: "<stdin>:9: TCPIngress app/web: there is no field spec.rules[1].tls\n" +
				"<stdin>:10: TCPIngress app/web: there is no field spec.rules[1].host\n" +
				"<stdin>:13: TCPIngress app/web: there is no field spec.rules[1].backend.service.nam",
		},
		"an unknown field in an item of a List": {
			text: "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Service, metadata: {name: a}}\n- apiVersion: nginx-stream.dev/v1\n  kind: TCPIngressClass\n  metadata: {name: web}\n  spec:\n    nginxx: {}\n",
			want: "<stdin>:9: TCPIngressClass web: there is no field spec.nginxx",
		},
		"a value of another type": {
			text: "apiVersion: nginx-stream.dev/v1\nkind: TCPIngress\nmetadata: {name: web, namespace: app}\nspec:\n  rules:\n  - port: \"1\"\n",
			want: "<stdin>:4: TCPIngress app/web: json: cannot unmarshal string into Go struct field Rule.spec.rules.port of type int32",
		},
		"a name that YAML takes for a boolean": {
			text: "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: off\n",
			want: "<stdin>:4: metadata.name is false, a bool; put it into quotes",
		},
		"an object twice": {
			text: "{apiVersion: v1, kind: Namespace, metadata: {name: ns}}\n---\n{apiVersion: v1, kind: Namespace, metadata: {name: ns}}\n",
			want: "<stdin>:3: v1 Namespace ns is declared at <stdin>:1 already",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			_, err := loadText(t, tc.text)
			assert.EqualError(t, err, tc.want)
		})
	}
}

func TestLoadFolders(t *testing.T) {
	folder := t.TempDir()
	write := func(name, object string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte("{apiVersion: v1, kind: Namespace, metadata: {name: "+object+"}}"), 0o644))
	}
	write("a.yaml", "a")
	write("b.yml", "b")
	write("c.json", "c")
	write("kustomization.yaml", "k")
	write("notes.txt", "n")
	write("below/d.yaml", "d")
	cases := map[string]struct {
		recursive bool
		want      string
	}{
		"without the folders in it": {want: "abc"},
		"with the folders in it":    {recursive: true, want: "abcd"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			l := &loader{kinds: simulate.CoreKinds(), recursive: tc.recursive}
			in, err := l.load([]string{folder})
			require.NoError(t, err)
			got := ""
			for i := range in.sources {
				got += in.sources[i].object.GetName()
			}
			assert.Equal(t, tc.want, got)
		})
	}
	_, err := (&loader{}).load([]string{filepath.Join(folder, "missing")})
	assert.ErrorIs(t, err, os.ErrNotExist)
}
