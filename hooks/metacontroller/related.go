package metacontroller

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// RelatedResourceRule selects related objects: by Names (then no selector is
// allowed), or by LabelSelector; Namespace and NamespaceSelector exclude each other.
type RelatedResourceRule struct {
	APIVersion string `json:"apiVersion"`
	// Resource is the plural in lower case.
	Resource string `json:"resource"`
	// LabelSelector; &metav1.LabelSelector{} selects all and is written as {}.
	LabelSelector     *metav1.LabelSelector `json:"labelSelector,omitempty"`
	Namespace         string                `json:"namespace,omitempty"`
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	Names             []string              `json:"names,omitempty"`
}
