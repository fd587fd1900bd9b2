package v1

// Protocol is the transport protocol of a port: TCP or UDP, in capitals.
//
// +kubebuilder:validation:Enum=TCP;UDP
type Protocol string

// The protocols that nginx can forward.
const (
	ProtocolTCP Protocol = "TCP"
	ProtocolUDP Protocol = "UDP"
)

// PortRange is a range of port numbers, both ends included.
//
// +kubebuilder:validation:XValidation:rule="self.from <= self.to",message="to must not be less than from",fieldPath=".to"
type PortRange struct {
	// From is the first port of the range, 1 to 65535.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	From int32 `json:"from"`
	// To is the last port of the range, 1 to 65535 and not less than from. A
	// range of one port has the same number twice.
	//
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	To int32 `json:"to"`
}

// Address is where clients reach the ports of one protocol.
type Address struct {
	// Protocol of the Service that has this address. TCP and UDP have a Service
	// each, and so an address each.
	//
	// +required
	Protocol Protocol `json:"protocol"`
	// Type tells what value is: an IPAddress or a Hostname.
	//
	// +required
	Type AddressType `json:"type"`
	// Value is an IP address or a DNS name, as the load balancer reported it.
	//
	// +required
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

// Duration is a time span as the Gateway API writes it: one to four numbers of
// at most five digits, each with its unit h, m, s or ms, such as "10s" or "1m30s".
//
// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(h|m|s|ms)){1,4}$`
// +kubebuilder:validation:MaxLength=32
type Duration string
