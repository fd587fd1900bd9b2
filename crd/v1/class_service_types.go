package v1

import corev1 "k8s.io/api/core/v1"

// ClassService describes the Services in front of nginx, one for each protocol.
// A Service of another origin that was handed over to us keeps all that is not
// set here, its other ports included.
//
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type == 'LoadBalancer' || !has(self.loadBalancerClass)",message="needs type LoadBalancer; leave it out",fieldPath=".loadBalancerClass",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type == 'LoadBalancer' || !has(self.loadBalancerSourceRanges)",message="needs type LoadBalancer; leave it out",fieldPath=".loadBalancerSourceRanges",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type == 'LoadBalancer' || !has(self.annotations) || !('service.beta.kubernetes.io/load-balancer-source-ranges' in self.annotations)",message="needs type LoadBalancer; leave it out",fieldPath=".annotations['service.beta.kubernetes.io/load-balancer-source-ranges']",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.annotations) || !('service.kubernetes.io/topology-mode' in self.annotations) || !('service.kubernetes.io/topology-aware-hints' in self.annotations) || self.annotations['service.kubernetes.io/topology-mode'] == self.annotations['service.kubernetes.io/topology-aware-hints']",message="differs from service.kubernetes.io/topology-aware-hints, its former name; leave that one out",fieldPath=".annotations['service.kubernetes.io/topology-mode']"
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type == 'LoadBalancer' || !has(self.allocateLoadBalancerNodePorts)",message="needs type LoadBalancer; leave it out",fieldPath=".allocateLoadBalancerNodePorts",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type in ['LoadBalancer', 'NodePort'] || !has(self.externalTrafficPolicy)",message="needs type LoadBalancer or NodePort; leave it out",fieldPath=".externalTrafficPolicy",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.type) || self.type != 'None' || !has(self.idlePort)",message="with type None there is no Service to keep; leave it out",fieldPath=".idlePort",reason=FieldValueForbidden
// +kubebuilder:validation:XValidation:rule="!has(self.maxPorts) || self.maxPorts <= 2000 || has(self.type) && self.type in ['ClusterIP', 'None'] || (!has(self.type) || self.type == 'LoadBalancer') && has(self.allocateLoadBalancerNodePorts) && !self.allocateLoadBalancerNodePorts",message="must be at most 2000 while every port takes a node port too; set allocateLoadBalancerNodePorts: false with type LoadBalancer for more",fieldPath=".maxPorts"
type ClassService struct {
	// Type of the Services: LoadBalancer, NodePort, ClusterIP, or None for no
	// Service at all (nginx is reached in another way). Left out, a Service that
	// we create is a LoadBalancer, and the type of one that was handed over is
	// not touched.
	//
	// +optional
	Type ClassServiceType `json:"type,omitempty"`
	// TCPName is the Service for TCP. Left out, <class>-stream-tcp. The name of a
	// Service that exists already, such as the one of the ingress-nginx chart,
	// shares its address once it was handed over; the class's condition Programmed
	// says how. Differs from udpName. Immutable: a rename would delete the Service
	// and its address.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="must be the name of a Service: lower-case letters, digits and '-', starting with a letter and ending with a letter or digit, at most 63 characters"
	TCPName string `json:"tcpName,omitempty"`
	// UDPName is the Service for UDP. Left out, <class>-stream-udp. Otherwise as tcpName.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="must be the name of a Service: lower-case letters, digits and '-', starting with a letter and ending with a letter or digit, at most 63 characters"
	UDPName string `json:"udpName,omitempty"`
	// Annotations of the Services, for the load balancer of your cloud, at most 64
	// with values of at most 4,096 bytes, 64 KiB in all. Annotations of others on
	// the Services stay. Keys of nginx-stream.dev, metacontroller.k8s.io and
	// kubectl.kubernetes.io are refused.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('nginx-stream.dev/') && !k.startsWith('metacontroller.k8s.io/') && !k.startsWith('kubectl.kubernetes.io/'))",message="keys of nginx-stream.dev, metacontroller.k8s.io and kubectl.kubernetes.io belong to the controllers; choose others",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].size() <= 4096)",message="a value has at most 4096 characters"
	Annotations map[string]string `json:"annotations,omitempty"`
	// Labels of the Services, at most 64. The label controller-uid and keys of
	// nginx-stream.dev, metacontroller.k8s.io and kubectl.kubernetes.io are refused.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'controller-uid' && !k.startsWith('nginx-stream.dev/') && !k.startsWith('metacontroller.k8s.io/') && !k.startsWith('kubectl.kubernetes.io/'))",message="controller-uid and keys of nginx-stream.dev, metacontroller.k8s.io and kubectl.kubernetes.io belong to the controllers; choose others",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].size() <= 63)",message="the value of a label has at most 63 characters"
	Labels map[string]string `json:"labels,omitempty"`
	// LoadBalancerClass chooses the load balancer's implementation. Left out, the
	// cluster's default. With type LoadBalancer only. Immutable, as in a Service.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="self.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$')",message="must be a name such as \"internal-vip\" or \"example.com/internal-vip\""
	LoadBalancerClass string `json:"loadBalancerClass,omitempty"`
	// LoadBalancerSourceRanges are the CIDRs that the load balancer lets in, where
	// it supports that, at most 64, in their usual form ("10.0.0.0/8"). Left out,
	// everybody. With type LoadBalancer only.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:items:XValidation:rule=`isCIDR(self)`,message="must be a CIDR such as 10.0.0.0/8 or 2001:db8::/32"
	// +kubebuilder:validation:items:XValidation:rule=`!isCIDR(self) || string(cidr(self).masked()) == self`,message="must be a CIDR in its usual form, with no bits set behind the prefix: 10.0.0.0/8, not 10.0.0.1/8"
	LoadBalancerSourceRanges []string `json:"loadBalancerSourceRanges,omitempty"`
	// ExternalTrafficPolicy is Cluster, which hides the client's address from
	// nginx, or Local, which keeps it and needs a ready nginx on every node that
	// the load balancer uses. Left out, what the Service has; one that is made anew
	// has Local with provider Nginx, else Cluster. With type LoadBalancer or NodePort
	// only.
	//
	// +optional
	// +kubebuilder:validation:Enum=Cluster;Local
	ExternalTrafficPolicy corev1.ServiceExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`
	// IPFamilyPolicy is SingleStack, PreferDualStack or RequireDualStack; the last
	// is refused by a cluster with one IP family. Left out, what the Service has
	// (Kubernetes' default is SingleStack).
	//
	// +optional
	// +kubebuilder:validation:Enum=SingleStack;PreferDualStack;RequireDualStack
	IPFamilyPolicy corev1.IPFamilyPolicy `json:"ipFamilyPolicy,omitempty"`
	// AllocateLoadBalancerNodePorts false saves the node ports, of which a cluster
	// has 2,768 by default, where the load balancer does not need them. Left out,
	// what the Service has (Kubernetes' default is true). With type LoadBalancer only.
	//
	// +optional
	AllocateLoadBalancerNodePorts *bool `json:"allocateLoadBalancerNodePorts,omitempty"`
	// MaxPorts is how many ports each Service may have, 1 to 4000, at most 2000
	// while every port takes a node port too. Left out, 1000. Every port of a range
	// counts, and those of others on a shared Service. A rule that would exceed it
	// is refused (CapacityExceeded); nobody loses a port. Clouds have limits of
	// their own, often 50: set it to that, so that the refusal is seen here.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=4000
	MaxPorts *int32 `json:"maxPorts,omitempty"`
	// IdlePort, 1 to 65535, is a port that the Services show while no rule needs
	// one, so that they exist, and keep their addresses, without rules: Kubernetes
	// allows no Service without ports. Nothing answers there. It must be allowed
	// and not reserved. Left out, a Service without rules is deleted.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	IdlePort int32 `json:"idlePort,omitempty"`
}

// ClassServiceType is the type of the Services.
//
// +kubebuilder:validation:Enum=LoadBalancer;NodePort;ClusterIP;None
type ClassServiceType string

// The types. None means that no Service is made.
const (
	ServiceLoadBalancer ClassServiceType = "LoadBalancer"
	ServiceNodePort     ClassServiceType = "NodePort"
	ServiceClusterIP    ClassServiceType = "ClusterIP"
	ServiceNone         ClassServiceType = "None"
)
