package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TCPIngressClass describes one nginx that TCPIngresses share: where it runs,
// which Services lead to it, and who may use which ports. Its status is the book
// of who holds which port. With the annotation
// `nginx-stream.dev/is-default-class: "true"` it is the class of TCPIngresses
// that name none. Its name is at most 52 characters long.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=tcpingressclasses,scope=Cluster,shortName=tcpingclass
// +kubebuilder:printcolumn:name=Provider,type=string,JSONPath=`.spec.provider`,description="The data plane."
// +kubebuilder:printcolumn:name=Namespace,type=string,JSONPath=`.spec.namespace`,description="Where nginx and its Services are."
// +kubebuilder:printcolumn:name=Address,type=string,JSONPath=`.status.addresses[*].value`,description="Where clients connect to."
// +kubebuilder:printcolumn:name=Accepted,type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`,description="Whether the spec can be used."
// +kubebuilder:printcolumn:name=Programmed,type=string,JSONPath=`.status.conditions[?(@.type=="Programmed")].status`,description="Whether the children are as they should be."
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || self.metadata.name.size() <= 52 && self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",optionalOldSelf=true,message="metadata.name must be the name of a TCPIngressClass: lower-case letters, digits and '-', starting with a letter and ending with a letter or digit, at most 52 characters"
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() && oldSelf.value().spec == self.spec || (has(self.spec.service) && has(self.spec.service.tcpName) ? self.spec.service.tcpName : self.metadata.name + '-stream-tcp') != (has(self.spec.service) && has(self.spec.service.udpName) ? self.spec.service.udpName : self.metadata.name + '-stream-udp')",optionalOldSelf=true,message="tcpName and udpName must differ: each protocol has a Service of its own",fieldPath=".spec.service.udpName"
// +kubebuilder:validation:XValidation:rule="(has(self.spec.service) && has(self.spec.service.tcpName) ? self.spec.service.tcpName : self.metadata.name + '-stream-tcp') == (has(oldSelf.spec.service) && has(oldSelf.spec.service.tcpName) ? oldSelf.spec.service.tcpName : self.metadata.name + '-stream-tcp')",message="tcpName is immutable: a rename would delete the Service and its address; set it back, or make a new class",fieldPath=".spec.service.tcpName"
// +kubebuilder:validation:XValidation:rule="(has(self.spec.service) && has(self.spec.service.udpName) ? self.spec.service.udpName : self.metadata.name + '-stream-udp') == (has(oldSelf.spec.service) && has(oldSelf.spec.service.udpName) ? oldSelf.spec.service.udpName : self.metadata.name + '-stream-udp')",message="udpName is immutable: a rename would delete the Service and its address; set it back, or make a new class",fieldPath=".spec.service.udpName"
type TCPIngressClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec is what shall be.
	//
	// +required
	Spec TCPIngressClassSpec `json:"spec"`
	// Status is what was observed, and the book of ports. The controllers write
	// it; do not edit it.
	//
	// +optional
	Status TCPIngressClassStatus `json:"status,omitempty,omitzero"`
}

// TCPIngressClassList is a list of TCPIngressClasses.
//
// +kubebuilder:object:root=true
type TCPIngressClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`

	Items []TCPIngressClass `json:"items"`
}

// TCPIngressClassSpec is what a platform admin declares.
//
// +kubebuilder:validation:XValidation:rule=`(has(self.service) && has(self.service.loadBalancerClass) ? self.service.loadBalancerClass : "") == (has(oldSelf.service) && has(oldSelf.service.loadBalancerClass) ? oldSelf.service.loadBalancerClass : "")`,message="loadBalancerClass is immutable: a Service cannot change it; set it back, or make a new class",fieldPath=".service.loadBalancerClass"
// +kubebuilder:validation:XValidation:rule="(has(self.ingressNginx) && has(self.ingressNginx.tcpConfigMapName) ? self.ingressNginx.tcpConfigMapName : 'tcp-services') == (has(oldSelf.ingressNginx) && has(oldSelf.ingressNginx.tcpConfigMapName) ? oldSelf.ingressNginx.tcpConfigMapName : 'tcp-services')",message="tcpConfigMapName is immutable: a rename would delete the ConfigMap that nginx reads; set it back, or make a new class",fieldPath=".ingressNginx.tcpConfigMapName"
// +kubebuilder:validation:XValidation:rule="(has(self.ingressNginx) && has(self.ingressNginx.udpConfigMapName) ? self.ingressNginx.udpConfigMapName : 'udp-services') == (has(oldSelf.ingressNginx) && has(oldSelf.ingressNginx.udpConfigMapName) ? oldSelf.ingressNginx.udpConfigMapName : 'udp-services')",message="udpConfigMapName is immutable: a rename would delete the ConfigMap that nginx reads; set it back, or make a new class",fieldPath=".ingressNginx.udpConfigMapName"
// +kubebuilder:validation:XValidation:rule="!has(self.service) || !has(self.service.idlePort) || !has(self.ports) || !has(self.ports.allowed) || self.ports.allowed.exists(a, a.from <= self.service.idlePort && self.service.idlePort <= a.to)",message="idlePort must lie within one of the ranges in ports.allowed; widen that range or choose another port",fieldPath=".service.idlePort"
// +kubebuilder:validation:XValidation:rule="!has(self.service) || !has(self.service.idlePort) || self.provider == 'Nginx' || !(self.service.idlePort in (has(self.ingressNginx) && has(self.ingressNginx.reservedPorts) ? self.ingressNginx.reservedPorts : [80, 442, 443, 8181, 8443, 10245, 10246, 10247, 10254, 11514]))",message="idlePort is reserved for nginx itself (see reservedPorts); choose another",fieldPath=".service.idlePort"
// +kubebuilder:validation:XValidation:rule="!has(self.service) || !has(self.service.idlePort) || self.provider != 'Nginx' || self.service.idlePort != 10270 && !(has(self.nginx) && has(self.nginx.reservedPorts) && self.service.idlePort in self.nginx.reservedPorts) && !(has(self.nginx) && has(self.nginx.ipLocalPortRange) ? self.nginx.ipLocalPortRange.from <= self.service.idlePort && self.service.idlePort <= self.nginx.ipLocalPortRange.to : 32768 <= self.service.idlePort && self.service.idlePort <= 60999)",message="idlePort is reserved for nginx itself (see reservedPorts and ipLocalPortRange); choose another",fieldPath=".service.idlePort"
// +kubebuilder:validation:XValidation:rule="self.provider == 'Nginx' || !has(self.ports) || !has(self.ports.pool) || self.ports.pool.from > self.ports.pool.to || self.ports.pool.to - self.ports.pool.from + 1 > (has(self.ingressNginx) && has(self.ingressNginx.reservedPorts) ? self.ingressNginx.reservedPorts : [80, 442, 443, 8181, 8443, 10245, 10246, 10247, 10254, 11514]).filter(r, self.ports.pool.from <= r && r <= self.ports.pool.to).size()",message="pool lies wholly within ports that are reserved for nginx itself (see reservedPorts), so no rule could get a port of it; move the pool",fieldPath=".ports.pool"
// +kubebuilder:validation:XValidation:rule="self.provider != 'Nginx' || !has(self.ports) || !has(self.ports.pool) || self.ports.pool.from > self.ports.pool.to || [has(self.nginx) && has(self.nginx.ipLocalPortRange) ? self.nginx.ipLocalPortRange.from : 32768].exists(f, [has(self.nginx) && has(self.nginx.ipLocalPortRange) ? self.nginx.ipLocalPortRange.to : 60999].exists(t, self.ports.pool.to - self.ports.pool.from + 1 > (self.ports.pool.to < f || t < self.ports.pool.from ? 0 : (self.ports.pool.to < t ? self.ports.pool.to : t) - (self.ports.pool.from > f ? self.ports.pool.from : f) + 1) + ((has(self.nginx) && has(self.nginx.reservedPorts) ? self.nginx.reservedPorts.filter(r, r != 10270) : []) + [10270]).filter(r, self.ports.pool.from <= r && r <= self.ports.pool.to && (r < f || t < r)).size()))",message="pool lies wholly within ports that are reserved for nginx itself (10270, ipLocalPortRange, which is 32768 to 60999 if left out, and reservedPorts), so no rule could get a port of it; move the pool",fieldPath=".ports.pool"
type TCPIngressClassSpec struct {
	// Provider is the data plane. IngressNginx (the default): an ingress-nginx
	// controller that runs already reads our ConfigMaps. Nginx: we run stock nginx
	// ourselves. It may be changed while the class is in use: the Services and
	// their addresses stay, and the old side serves until the new one does.
	//
	// +optional
	// +kubebuilder:default=IngressNginx
	Provider Provider `json:"provider,omitempty"`
	// Namespace of the Services, of the ConfigMaps and of nginx. For provider
	// IngressNginx it is the one of its controller. It must exist. Immutable: a
	// move would delete the Services and their addresses.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')",message="must be a DNS label: lower-case letters, digits and '-', starting and ending with a letter or digit, at most 63 characters"
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="namespace is immutable: a move would delete the Services and their addresses; set it back, or make a new class"
	Namespace string `json:"namespace"`
	// IngressNginx holds the settings of provider IngressNginx. They do nothing
	// with another provider. Left out, the defaults of each field.
	//
	// +optional
	IngressNginx *IngressNginx `json:"ingressNginx,omitempty"`
	// Nginx holds the settings of provider Nginx. They do nothing with another
	// provider. Left out, the defaults of each field.
	//
	// +optional
	Nginx *Nginx `json:"nginx,omitempty"`
	// Service in front of nginx, one for each protocol. Left out, the defaults of
	// each field.
	//
	// +optional
	Service *ClassService `json:"service,omitempty"`
	// Ports says who may use which numbers. Left out, everybody may use all that
	// nginx does not need itself, and there is no pool.
	//
	// +optional
	Ports *ClassPorts `json:"ports,omitempty"`
	// AllowedNamespaces says who may use the class. Left out, everybody.
	//
	// +optional
	AllowedNamespaces *AllowedNamespaces `json:"allowedNamespaces,omitempty"`
}

// Provider is a kind of data plane.
//
// +kubebuilder:validation:Enum=IngressNginx;Nginx
type Provider string

// The providers.
const (
	// ProviderIngressNginx writes the ConfigMaps that an ingress-nginx controller reads.
	ProviderIngressNginx Provider = "IngressNginx"
	// ProviderNginx runs stock nginx itself.
	ProviderNginx Provider = "Nginx"
)

// IngressNginx holds the settings of provider IngressNginx.
//
// +kubebuilder:validation:XValidation:rule=`!(has(self.tcpConfigMapName) && self.tcpConfigMapName == "" && has(self.udpConfigMapName) && self.udpConfigMapName == "")`,message="one of tcpConfigMapName and udpConfigMapName must be given: \"\" switches a protocol off, and with both off the class can serve nothing"
// +kubebuilder:validation:XValidation:rule=`(has(self.tcpConfigMapName) ? self.tcpConfigMapName : 'tcp-services') != (has(self.udpConfigMapName) ? self.udpConfigMapName : 'udp-services') || has(self.tcpConfigMapName) && self.tcpConfigMapName == ""`,message="must differ from tcpConfigMapName: ingress-nginx reads TCP and UDP from two ConfigMaps",fieldPath=".udpConfigMapName"
type IngressNginx struct {
	// TCPConfigMapName is the ConfigMap that the controller's flag
	// `--tcp-services-configmap` names. Left out, it is tcp-services. Empty (""),
	// the class serves no TCP, and such rules are refused (ProtocolDisabled).
	// Immutable, since a rename would delete the old ConfigMap. One that exists
	// already is not touched until it is handed over; the class's condition
	// Programmed says how.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$')`,message="must be the name of a ConfigMap: lower-case letters, digits, '-' and '.', at most 253 characters"
	TCPConfigMapName *string `json:"tcpConfigMapName,omitempty"`
	// UDPConfigMapName is the ConfigMap that the controller's flag
	// `--udp-services-configmap` names. Left out, it is udp-services. Empty (""),
	// the class serves no UDP, and such rules are refused (ProtocolDisabled). It
	// differs from tcpConfigMapName, and is immutable like it.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$')`,message="must be the name of a ConfigMap: lower-case letters, digits, '-' and '.', at most 253 characters"
	UDPConfigMapName *string `json:"udpConfigMapName,omitempty"`
	// Selector of the controller's pods, written into the Services, 1 to 16
	// labels. Left out, the labels of the official chart: app.kubernetes.io/name
	// and app.kubernetes.io/instance ingress-nginx, app.kubernetes.io/component
	// controller; and the selector of a Service that was handed over to us is not
	// touched then.
	//
	// +optional
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	Selector map[string]string `json:"selector,omitempty"`
	// ReservedPorts are the numbers that the controller's pod uses itself, for TCP
	// and UDP alike; rules that ask for one are refused (PortReserved). A port
	// that is missing here and is in use stops every later change of nginx's
	// configuration, so list what the flags of the controller say. A list replaces
	// the default: 80, 442, 443, 8181, 8443, 10245, 10246, 10247, 10254 and 11514.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	ReservedPorts []int32 `json:"reservedPorts,omitempty"`
}
