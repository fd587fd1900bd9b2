package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TCPIngress asks for TCP or UDP ports of a shared nginx, and says which
// Service of its own namespace each of them leads to.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=tcpingresses,scope=Namespaced,shortName=tcping
// +kubebuilder:printcolumn:name=Class,type=string,JSONPath=`.status.className`
// +kubebuilder:printcolumn:name=Ports,type=string,JSONPath=`.status.ports`
// +kubebuilder:printcolumn:name=Address,type=string,JSONPath=`.status.addresses[*].value`
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name=Reason,type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type TCPIngress struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	Spec   TCPIngressSpec   `json:"spec"`
	Status TCPIngressStatus `json:"status,omitempty,omitzero"`
}

// TCPIngressList is a list of TCPIngresses.
//
// +kubebuilder:object:root=true
type TCPIngressList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`

	Items []TCPIngress `json:"items"`
}

// TCPIngressSpec is what an app team declares.
type TCPIngressSpec struct {
	// IngressClassName is the TCPIngressClass, empty for the default class.
	IngressClassName string `json:"ingressClassName,omitempty"`
	// Rules are judged one by one: a bad rule never takes down a good one.
	Rules []Rule `json:"rules"`
}

// Rule forwards one port, or one range of ports, to a Service.
type Rule struct {
	// Name of the rule, default <protocol>-<port>.
	Name string `json:"name,omitempty"`
	// Port is the external port. Left out, one is taken from the class's pool.
	Port int32 `json:"port,omitempty"`
	// EndPort is the last port of a range.
	EndPort int32 `json:"endPort,omitempty"`
	// Protocol is TCP (default) or UDP.
	Protocol Protocol `json:"protocol,omitempty"`
	// Hosts are TLS server names (SNI).
	Hosts []string `json:"hosts,omitempty"`
	// Backend is where the traffic goes.
	Backend Backend `json:"backend"`
	// ProxyProtocol in and out.
	ProxyProtocol *ProxyProtocol `json:"proxyProtocol,omitempty"`
	// AllowSources are the CIDRs that may connect.
	AllowSources []string `json:"allowSources,omitempty"`
	// Timeouts of the connection.
	Timeouts *Timeouts `json:"timeouts,omitempty"`
	// Limits per client.
	Limits *Limits `json:"limits,omitempty"`
}

// Backend is the target of a rule.
type Backend struct {
	// Service of the same namespace.
	Service BackendService `json:"service"`
}

// BackendService names a Service and one of its ports.
type BackendService struct {
	// Name of the Service.
	Name string `json:"name"`
	// Port of the Service.
	Port *BackendPort `json:"port,omitempty"`
}

// BackendPort is a port of a Service, by number or by name.
type BackendPort struct {
	// Number of the Service's port.
	Number int32 `json:"number,omitempty"`
	// Name of the Service's port.
	Name string `json:"name,omitempty"`
}

// ProxyProtocol says on which side nginx speaks the PROXY protocol.
type ProxyProtocol struct {
	// Accept it from clients.
	Accept bool `json:"accept,omitempty"`
	// Send it to the backend.
	Send ProxyProtocolVersion `json:"send,omitempty"`
}

// ProxyProtocolVersion is the version of the PROXY protocol that nginx sends.
//
// +kubebuilder:validation:Enum=None;V1
type ProxyProtocolVersion string

// The versions that nginx can send.
const (
	ProxyProtocolNone ProxyProtocolVersion = "None"
	ProxyProtocolV1   ProxyProtocolVersion = "V1"
)

// Timeouts of one rule.
type Timeouts struct {
	// Connect to the backend.
	Connect Duration `json:"connect,omitempty"`
	// Idle time between two reads or writes.
	Idle Duration `json:"idle,omitempty"`
}

// Duration is a time span such as "10s" or "1m30s", as in the Gateway API.
//
// +kubebuilder:validation:Pattern=`^([0-9]{1,5}(h|m|s|ms)){1,4}$`
type Duration string

// Limits of one rule.
type Limits struct {
	// ConnectionsPerClient is the number of concurrent connections of one client address.
	ConnectionsPerClient int32 `json:"connectionsPerClient,omitempty"`
}

// TCPIngressStatus is what was observed.
type TCPIngressStatus struct {
	// ObservedGeneration is the generation that Metacontroller last synced.
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are Ready, Accepted, ResolvedRefs, BackendsReady and Programmed.
	//
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ClassName is the class that judged the rules.
	ClassName string `json:"className,omitempty"`
	// Ports in short, such as "6379,53/UDP".
	Ports string `json:"ports,omitempty"`
	// Addresses where the ports are reached.
	Addresses []Address `json:"addresses,omitempty"`
	// Rules holds the state of each rule.
	//
	// +listType=map
	// +listMapKey=name
	Rules []RuleStatus `json:"rules,omitempty"`
}

// RuleStatus is the state of one rule.
type RuleStatus struct {
	// Name of the rule.
	Name string `json:"name"`
	// Port that the rule holds or asks for.
	Port int32 `json:"port,omitempty"`
	// EndPort of a range.
	EndPort int32 `json:"endPort,omitempty"`
	// Protocol of the port.
	Protocol Protocol `json:"protocol,omitempty"`
	// ServiceName is the backend Service that was looked at.
	ServiceName string `json:"serviceName,omitempty"`
	// PortName is the backend port name that was looked at.
	PortName string `json:"portName,omitempty"`
	// BackendPort is the number behind PortName.
	BackendPort int32 `json:"backendPort,omitempty"`
	// Conditions are Accepted, ResolvedRefs, BackendsReady and Programmed of this rule.
	//
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
