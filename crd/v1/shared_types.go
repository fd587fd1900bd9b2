package v1

// Protocol is the transport protocol of a port.
//
// +kubebuilder:validation:Enum=TCP;UDP
type Protocol string

// The protocols that nginx can forward.
const (
	ProtocolTCP Protocol = "TCP"
	ProtocolUDP Protocol = "UDP"
)

// PortRange is a range of port numbers, both ends included.
type PortRange struct {
	// From is the first port of the range, 1 to 65535.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	From int32 `json:"from"`
	// To is the last port of the range, From to 65535.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	To int32 `json:"to"`
}

// Address is where clients reach the ports of one protocol.
type Address struct {
	// Protocol of the Service that has this address. TCP and UDP have a Service each.
	Protocol Protocol `json:"protocol"`
	// Type of the value.
	Type AddressType `json:"type"`
	// Value is an IP address or a DNS name.
	//
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Value string `json:"value"`
}

// AddressType tells what the value of an Address is.
//
// +kubebuilder:validation:Enum=IPAddress;Hostname
type AddressType string

// The types of addresses, named as in the Gateway API.
const (
	AddressIP       AddressType = "IPAddress"
	AddressHostname AddressType = "Hostname"
)
