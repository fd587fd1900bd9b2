// Package owned tells which fields of an observed object Metacontroller wrote on
// our behalf. Object metadata enters, and answers to "is this ours?" leave. It is
// read-only knowledge: nothing here may decide what shall be written.
package owned

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// LastApplied is the annotation in which Metacontroller's default apply strategy
// keeps the child as the hook returned it last.
const LastApplied = "metacontroller.k8s.io/last-applied-configuration"

// Fields are the fields of one object that are ours.
type Fields struct{ _ int }

// Of reads what is ours from the metadata of an observed object: from LastApplied,
// or, under server-side apply, from metadata.managedFields. What cannot be read
// counts as not ours.
func Of(meta *metav1.ObjectMeta) Fields { panic("TODO") }

// Has tells whether the field at the path is ours: Has("data", "6379").
func (f Fields) Has(path ...string) bool { panic("TODO") }

// HasPort tells whether that element of spec.ports is ours.
func (f Fields) HasPort(port int32, protocol corev1.Protocol) bool { panic("TODO") }
