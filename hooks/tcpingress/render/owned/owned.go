// Package owned tells which fields of an observed object Metacontroller wrote on
// our behalf. Object metadata enters, and answers to "is this ours?" leave. It is
// read-only knowledge: nothing here may decide what shall be written.
package owned

import (
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastApplied is the annotation in which Metacontroller's default apply strategy
// keeps the child as the hook returned it last.
const LastApplied = "metacontroller.k8s.io/last-applied-configuration"

// managerPrefix begins the names of Metacontroller's field managers: its default
// is this word, and an admin who runs several adds to it.
const managerPrefix = "metacontroller"

// Fields are the fields of one object that are ours. The zero value owns nothing.
// Its methods may not be called at the same time, since they decode as they go.
type Fields struct {
	// records are read at the first question only: the annotation may be 200 KiB,
	// and most objects are never asked.
	records func() []record
}

// record is one place where it is written what is ours.
type record interface {
	has(path []string) bool
	hasPort(port int32, protocol corev1.Protocol) bool
}

// Of reads what is ours from the metadata of an observed object: from LastApplied,
// or, under server-side apply, from metadata.managedFields. What cannot be read
// counts as not ours.
func Of(meta *metav1.ObjectMeta) Fields {
	return Fields{records: sync.OnceValue(func() []record {
		if text := meta.Annotations[LastApplied]; text != "" {
			return []record{decodeApplied(text)}
		}
		var records []record
		for i := range meta.ManagedFields {
			if isOurs(&meta.ManagedFields[i]) {
				records = append(records, decodeManaged(&meta.ManagedFields[i]))
			}
		}
		return records
	})}
}

// Has tells whether the field at the path is ours: Has("data", "6379").
func (f Fields) Has(path ...string) bool {
	return f.any(func(r record) bool { return r.has(path) })
}

// HasPort tells whether the element of spec.ports with this number and protocol
// is ours.
func (f Fields) HasPort(port int32, protocol corev1.Protocol) bool {
	return f.any(func(r record) bool { return r.hasPort(port, protocol) })
}

func (f Fields) any(ours func(record) bool) bool {
	return f.records != nil && slices.ContainsFunc(f.records(), ours)
}

// ServerSide tells whether Metacontroller is known to write the object by
// server-side apply, which merges lists by their real keys.
func ServerSide(meta *metav1.ObjectMeta) bool {
	if meta.Annotations[LastApplied] != "" {
		return false
	}
	for i := range meta.ManagedFields {
		if isOurs(&meta.ManagedFields[i]) {
			return true
		}
	}
	return false
}

// Manager is the name under which Metacontroller writes the object by server-side
// apply; where it has not done so, its default name.
func Manager(meta *metav1.ObjectMeta) string {
	for i := range meta.ManagedFields {
		if isOurs(&meta.ManagedFields[i]) {
			return meta.ManagedFields[i].Manager
		}
	}
	return managerPrefix
}

func isOurs(entry *metav1.ManagedFieldsEntry) bool {
	return entry.Operation == metav1.ManagedFieldsOperationApply && strings.HasPrefix(entry.Manager, managerPrefix)
}
