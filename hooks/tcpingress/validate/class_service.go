package validate

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

const (
	serviceNameText  = "must be the name of a Service: lower-case letters, digits and '-', starting with a letter and ending with a letter or digit, at most 63 characters"
	loadBalancerText = "needs type LoadBalancer; leave it out"
	maxServicePorts  = 4000
)

func service(spec *crdv1.TCPIngressClassSpec, class string, path *field.Path) field.ErrorList {
	s := spec.Service
	errs := enum(s.Type, path.Child("type"), crdv1.ServiceLoadBalancer, crdv1.ServiceNodePort, crdv1.ServiceClusterIP, crdv1.ServiceNone)
	errs = append(errs, serviceNames(s, class, path)...)
	errs = append(errs, annotations(s.Annotations, path.Child("annotations"))...)
	errs = append(errs, annotatedRanges(s, path.Child("annotations"))...)
	errs = append(errs, annotatedTopology(s.Annotations, path.Child("annotations"))...)
	errs = append(errs, serviceLabels(s.Labels, path.Child("labels"))...)
	errs = append(errs, loadBalancer(s, path)...)
	errs = append(errs, enum(s.ExternalTrafficPolicy, path.Child("externalTrafficPolicy"),
		corev1.ServiceExternalTrafficPolicyCluster, corev1.ServiceExternalTrafficPolicyLocal)...)
	if s.ExternalTrafficPolicy != "" && (s.Type == crdv1.ServiceClusterIP || s.Type == crdv1.ServiceNone) {
		errs = append(errs, field.Forbidden(path.Child("externalTrafficPolicy"), "needs type LoadBalancer or NodePort; leave it out"))
	}
	errs = append(errs, enum(s.IPFamilyPolicy, path.Child("ipFamilyPolicy"),
		corev1.IPFamilyPolicySingleStack, corev1.IPFamilyPolicyPreferDualStack, corev1.IPFamilyPolicyRequireDualStack)...)
	errs = append(errs, servicePorts(s, path)...)
	return append(errs, idlePort(spec, path.Child("idlePort"))...)
}

func serviceNames(s *crdv1.ClassService, class string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	tcp, udp := class+crdv1.DefaultTCPNameSuffix, class+crdv1.DefaultUDPNameSuffix
	if s.TCPName != "" {
		tcp = s.TCPName
		if !isServiceLabel(tcp) {
			errs = append(errs, field.Invalid(path.Child("tcpName"), tcp, serviceNameText))
		}
	}
	if s.UDPName != "" {
		udp = s.UDPName
		if !isServiceLabel(udp) {
			errs = append(errs, field.Invalid(path.Child("udpName"), udp, serviceNameText))
		}
	}
	if tcp == udp {
		at := path.Child("udpName")
		if s.UDPName == "" {
			at = path.Child("tcpName")
		}
		errs = append(errs, field.Invalid(at, tcp, "tcpName and udpName must differ: each protocol has a Service of its own"))
	}
	return errs
}

// loadBalancer checks what a Service may have with type LoadBalancer only.
func loadBalancer(s *crdv1.ClassService, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if c := s.LoadBalancerClass; c != "" && !isKey(c) {
		errs = append(errs, field.Invalid(path.Child("loadBalancerClass"), c, `must be a name such as "internal-vip" or "example.com/internal-vip"`))
	}
	errs = append(errs, cidrs(s.LoadBalancerSourceRanges, place{path, "loadBalancerSourceRanges"})...)
	if s.Type == "" || s.Type == crdv1.ServiceLoadBalancer {
		return errs
	}
	if s.LoadBalancerClass != "" {
		errs = append(errs, field.Forbidden(path.Child("loadBalancerClass"), loadBalancerText))
	}
	if len(s.LoadBalancerSourceRanges) > 0 {
		errs = append(errs, field.Forbidden(path.Child("loadBalancerSourceRanges"), loadBalancerText))
	}
	if s.AllocateLoadBalancerNodePorts != nil {
		errs = append(errs, field.Forbidden(path.Child("allocateLoadBalancerNodePorts"), loadBalancerText))
	}
	return errs
}

// annotatedRanges checks the annotation that says what loadBalancerSourceRanges
// says. The API server looks into it, and refuses the whole Service.
func annotatedRanges(s *crdv1.ClassService, path *field.Path) field.ErrorList {
	const key = corev1.AnnotationLoadBalancerSourceRangesKey
	value, ok := s.Annotations[key]
	switch {
	case !ok:
		return nil
	case s.Type != "" && s.Type != crdv1.ServiceLoadBalancer:
		return field.ErrorList{field.Forbidden(path.Key(key), loadBalancerText)}
	case strings.TrimSpace(value) == "":
		return nil
	}
	var errs field.ErrorList
	for s := range strings.SplitSeq(value, ",") {
		s = strings.TrimSpace(s)
		if text := cidrProblem(s); text != "" {
			errs = append(errs, field.Invalid(path.Key(key), s, text))
		}
	}
	return errs
}

// annotatedTopology checks two names of one annotation, which the API server wants
// to be equal.
func annotatedTopology(annotations map[string]string, path *field.Path) field.ErrorList {
	const former, key = corev1.DeprecatedAnnotationTopologyAwareHints, corev1.AnnotationTopologyMode
	was, both := annotations[former]
	is, ok := annotations[key]
	if !both || !ok || was == is {
		return nil
	}
	return field.ErrorList{field.Invalid(path.Key(key), is, "differs from "+former+", its former name; leave that one out")}
}

func servicePorts(s *crdv1.ClassService, path *field.Path) field.ErrorList {
	path = path.Child("maxPorts")
	errs := between(s.MaxPorts, 1, maxServicePorts, "must be 1 to 4000, or left out for 1000", path)
	if len(errs) > 0 || s.MaxPorts == nil || *s.MaxPorts <= crdv1.MaxPortsWithNodePorts || !allocatesNodePorts(s) {
		return errs
	}
	return field.ErrorList{field.Invalid(path, *s.MaxPorts,
		"must be at most 2000 while every port takes a node port too; set allocateLoadBalancerNodePorts: false with type LoadBalancer for more")}
}

func allocatesNodePorts(s *crdv1.ClassService) bool {
	switch s.Type {
	case "", crdv1.ServiceLoadBalancer:
		return s.AllocateLoadBalancerNodePorts == nil || *s.AllocateLoadBalancerNodePorts
	case crdv1.ServiceNodePort:
		return true
	case crdv1.ServiceClusterIP, crdv1.ServiceNone:
	}
	return false
}

func idlePort(spec *crdv1.TCPIngressClassSpec, path *field.Path) field.ErrorList {
	port := spec.Service.IdlePort
	if port == 0 {
		return nil
	}
	if port < minPort || port > maxPort {
		return field.ErrorList{field.Invalid(path, port, portText+", or left out for none")}
	}
	var errs field.ErrorList
	if spec.Service.Type == crdv1.ServiceNone {
		errs = append(errs, field.Forbidden(path, "with type None there is no Service to keep; leave it out"))
	}
	if isReserved(spec, port) {
		errs = append(errs, field.Invalid(path, port, "is reserved for nginx itself (see reservedPorts); choose another"))
	}
	if spec.Ports != nil && !withinOne(crdv1.PortRange{From: port, To: port}, spec.Ports.Allowed) {
		errs = append(errs, field.Invalid(path, port, "must lie within one of the ranges in ports.allowed; widen that range or choose another port"))
	}
	return errs
}
