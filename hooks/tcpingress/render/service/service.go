// Package service renders the Services in front of a data plane, one per
// protocol. Settings, port numbers and the observed Service enter; what shall be
// applied leaves. It may not know which data plane listens behind the Service, and
// never writes what somebody else owns: node ports, status, ports of others.
package service

import (
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// None is the Settings.Type of a class that makes no Service.
const None = "None"

// Settings say what the Service of one protocol shall be like.
type Settings struct {
	Namespace, Name string
	Protocol        l4.Protocol
	// Type is LoadBalancer, NodePort, ClusterIP or None. "" means LoadBalancer,
	// but leaves the type of an adopted Service as it is.
	Type string
	// Selector of the pods; it is written to an adopted Service only if it is
	// SelectorExplicit.
	Selector         map[string]string
	SelectorExplicit bool
	// Labels and Annotations are all that shall be set, the class's label included.
	Labels, Annotations           map[string]string
	LoadBalancerClass             string
	LoadBalancerSourceRanges      []string
	ExternalTrafficPolicy         corev1.ServiceExternalTrafficPolicy
	IPFamilyPolicy                corev1.IPFamilyPolicy
	AllocateLoadBalancerNodePorts *bool
	// IdlePort keeps the Service while there is no listener; 0 means unset.
	IdlePort int32
	// MaxPorts is the wanted limit of ports; 0 means the default.
	MaxPorts int32
}

// Service is what shall be applied: client-go's apply configuration, but able to
// say `ports: []`, with which Metacontroller's merge removes our ports and keeps
// those of others.
type Service struct {
	metav1ac.TypeMetaApplyConfiguration
	Metadata *metav1ac.ObjectMetaApplyConfiguration `json:"metadata"`
	Spec     Spec                                   `json:"spec"`
}

// Spec is the spec of a Service.
type Spec struct {
	corev1ac.ServiceSpecApplyConfiguration
	// Ports hides the embedded field of that name. Nil leaves the ports alone, and
	// an empty list says that none of them is ours.
	Ports []corev1ac.ServicePortApplyConfiguration `json:"ports,omitzero"`
}

// Render gives the Service that shall exist with these ports, or nil if there
// shall be none. Observed is nil if there is none yet. Ports may come in any order.
func Render(s Settings, ports []int32, observed *corev1.Service) *Service { panic("TODO") }

// Problems gives a sentence for each setting that the API server would refuse, or
// that cannot be applied to the observed Service, which may be nil. Render leaves
// such a setting out.
func Problems(s Settings, observed *corev1.Service) []string { panic("TODO") }

// Limit gives the number of ports that the Service may have, those of others
// included.
func (s Settings) Limit() int { panic("TODO") }

// Child names the Service for a message: "Service ingress-nginx/nginx-stream-tcp".
func (s Settings) Child() string { panic("TODO") }

// Charge gives the bytes that a port adds to the Service.
func Charge(p l4.Protocol, port int32) int { panic("TODO") }

// Budget gives the bytes that the Service has for our ports.
func Budget(s Settings, observed *corev1.Service) l4.Charge { panic("TODO") }
