package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TCPIngressClass describes one nginx that TCPIngresses share: where it runs,
// which Service leads to it, and who may use which ports.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=tcpingressclasses,scope=Cluster,shortName=tcpingclass
// +kubebuilder:printcolumn:name=Provider,type=string,JSONPath=`.spec.provider`
// +kubebuilder:printcolumn:name=Namespace,type=string,JSONPath=`.spec.namespace`
// +kubebuilder:printcolumn:name=Address,type=string,JSONPath=`.status.addresses[*].value`
// +kubebuilder:printcolumn:name=Accepted,type=string,JSONPath=`.status.conditions[?(@.type=="Accepted")].status`
// +kubebuilder:printcolumn:name=Programmed,type=string,JSONPath=`.status.conditions[?(@.type=="Programmed")].status`
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
type TCPIngressClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	Spec   TCPIngressClassSpec   `json:"spec"`
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
type TCPIngressClassSpec struct {
	// Provider is the data plane.
	Provider Provider `json:"provider,omitempty"`
	// Namespace of the Services, the ConfigMaps and nginx.
	Namespace string `json:"namespace"`
	// IngressNginx holds the settings of provider IngressNginx.
	IngressNginx *IngressNginx `json:"ingressNginx,omitempty"`
	// Nginx holds the settings of provider Nginx.
	Nginx *Nginx `json:"nginx,omitempty"`
	// Service in front of nginx.
	Service *ClassService `json:"service,omitempty"`
	// Ports says who may use which numbers.
	Ports *ClassPorts `json:"ports,omitempty"`
	// AllowedNamespaces says who may use the class.
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
type IngressNginx struct {
	// TCPConfigMapName, default tcp-services. "" switches TCP off.
	TCPConfigMapName *string `json:"tcpConfigMapName,omitempty"`
	// UDPConfigMapName, default udp-services. "" switches UDP off.
	UDPConfigMapName *string `json:"udpConfigMapName,omitempty"`
	// Selector of the controller's pods.
	Selector map[string]string `json:"selector,omitempty"`
	// ReservedPorts that the controller's pod uses itself.
	ReservedPorts []int32 `json:"reservedPorts,omitempty"`
}

// Nginx holds the settings of provider Nginx.
type Nginx struct {
	Image              string                       `json:"image,omitempty"`
	Replicas           *int32                       `json:"replicas,omitempty"`
	Resources          *corev1.ResourceRequirements `json:"resources,omitempty"`
	NodeSelector       map[string]string            `json:"nodeSelector,omitempty"`
	Tolerations        []corev1.Toleration          `json:"tolerations,omitempty"`
	PriorityClassName  string                       `json:"priorityClassName,omitempty"`
	PodAnnotations     map[string]string            `json:"podAnnotations,omitempty"`
	ClusterDomain      string                       `json:"clusterDomain,omitempty"`
	Resolver           []string                     `json:"resolver,omitempty"`
	ResolverTimeout    Duration                     `json:"resolverTimeout,omitempty"`
	TrustedProxies     []string                     `json:"trustedProxies,omitempty"`
	ReservedPorts      []int32                      `json:"reservedPorts,omitempty"`
	IPLocalPortRange   *PortRange                   `json:"ipLocalPortRange,omitempty"`
	AllowExternalName  bool                         `json:"allowExternalName,omitempty"`
	ReloadInterval     Duration                     `json:"reloadInterval,omitempty"`
	MaxOldWorkers      int32                        `json:"maxOldWorkers,omitempty"`
	PropagationSeconds *int32                       `json:"propagationSeconds,omitempty"`
	SwitchDrainSeconds *int32                       `json:"switchDrainSeconds,omitempty"`
}

// ClassService describes the Services in front of nginx, one per protocol.
type ClassService struct {
	Type                          ClassServiceType                    `json:"type,omitempty"`
	TCPName                       string                              `json:"tcpName,omitempty"`
	UDPName                       string                              `json:"udpName,omitempty"`
	Annotations                   map[string]string                   `json:"annotations,omitempty"`
	Labels                        map[string]string                   `json:"labels,omitempty"`
	LoadBalancerClass             string                              `json:"loadBalancerClass,omitempty"`
	LoadBalancerSourceRanges      []string                            `json:"loadBalancerSourceRanges,omitempty"`
	ExternalTrafficPolicy         corev1.ServiceExternalTrafficPolicy `json:"externalTrafficPolicy,omitempty"`
	IPFamilyPolicy                corev1.IPFamilyPolicy               `json:"ipFamilyPolicy,omitempty"`
	AllocateLoadBalancerNodePorts *bool                               `json:"allocateLoadBalancerNodePorts,omitempty"`
	MaxPorts                      *int32                              `json:"maxPorts,omitempty"`
	IdlePort                      int32                               `json:"idlePort,omitempty"`
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

// ClassPorts says who may use which port numbers.
type ClassPorts struct {
	Allowed         []PortRange `json:"allowed,omitempty"`
	Pool            *PortRange  `json:"pool,omitempty"`
	Grants          []PortGrant `json:"grants,omitempty"`
	MaxPerNamespace *int32      `json:"maxPerNamespace,omitempty"`
}

// PortGrant gives ports to namespaces.
type PortGrant struct {
	Namespaces        []string              `json:"namespaces,omitempty"`
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	Ports             []PortRange           `json:"ports"`
}

// AllowedNamespaces says which namespaces may use the class.
type AllowedNamespaces struct {
	From     NamespacesFrom        `json:"from,omitempty"`
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// NamespacesFrom tells how namespaces are chosen.
//
// +kubebuilder:validation:Enum=All;Selector
type NamespacesFrom string

// The ways to choose namespaces, named as in the Gateway API.
const (
	NamespacesFromAll      NamespacesFrom = "All"
	NamespacesFromSelector NamespacesFrom = "Selector"
)

// TCPIngressClassStatus is what was observed, and the book of ports.
type TCPIngressClassStatus struct {
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	Addresses  []Address          `json:"addresses,omitempty"`
	// Listeners maps "6379/TCP" or "8443/TCP/db.example.com" to the holder
	// "namespace/name/rule"; a port with hosts has the holder "*hosts".
	Listeners map[string]string `json:"listeners,omitempty"`
	// Ranges held as a whole. Their ports are not in Listeners.
	Ranges []ListenerRange `json:"ranges,omitempty"`
}

// ListenerRange is a range of ports with its holder.
type ListenerRange struct {
	From     int32    `json:"from"`
	To       int32    `json:"to"`
	Protocol Protocol `json:"protocol"`
	Holder   string   `json:"holder"`
}
