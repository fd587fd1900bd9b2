package standin

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

func TestSelectorOf(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		generate bool
		spec     map[string]any
		want     string
		wantErr  string
	}{
		"a generated selector ignores the parent's": {
			generate: true,
			spec:     map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}}},
			want:     "controller-uid=123",
		},
		"the labels of the parent": {
			spec: map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}}},
			want: "app=web",
		},
		"the expressions of the parent": {
			spec: map[string]any{"selector": map[string]any{"matchExpressions": []any{
				map[string]any{"key": "app", "operator": "In", "values": []any{"db", "web"}},
			}}},
			want: "app in (db,web)",
		},
		"no selector": {
			spec:    map[string]any{},
			wantErr: "spec.selector is empty, which would select everything",
		},
		"an empty selector": {
			spec:    map[string]any{"selector": map[string]any{"matchLabels": map[string]any{}}},
			wantErr: "spec.selector is empty, which would select everything",
		},
		"an operator that does not exist": {
			spec: map[string]any{"selector": map[string]any{"matchExpressions": []any{
				map[string]any{"key": "app", "operator": "Like"},
			}}},
			wantErr: `"Like" is not a valid label selector operator`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &controller{generateSelector: tc.generate}
			got, err := c.selectorOf(parentWith(tc.spec))
			if tc.wantErr != "" {
				assert.EqualError(t, err, tc.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, got.String())
		})
	}
}

func TestLabel(t *testing.T) {
	t.Parallel()
	parent := parentWith(map[string]any{"selector": map[string]any{"matchLabels": map[string]any{"app": "web"}}})
	tests := map[string]struct {
		generate bool
		labels   map[string]string
		want     map[string]string
		wantErr  string
	}{
		"the generated label is added": {
			generate: true,
			labels:   map[string]string{"app": "db"},
			want:     map[string]string{"app": "db", simulate.ControllerUIDLabel: "123"},
		},
		"also where there are no labels": {
			generate: true,
			want:     map[string]string{simulate.ControllerUIDLabel: "123"},
		},
		"it may be there already": {
			generate: true,
			labels:   map[string]string{simulate.ControllerUIDLabel: "123"},
			want:     map[string]string{simulate.ControllerUIDLabel: "123"},
		},
		"but not another one": {
			generate: true,
			labels:   map[string]string{simulate.ControllerUIDLabel: "456"},
			wantErr:  "the labels of desired child v1 Pod a/web-0 do not match the selector of its parent",
		},
		"nothing is added for the parent's own selector": {
			labels: map[string]string{"app": "web"},
			want:   map[string]string{"app": "web"},
		},
		"which must select the child": {
			labels:  map[string]string{"app": "db"},
			wantErr: "the labels of desired child v1 Pod a/web-0 do not match the selector of its parent",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := &controller{generateSelector: tc.generate}
			selector, err := c.selectorOf(parent)
			require.NoError(t, err)
			child := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Pod"}}
			child.SetNamespace("a")
			child.SetName("web-0")
			child.SetLabels(tc.labels)
			err = c.label(child, parent, selector)
			if tc.wantErr != "" {
				assert.EqualError(t, err, tc.wantErr)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, tc.want, child.GetLabels())
			assert.True(t, selector.Matches(labels.Set(child.GetLabels())))
			assert.True(t, c.adoptable(parent, child))
		})
	}
}

func parentWith(spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"metadata": map[string]any{"namespace": "a", "name": "web", "uid": "123"},
		"spec":     spec,
	}}
}
