package v1

import "k8s.io/apimachinery/pkg/runtime/schema"

// The group, its version and its kinds.
const (
	Group               = "nginx-stream.dev"
	Version             = "v1"
	APIVersion          = Group + "/" + Version
	KindTCPIngress      = "TCPIngress"
	KindTCPIngressClass = "TCPIngressClass"
	KindTCPIngressSlice = "TCPIngressSlice"
)

// Names of labels and annotations that mean something to the controllers.
const (
	// AnnotationDefaultClass with the value "true" makes a TCPIngressClass the
	// one for TCPIngresses that name none. Of several, the oldest counts.
	AnnotationDefaultClass = Group + "/is-default-class"
	// AnnotationExpose on a Service asks for TCPIngresses: "6379, 5432:postgres, 53/UDP".
	AnnotationExpose = Group + "/expose"
	// AnnotationExposeError tells why the value of AnnotationExpose was refused.
	AnnotationExposeError = Group + "/expose-error"
	// AnnotationIngressClass on an annotated Service chooses the class.
	AnnotationIngressClass = Group + "/ingress-class"
	// AnnotationAllowDelete with the value "true" lets a class in use be deleted.
	AnnotationAllowDelete = Group + "/allow-delete"
	// LabelClass names the class that a TCPIngressSlice belongs to.
	LabelClass = Group + "/class"
	// LabelSlice carries the two hex digits of a TCPIngressSlice's page.
	LabelSlice = Group + "/slice"
)

// GroupVersion is the group and version of every kind here.
func GroupVersion() schema.GroupVersion { return schema.GroupVersion{Group: Group, Version: Version} }
