package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TCPIngressClassStatus is what was observed, and the book of ports.
type TCPIngressClassStatus struct {
	// ObservedGeneration is the generation that Metacontroller last synced. The
	// conditions carry their own, which tells what was judged.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are Accepted (the spec can be used), Programmed (the children are
	// as they should be) and ForeignEntries, which is True when a ConfigMap
	// carries keys that no TCPIngress asked for: the only one whose True is unusual.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// Addresses of the Services, as their load balancers reported them.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Addresses []Address `json:"addresses,omitempty"`
	// Listeners is the book: who holds which port. The key is "6379/TCP", or
	// "8443/TCP/db.example.com" for a port with hosts; the value is the holder,
	// "namespace/name/rule", or "*hosts" for a port that is shared by hosts.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=16384
	Listeners map[string]string `json:"listeners,omitempty"`
	// Ranges are held as a whole. Their ports are not repeated in listeners.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Ranges []ListenerRange `json:"ranges,omitempty"`

	// Switch is there while the class goes from one provider to another.
	//
	// +optional
	Switch *ProviderSwitch `json:"switch,omitempty"`
}

// ProviderSwitch tells how far the switch of a class's provider has come. What is
// lost of it makes the switch take longer, nothing else.
type ProviderSwitch struct {
	// From is the provider that is left.
	//
	// +required
	From Provider `json:"from"`

	// Ports is a digest of the ports that the new side was seen to have at prepared.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=64
	Ports string `json:"ports,omitempty"`

	// Prepared is when the new side was first seen to have all that it needs. The
	// Services move when the period of propagation has passed since.
	//
	// +optional
	Prepared *metav1.Time `json:"prepared,omitempty"`

	// Moved is when the Services were first seen to lead to the new side. What is left
	// of the old one goes when the period of draining has passed since.
	//
	// +optional
	Moved *metav1.Time `json:"moved,omitempty"`
}

// ListenerRange is a range of ports with its holder.
type ListenerRange struct {
	// From is the first port.
	//
	// +required
	From int32 `json:"from"`
	// To is the last port.
	//
	// +required
	To int32 `json:"to"`
	// Protocol of the ports.
	//
	// +required
	Protocol Protocol `json:"protocol"`
	// Holder is "namespace/name/rule".
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=600
	Holder string `json:"holder"`
}
