package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TCPIngress asks for TCP or UDP ports of a shared nginx, and says which
// Service of its own namespace each of them leads to. Whether it got them, and
// if not why, is in its status: `kubectl get tcpingress`, then
// `kubectl describe tcpingress`.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=tcpingresses,scope=Namespaced,shortName=tcping
// +kubebuilder:printcolumn:name=Class,type=string,JSONPath=`.status.className`,description="The class that judged the rules."
// +kubebuilder:printcolumn:name=Ports,type=string,JSONPath=`.status.ports`,description="The ports that the rules hold or ask for."
// +kubebuilder:printcolumn:name=Address,type=string,JSONPath=`.status.addresses[*].value`,description="Where clients connect to."
// +kubebuilder:printcolumn:name=Ready,type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether every rule works."
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=Reason,type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why it is ready or not."
type TCPIngress struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec is what shall be.
	//
	// +required
	Spec TCPIngressSpec `json:"spec"`
	// Status is what was observed. The controllers write it; do not edit it.
	//
	// +optional
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
	// IngressClassName is the TCPIngressClass whose nginx and ports are used. Left
	// out or empty, it is the default class: the one with the annotation
	// `nginx-stream.dev/is-default-class: "true"`, of several the oldest. A
	// TCPIngress stays with the default class that it was first given to. While
	// the class does not exist, nothing happens, and the condition Accepted is Unknown.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=52
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')`,message="must be the name of a TCPIngressClass: lower-case letters, digits and '-', starting with a letter and ending with a letter or digit, at most 52 characters"
	IngressClassName string `json:"ingressClassName,omitempty"`
	// Rules are the ports, 1 to 64 of them, at most 8 with endPort. Each rule is
	// judged by itself: one that is refused never takes down another. No two
	// rules of one protocol may have the same port, unless both have hosts and
	// these differ; then they must agree on proxyProtocol.accept.
	//
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:XValidation:rule="self.all(a, !has(a.name) || self.exists_one(b, has(b.name) && b.name == a.name))",message="two rules have the same name; give each a name of its own"
	// +kubebuilder:validation:XValidation:rule="self.all(a, has(a.name) || !has(a.port) || !has(a.hosts) || self.filter(b, !has(b.name) && has(b.port) && has(b.hosts) && b.port == a.port).size() <= 1)",message="rules that share a port need names: without one, each is called <protocol>-<port>"
	// +kubebuilder:validation:XValidation:rule="self.all(a, !has(a.port) || self.filter(b, has(b.port) && a.protocol == b.protocol && (!has(a.hosts) || !has(b.hosts)) && a.port <= (has(b.endPort) ? b.endPort : b.port) && b.port <= (has(a.endPort) ? a.endPort : a.port)).size() <= (has(a.hosts) ? 0 : 1))",message="two rules have the same port; only rules with different hosts can share one"
	// +kubebuilder:validation:XValidation:rule=`self.all(a, !has(a.port) || !has(a.hosts) || self.all(b, !has(b.port) || !has(b.hosts) || a.port != b.port || !((has(a.name) ? a.name : "") < (has(b.name) ? b.name : "")) || !sets.intersects(a.hosts, b.hosts)))`,message="two rules have the same host on the same port; each host leads to one Service"
	// +kubebuilder:validation:XValidation:rule="self.all(a, !has(a.port) || !has(a.hosts) || self.all(b, !has(b.port) || !has(b.hosts) || a.port != b.port || (has(a.proxyProtocol) && has(a.proxyProtocol.accept) && a.proxyProtocol.accept) == (has(b.proxyProtocol) && has(b.proxyProtocol.accept) && b.proxyProtocol.accept)))",message="rules that share a port must agree on proxyProtocol.accept, which belongs to the port"
	// +kubebuilder:validation:XValidation:rule="self.filter(r, has(r.endPort)).size() <= 8",message="a TCPIngress has at most 8 rules with endPort; move some to another TCPIngress"
	Rules []Rule `json:"rules"`
}

// Rule forwards one port, or one range of ports, to a Service.
//
// +kubebuilder:validation:XValidation:rule="has(self.port) || has(self.name)",message="a rule without a port needs a name, under which it keeps the port that it gets from the pool",fieldPath=".name",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.endPort) || has(self.port)",message="needs port, the first port of the range; the pool gives single ports only",fieldPath=".endPort"
// +kubebuilder:validation:XValidation:rule="!has(self.endPort) || !has(self.port) || self.endPort >= self.port",message="must not be less than port",fieldPath=".endPort"
// +kubebuilder:validation:XValidation:rule="!has(self.endPort) || !has(self.port) || self.endPort - self.port < 1024",message="a range has at most 1024 ports; split it into several rules",fieldPath=".endPort"
// +kubebuilder:validation:XValidation:rule="!has(self.hosts) || self.protocol == 'TCP'",message="host names are read from TLS, so hosts need protocol TCP",fieldPath=".hosts",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.hosts) || has(self.port)",message="hosts share a port that is known to all of them; set port",fieldPath=".hosts",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.hosts) || !has(self.endPort)",message="hosts cannot be combined with endPort; write one rule for each port",fieldPath=".hosts",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="has(self.endPort) || has(self.backend.service.port)",message="name a port of the Service by its number or name",fieldPath=".backend.service.port",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.endPort) || !has(self.backend.service.port)",message="a range is forwarded number by number; leave the port of the Service out",fieldPath=".backend.service.port",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.proxyProtocol) || self.protocol == 'TCP' || !(has(self.proxyProtocol.accept) && self.proxyProtocol.accept) && !(has(self.proxyProtocol.send) && self.proxyProtocol.send != 'None')",message="the PROXY protocol works with TCP only; leave proxyProtocol out",fieldPath=".proxyProtocol",reason=FieldValueForbidden
type Rule struct {
	// Name tells this rule from the others, in status and in messages. It is a
	// DNS label, different from those of the other rules, and not of the form
	// tcp-<number> or udp-<number>: these are the names of rules without one,
	// made of protocol and port. Required where port is left out, because a port
	// from the pool is kept under the rule's name.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be a DNS label: lower-case letters, digits and '-', starting and ending with a letter or digit, at most 63 characters"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^(tcp|udp)-[0-9]+$')",message="must not be of the form tcp-<number> or udp-<number>, which rules without a name get; leave it out or choose another"
	Name string `json:"name,omitempty"`
	// Port is the number that clients connect to, 1 to 65535. It goes to whoever
	// asked first: where another TCPIngress of the class has it, this rule is
	// refused (PortConflict), as it is where the class reserves the number
	// (PortReserved), does not allow it (PortNotAllowed) or grants it to others
	// (PortNotGranted). Left out, the class gives a free number from its pool,
	// which stays the same from then on.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Port int32 `json:"port,omitempty"`
	// EndPort makes the rule a range from port to endPort, both included, of at
	// most 1,024 ports. The range is given as a whole or not at all. Each port
	// leads to the same number at the Service, so backend.service.port is left
	// out then. Not with hosts. Left out, the rule has one port.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	EndPort int32 `json:"endPort,omitempty"`
	// Protocol is TCP (the default) or UDP. The two do not get into each other's
	// way: 53/TCP and 53/UDP are two ports. A rule is for one of them; for both,
	// write two rules.
	//
	// +optional
	// +kubebuilder:default=TCP
	Protocol Protocol `json:"protocol,omitempty"`
	// Hosts are the TLS server names (SNI) whose connections this rule takes,
	// each a DNS name in lower case, exact ("db.example.com") or with a wildcard
	// in front ("*.example.com"), at most 16. Several rules, also of several
	// TCPIngresses, may then share one port as long as their hosts differ. TLS is
	// passed through, not ended. TCP only, with a port. Left out, the rule takes
	// all traffic of the port, TLS or not, and shares it with nobody.
	// Provider IngressNginx cannot do this and refuses it (UnsupportedByProvider).
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=16
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^([*][.])?[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$')`,message="must be a DNS name in lower case, such as \"db.example.com\" or \"*.example.com\", at most 253 characters"
	// +kubebuilder:validation:items:XValidation:rule=`!isIP(self.startsWith('*.') ? self.substring(2) : self)`,message="must not be an IP address: TLS clients send names only; leave hosts out to forward the whole port"
	Hosts []string `json:"hosts,omitempty"`
	// Backend is where the traffic goes.
	//
	// +required
	Backend Backend `json:"backend"`
	// ProxyProtocol says on which side nginx speaks the PROXY protocol, which
	// carries the client's address. TCP only. Left out, on neither side.
	//
	// +optional
	ProxyProtocol *ProxyProtocol `json:"proxyProtocol,omitempty"`
	// AllowSources are the CIDRs whose addresses may connect, at most 64, in their
	// usual form ("10.0.0.0/8", no bits set behind the prefix). Everybody else's
	// connection is closed. Left out, everybody may connect. What counts is
	// the address that nginx sees: where the load balancer or
	// `externalTrafficPolicy: Cluster` hides the client, that is another one.
	// Provider IngressNginx cannot do this and refuses it (UnsupportedByProvider).
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:items:XValidation:rule=`isCIDR(self)`,message="must be a CIDR such as 10.0.0.0/8 or 2001:db8::/32"
	// +kubebuilder:validation:items:XValidation:rule=`!isCIDR(self) || string(cidr(self).masked()) == self`,message="must be a CIDR in its usual form, with no bits set behind the prefix: 10.0.0.0/8, not 10.0.0.1/8"
	AllowSources []string `json:"allowSources,omitempty"`
	// Timeouts of the rule's connections. Left out, those of the data plane.
	// Provider IngressNginx has one setting for all and refuses this (UnsupportedByProvider).
	//
	// +optional
	Timeouts *Timeouts `json:"timeouts,omitempty"`
	// Limits for each client. Left out, there are none.
	// Provider IngressNginx cannot do this and refuses it (UnsupportedByProvider).
	//
	// +optional
	Limits *Limits `json:"limits,omitempty"`
}

// Backend is the target of a rule.
type Backend struct {
	// Service that takes the traffic. There is no other kind of backend.
	//
	// +required
	Service BackendService `json:"service"`
}

// BackendService names a Service and one of its ports.
type BackendService struct {
	// Name of a Service in the namespace of the TCPIngress; other namespaces
	// cannot be reached. A Service that does not exist is reported
	// (ServiceNotFound) and picked up as soon as it does; the rule holds its port
	// meanwhile. A Service of type ExternalName is refused (UnsupportedService),
	// unless the class allows it.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be the plain name of a Service of the same namespace: lower-case letters, digits and '-', starting and ending with a letter or digit, at most 63 characters"
	Name string `json:"name"`
	// Port of the Service, which must have the protocol of the rule. Required,
	// except in a rule with endPort, which must not have it.
	//
	// +optional
	Port *BackendPort `json:"port,omitempty"`
}

// BackendPort is a port of a Service, either by number or by name.
//
// +kubebuilder:validation:XValidation:rule="has(self.number) != has(self.name)",message="give either number or name, the port of the Service"
type BackendPort struct {
	// Number is the Service's `port`, 1 to 65535; not its `targetPort`, and not a
	// port of the pod.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	Number int32 `json:"number,omitempty"`
	// Name is the name of the port in the Service; its number may then change
	// without an edit here.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=15
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]+(-[a-z0-9]+)*$') && self.matches('[a-z]')",message="must be the name of a Service port: lower-case letters, digits and single '-' between them, at least one letter, at most 15 characters; write a number as number"
	Name string `json:"name,omitempty"`
}

// ProxyProtocol says on which side nginx speaks the PROXY protocol.
type ProxyProtocol struct {
	// Accept means that whoever connects to the port, usually a load balancer,
	// speaks the PROXY protocol; clients that do not are cut off. It belongs to
	// the port: rules that share one must agree with the rule that had it first
	// (else HostConflict). The default is false.
	//
	// +optional
	Accept bool `json:"accept,omitempty"`
	// Send is what nginx speaks to the backend: None (the default) or V1, the
	// text form. A backend that does not expect it takes it for garbage.
	//
	// +optional
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
	// Connect is how long nginx tries to reach the backend, more than 0 and at
	// most 10m. Left out, the data plane's default (60s).
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}(h|m|s|ms)){1,4}$') || duration(self) > duration('0s') && duration(self) <= duration('10m')",message="must be more than 0 and at most 10m"
	Connect Duration `json:"connect,omitempty"`
	// Idle is how long a connection, or a UDP session, may be silent in both
	// directions before it is closed, more than 0 and at most 720h. Left out, the
	// data plane's default (10m; 1m for UDP with provider Nginx).
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}(h|m|s|ms)){1,4}$') || duration(self) > duration('0s') && duration(self) <= duration('720h')",message="must be more than 0 and at most 720h"
	Idle Duration `json:"idle,omitempty"`
}

// Limits of one rule.
type Limits struct {
	// ConnectionsPerClient is how many connections one client address may have
	// open at a time, 1 to 65535, in each replica of nginx; one more is closed at
	// once. Left out, there is no limit.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	ConnectionsPerClient int32 `json:"connectionsPerClient,omitempty"`
}
