package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TCPIngressSlice carries the verdicts of one class on some of its TCPIngresses,
// as an EndpointSlice carries some endpoints of a Service. It is internal: the
// class's hook writes it, the TCPIngress hook reads it, and its form may change.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=tcpingressslices,scope=Cluster
// +kubebuilder:printcolumn:name=Class,type=string,JSONPath=`.class`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type TCPIngressSlice struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Class that judged.
	Class string `json:"class"`
	// Addresses of the class.
	Addresses []Address `json:"addresses,omitempty"`
	// AllowExternalName tells that the class lets rules lead to ExternalName Services.
	AllowExternalName bool `json:"allowExternalName,omitempty"`
	// Entries by "namespace/name" of the TCPIngress.
	Entries map[string]SliceEntry `json:"entries,omitempty"`
}

// TCPIngressSliceList is a list of TCPIngressSlices.
//
// +kubebuilder:object:root=true
type TCPIngressSliceList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`

	Items []TCPIngressSlice `json:"items"`
}

// SliceEntry is what was judged of one generation of one TCPIngress.
type SliceEntry struct {
	// Generation of the TCPIngress that was judged.
	Generation int64 `json:"generation,omitempty"`
	// Rules by name. A map, because Metacontroller would merge a list of
	// objects that have a port by that port.
	Rules map[string]SliceRule `json:"rules,omitempty"`
}

// SliceRule is the verdict on one rule.
type SliceRule struct {
	// Port that is held or asked for; 0 if none could be given.
	Port int32 `json:"port,omitempty"`
	// EndPort of a range.
	EndPort int32 `json:"endPort,omitempty"`
	// Protocol of the port.
	Protocol Protocol `json:"protocol,omitempty"`
	// Reason why the rule is not accepted, or not programmed. Empty means accepted.
	Reason string `json:"reason,omitempty"`
	// Message belonging to Reason.
	Message string `json:"message,omitempty"`
	// Live is true only if the observed children carry exactly what the rule says.
	Live bool `json:"live,omitempty"`
}
