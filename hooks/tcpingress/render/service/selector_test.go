package service

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestWhoseSelector(t *testing.T) {
	t.Parallel()
	applied := func(text string) metav1.ObjectMeta {
		return metav1.ObjectMeta{Annotations: map[string]string{"metacontroller.k8s.io/last-applied-configuration": text}}
	}
	managed := func(fields string) metav1.ObjectMeta {
		return metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: "metacontroller", Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1(fields),
		}}}
	}
	both := map[string]string{"a": "1", "b": "2"}
	for name, tc := range map[string]struct {
		meta    metav1.ObjectMeta
		own     map[string]string
		foreign []string
	}{
		"never written":                    {own: map[string]string{}, foreign: []string{"a", "b"}},
		"one label of ours":                {applied(`{"spec":{"selector":{"a":"1"}}}`), map[string]string{"a": "1"}, []string{"b"}},
		"all of ours":                      {applied(`{"spec":{"selector":{"a":"1","b":"0"}}}`), both, nil},
		"ours by server-side apply":        {managed(`{"f:spec":{"f:selector":{}}}`), both, nil},
		"not written by server-side apply": {managed(`{"f:spec":{"f:ports":{}}}`), map[string]string{}, []string{"a", "b"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			svc := &corev1.Service{ObjectMeta: tc.meta, Spec: corev1.ServiceSpec{Selector: both}}
			assert.Equal(t, tc.own, OwnSelector(svc))
			assert.ElementsMatch(t, tc.foreign, ForeignSelector(svc))
			assert.Len(t, both, 2, "the observed object is not changed")
		})
	}
	assert.Empty(t, OwnSelector(nil))
	assert.Empty(t, ForeignSelector(nil))
}
