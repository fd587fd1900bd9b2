package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TCPIngressSlice carries the verdicts of one class on some of its TCPIngresses,
// as an EndpointSlice carries some endpoints of a Service. It is internal: the
// class's hook writes it, the TCPIngress hook reads it, and its form may change.
// Read the status of TCPIngresses and TCPIngressClasses instead.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=tcpingressslices,scope=Cluster
// +kubebuilder:printcolumn:name=Class,type=string,JSONPath=`.class`,description="The class that judged."
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type TCPIngressSlice struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Class that judged.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Class string `json:"class"`
	// Addresses of the class.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Addresses []Address `json:"addresses,omitempty"`
	// AllowExternalName tells that the class lets rules lead to ExternalName Services.
	//
	// +optional
	AllowExternalName bool `json:"allowExternalName,omitempty"`
	// Entries by "namespace/name" of the TCPIngress.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=16384
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
	//
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// Rules by name. A map, because Metacontroller would merge a list of
	// objects that have a port by that port.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=1024
	Rules map[string]SliceRule `json:"rules,omitempty"`
}

// SliceRule is the verdict on one rule.
type SliceRule struct {
	// Port that is held or asked for; left out if none could be given.
	//
	// +optional
	Port int32 `json:"port,omitempty"`
	// EndPort is the last port of a range.
	//
	// +optional
	EndPort int32 `json:"endPort,omitempty"`
	// Protocol of the port.
	//
	// +optional
	Protocol Protocol `json:"protocol,omitempty"`
	// Hosts of a rule that holds a port together with others.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MaxLength=253
	Hosts []string `json:"hosts,omitempty"`

	// Reason why the rule is not accepted, or not programmed. Empty means accepted.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=1024
	Reason string `json:"reason,omitempty"`
	// Message belonging to reason.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32768
	Message string `json:"message,omitempty"`
	// Live is true only if the observed children carry exactly what the rule says.
	//
	// +optional
	Live bool `json:"live,omitempty"`

	// Since is when the configuration of provider Nginx was first seen to carry the
	// rule as it is, RFC 3339 in seconds. Pods may see it later, see propagationSeconds.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=32
	Since string `json:"since,omitempty"`
}
