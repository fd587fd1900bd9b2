package simulate_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

func TestRelatedRules(t *testing.T) {
	red := &metav1.LabelSelector{MatchLabels: map[string]string{"color": "red"}}
	cases := map[string]struct {
		rule metacontroller.RelatedResourceRule
		want []string
		err  string
	}{
		"all of a kind":                       {rule: metacontroller.RelatedResourceRule{LabelSelector: &metav1.LabelSelector{}}, want: []string{"a/one", "a/two", "b/one"}},
		"by label, in all namespaces":         {rule: metacontroller.RelatedResourceRule{LabelSelector: red}, want: []string{"a/two", "b/one"}},
		"by label, in one namespace":          {rule: metacontroller.RelatedResourceRule{LabelSelector: red, Namespace: "b"}, want: []string{"b/one"}},
		"by name, in all namespaces":          {rule: metacontroller.RelatedResourceRule{Names: []string{"one"}}, want: []string{"a/one", "b/one"}},
		"by name, in one namespace":           {rule: metacontroller.RelatedResourceRule{Names: []string{"one"}, Namespace: "a"}, want: []string{"a/one"}},
		"a namespace without names is all":    {rule: metacontroller.RelatedResourceRule{Namespace: "a"}, want: []string{"a/one", "a/two"}},
		"by the labels of the namespace":      {rule: metacontroller.RelatedResourceRule{NamespaceSelector: red}, want: []string{"a/one", "a/two"}},
		"names and a selector":                {rule: metacontroller.RelatedResourceRule{Names: []string{"one"}, LabelSelector: red}, err: "names exclude labelSelector and namespaceSelector"},
		"a namespace and a selector of those": {rule: metacontroller.RelatedResourceRule{Namespace: "a", NamespaceSelector: red}, err: "namespace excludes namespaceSelector"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			tc.rule.APIVersion, tc.rule.Resource = "v1", "pods"
			hooks := boxHooks()
			hooks[0].Serve = func([]byte, time.Time) (any, error) {
				return metacontroller.CustomizeResponse{RelatedResources: []metacontroller.RelatedResourceRule{tc.rule}}, nil
			}
			var got []string
			hooks[1].Serve = func(body []byte, _ time.Time) (any, error) {
				var r request
				require.NoError(t, json.Unmarshal(body, &r))
				got = nil
				for _, o := range r.Related["Pod.v1"] {
					got = append(got, o.GetNamespace()+"/"+o.GetName())
				}
				return metacontroller.CompositeResponse{Status: map[string]any{}}, nil
			}
			c := newCluster(t, hooks, nil)
			put(
				t, c,
				`{apiVersion: v1, kind: Namespace, metadata: {name: a, labels: {color: red}}}`,
				`{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: one}}`,
				`{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: two, labels: {color: red}}}`,
				`{apiVersion: v1, kind: Pod, metadata: {namespace: b, name: one, labels: {color: red}}}`,
				`{apiVersion: example.org/v1, kind: Box, metadata: {namespace: a, name: box}}`,
			)
			_, err := c.Settle()
			if tc.err != "" {
				assert.ErrorContains(t, err, tc.err)
				return
			}
			require.NoError(t, err)
			assert.ElementsMatch(t, tc.want, got)
		})
	}
}
