package metacontroller

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
)

type testStatus struct {
	ObservedGeneration int64             `json:"observedGeneration,omitempty"`
	Conditions         []string          `json:"conditions"`
	Listeners          map[string]string `json:"listeners,omitempty"`
	Ranges             []string          `json:"ranges,omitempty"`
}

func TestEncode(t *testing.T) {
	value := "on <b> & off"
	tests := map[string]struct {
		response any
		want     string
	}{
		"no children are a list, not null": {
			CompositeResponse{Status: testStatus{}},
			`{"status":{"conditions":[]},"children":[]}`,
		},
		"a pointer is written like a value": {
			&CompositeResponse{Status: &testStatus{ObservedGeneration: 2}, Finalized: true, ResyncAfterSeconds: 1.5},
			`{"status":{"observedGeneration":2,"conditions":[]},"children":[],"resyncAfterSeconds":1.5,"finalized":true}`,
		},
		"a map that is nil": {
			CompositeResponse{Status: map[string]any(nil)},
			`{"status":{},"children":[]}`,
		},
		"maps are sorted and text is not escaped": {
			CompositeResponse{Status: map[string]string{"b": "<&>\u2028", "a": "1"}, ResyncAfterSeconds: 90},
			`{"status":{"a":"1","b":"<&>` + "\u2028" + `"},"children":[],"resyncAfterSeconds":90}`,
		},
		"an apply configuration carries its own fields only": {
			CompositeResponse{Status: testStatus{}, Children: []any{corev1ac.ConfigMap("a", "ns").WithData(map[string]string{"53": "x", "100": "y"})}},
			`{"status":{"conditions":[]},"children":[{"kind":"ConfigMap","apiVersion":"v1",` +
				`"metadata":{"name":"a","namespace":"ns"},"data":{"100":"y","53":"x"}}]}`,
		},
		"no attachments are a list, not null": {
			DecoratorResponse{}, `{"attachments":[]}`,
		},
		"an annotation is set, and one is removed": {
			DecoratorResponse{Annotations: map[string]*string{"b": nil, "a": &value}},
			`{"annotations":{"a":"on <b> & off","b":null},"attachments":[]}`,
		},
		"no related rules are a list": {
			CustomizeResponse{}, `{"relatedResources":[]}`,
		},
		"the selector of all is written out": {
			CustomizeResponse{RelatedResources: []RelatedResourceRule{
				{APIVersion: ours, Resource: "tcpingresses", LabelSelector: &metav1.LabelSelector{}},
				{APIVersion: "v1", Resource: "services", Namespace: "data", Names: []string{"redis"}},
				{
					APIVersion: "discovery.k8s.io/v1", Resource: "endpointslices", Namespace: "data",
					LabelSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/service-name": "redis"}},
				},
				{APIVersion: "v1", Resource: "configmaps", NamespaceSelector: &metav1.LabelSelector{}, LabelSelector: &metav1.LabelSelector{}},
			}},
			`{"relatedResources":[` +
				`{"apiVersion":"nginx-stream.dev/v1","resource":"tcpingresses","labelSelector":{}},` +
				`{"apiVersion":"v1","resource":"services","namespace":"data","names":["redis"]},` +
				`{"apiVersion":"discovery.k8s.io/v1","resource":"endpointslices",` +
				`"labelSelector":{"matchLabels":{"kubernetes.io/service-name":"redis"}},"namespace":"data"},` +
				`{"apiVersion":"v1","resource":"configmaps","labelSelector":{},"namespaceSelector":{}}]}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			for range 20 {
				got, err := Encode(tc.response)
				require.NoError(t, err)
				require.Equal(t, tc.want, string(got))
			}
		})
	}
}

func TestEncodeRejects(t *testing.T) {
	var noStatus *testStatus
	var noResponse *CompositeResponse
	tests := map[string]struct {
		response any
		want     string
	}{
		"nothing":                      {nil, "encoding response: the response is nil"},
		"a nil pointer":                {noResponse, "encoding response: the response is nil"},
		"no status would empty it":     {CompositeResponse{}, "encoding response: the response has no status"},
		"a nil status would empty it":  {&CompositeResponse{Status: noStatus}, "encoding response: the response has no status"},
		"a null child":                 {CompositeResponse{Status: testStatus{}, Children: []any{1, nil}}, "encoding response: number 1 of the children is nil"},
		"a null attachment":            {DecoratorResponse{Attachments: []any{noStatus}}, "encoding response: number 0 of the attachments is nil"},
		"a status that JSON can't say": {CompositeResponse{Status: make(chan int)}, ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Encode(tc.response)
			if tc.want != "" {
				require.EqualError(t, err, tc.want)
				return
			}
			assert.Empty(t, got)
			assert.ErrorContains(t, err, "encoding response: ")
		})
	}
}
