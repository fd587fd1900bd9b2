package service

import (
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
	Labels, Annotations map[string]string
	// LoadBalancerClass and the following three; zero means the API server's default.
	LoadBalancerClass        string
	LoadBalancerSourceRanges []string
	// ExternalTrafficPolicy is Cluster or Local.
	ExternalTrafficPolicy string
	// IPFamilyPolicy is SingleStack, PreferDualStack or RequireDualStack.
	IPFamilyPolicy string
	// AllocateNodePorts is allocateLoadBalancerNodePorts.
	AllocateNodePorts *bool
	// IdlePort keeps the Service while there is no listener; 0 means unset.
	IdlePort int32
	// MaxPorts is the wanted limit of ports, those of others included.
	MaxPorts int
}

// nodePortLimit is the most ports of a Service whose ports take a node port each:
// a cluster has 2,768 of them by default.
const nodePortLimit = 2000

// Limit gives the number of ports that the Service may have: MaxPorts, and less
// while node ports are allocated.
func (s *Settings) Limit() int {
	if s.allocatesNodePorts() {
		return min(s.MaxPorts, nodePortLimit)
	}
	return s.MaxPorts
}

func (s *Settings) allocatesNodePorts() bool {
	switch s.Type {
	case "ClusterIP", None:
		return false
	case "NodePort":
		return true
	default:
		return s.AllocateNodePorts == nil || *s.AllocateNodePorts
	}
}

func (s *Settings) text() string { return "Service " + s.Namespace + "/" + s.Name }
