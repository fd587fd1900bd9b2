package owned

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func annotated(text string) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{Annotations: map[string]string{LastApplied: text}}
}

func managedBy(manager string, operation metav1.ManagedFieldsOperationType, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{Manager: manager, Operation: operation, FieldsV1: metav1.NewFieldsV1(fields)}
}

func withManaged(entries ...metav1.ManagedFieldsEntry) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{ManagedFields: entries}
}

func both(text string, entries ...metav1.ManagedFieldsEntry) *metav1.ObjectMeta {
	return &metav1.ObjectMeta{Annotations: map[string]string{LastApplied: text}, ManagedFields: entries}
}

const managedService = `{"f:metadata":{"f:labels":{"f:a":{}}},"f:spec":{"f:selector":{},"f:ports":{"k:{\"port\":53,\"protocol\":\"UDP\"}":{".":{},"f:name":{}}}}}`

func TestHas(t *testing.T) {
	const text = `{"data":{"6379":"a/b:1"},"spec":{"type":"NodePort","selector":null}}`
	tests := map[string]struct {
		meta *metav1.ObjectMeta
		path []string
		want bool
	}{
		"a key that was applied is ours":                {annotated(text), []string{"data", "6379"}, true},
		"a whole field that was applied is ours":        {annotated(text), []string{"data"}, true},
		"a key of somebody else is not":                 {annotated(text), []string{"data", "9999"}, false},
		"a null that was applied is ours":               {annotated(text), []string{"spec", "selector"}, true},
		"nothing is below a scalar":                     {annotated(text), []string{"spec", "type", "x"}, false},
		"an empty path asks for nothing":                {annotated(text), nil, false},
		"a broken annotation owns nothing":              {annotated(`{"data":`), []string{"data"}, false},
		"an annotation of another shape owns nothing":   {annotated(`[]`), []string{"data"}, false},
		"an object without any record owns nothing":     {&metav1.ObjectMeta{}, []string{"data"}, false},
		"a field applied by the server's merge is ours": {withManaged(managedBy("metacontroller", metav1.ManagedFieldsOperationApply, managedService)), []string{"spec", "selector"}, true},
		"so it is under a longer name of the manager":   {withManaged(managedBy("metacontroller-tcp", metav1.ManagedFieldsOperationApply, managedService)), []string{"metadata", "labels", "a"}, true},
		"an update by the manager is no apply":          {withManaged(managedBy("metacontroller", metav1.ManagedFieldsOperationUpdate, managedService)), []string{"spec", "selector"}, false},
		"what helm applies is not ours":                 {withManaged(managedBy("helm", metav1.ManagedFieldsOperationApply, managedService)), []string{"spec", "selector"}, false},
		"broken managed fields own nothing":             {withManaged(managedBy("metacontroller", metav1.ManagedFieldsOperationApply, `{`)), []string{"spec"}, false},
		"missing managed fields own nothing":            {withManaged(metav1.ManagedFieldsEntry{Manager: "metacontroller", Operation: metav1.ManagedFieldsOperationApply}), []string{"spec"}, false},
		"the annotation goes before managed fields":     {both(`{}`, managedBy("metacontroller", metav1.ManagedFieldsOperationApply, managedService)), []string{"spec"}, false},
		"an empty annotation is none":                   {both("", managedBy("metacontroller", metav1.ManagedFieldsOperationApply, managedService)), []string{"spec"}, true},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, Of(tc.meta).Has(tc.path...))
		})
	}
}

func TestHasPort(t *testing.T) {
	applied := annotated(`{"spec":{"ports":[{"port":6379},{"port":53,"protocol":"UDP"}]}}`)
	server := &metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{managedBy("metacontroller", metav1.ManagedFieldsOperationApply, managedService)}}
	tests := map[string]struct {
		meta     *metav1.ObjectMeta
		port     int32
		protocol corev1.Protocol
		want     bool
	}{
		"a port without a protocol is a TCP port":    {applied, 6379, corev1.ProtocolTCP, true},
		"and no UDP port":                            {applied, 6379, corev1.ProtocolUDP, false},
		"a UDP port is found":                        {applied, 53, corev1.ProtocolUDP, true},
		"and is no TCP port":                         {applied, 53, corev1.ProtocolTCP, false},
		"another number is not ours":                 {applied, 80, corev1.ProtocolTCP, false},
		"a port is found by the key of server apply": {server, 53, corev1.ProtocolUDP, true},
		"but not under the other protocol":           {server, 53, corev1.ProtocolTCP, false},
		"an item of another shape spoils the list":   {annotated(`{"spec":{"ports":[{"port":53},7]}}`), 53, corev1.ProtocolTCP, false},
		"a list of another shape owns nothing":       {annotated(`{"spec":{"ports":{}}}`), 53, corev1.ProtocolUDP, false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, Of(tc.meta).HasPort(tc.port, tc.protocol))
		})
	}
}

func TestZeroFieldsOwnNothing(t *testing.T) {
	assert.False(t, Fields{}.Has("data"))
	assert.False(t, Fields{}.HasPort(80, corev1.ProtocolTCP))
}

func TestManager(t *testing.T) {
	assert.Equal(t, "metacontroller", Manager(&metav1.ObjectMeta{}))
	meta := &metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{
		managedBy("helm", metav1.ManagedFieldsOperationApply, `{}`),
		managedBy("metacontroller-2", metav1.ManagedFieldsOperationApply, `{}`),
	}}
	assert.Equal(t, "metacontroller-2", Manager(meta))
	assert.True(t, ServerSide(meta))
	meta.Annotations = map[string]string{LastApplied: `{}`}
	assert.False(t, ServerSide(meta))
	assert.False(t, ServerSide(&metav1.ObjectMeta{}))
}
