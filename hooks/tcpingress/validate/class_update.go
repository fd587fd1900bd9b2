package validate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// ClassUpdate gives the fields of the class of this name that may not change, and
// did. A default written out is no change.
func ClassUpdate(before, after *crdv1.TCPIngressClassSpec, name string) field.ErrorList {
	const (
		move   = "a move would delete the Services and their addresses"
		rename = "a rename would delete the Service and its address"
		config = "a rename would delete the ConfigMap that nginx reads"
	)
	was, is := fixed(before, name), fixed(after, name)
	path := field.NewPath("spec")
	service, ingressNginx := path.Child("service"), path.Child("ingressNginx")
	errs := immutable(was.namespace, is.namespace, move, path.Child("namespace"))
	errs = append(errs, immutable(was.tcpName, is.tcpName, rename, service.Child("tcpName"))...)
	errs = append(errs, immutable(was.udpName, is.udpName, rename, service.Child("udpName"))...)
	errs = append(errs, immutable(was.loadBalancerClass, is.loadBalancerClass, "a Service cannot change it", service.Child("loadBalancerClass"))...)
	errs = append(errs, immutable(was.tcpConfigMapName, is.tcpConfigMapName, config, ingressNginx.Child("tcpConfigMapName"))...)
	return append(errs, immutable(was.udpConfigMapName, is.udpConfigMapName, config, ingressNginx.Child("udpConfigMapName"))...)
}

// fixedFields are the effective values of what may not change.
type fixedFields struct {
	namespace, tcpName, udpName, loadBalancerClass, tcpConfigMapName, udpConfigMapName string
}

func fixed(spec *crdv1.TCPIngressClassSpec, name string) fixedFields {
	f := fixedFields{
		namespace:        spec.Namespace,
		tcpName:          name + crdv1.DefaultTCPNameSuffix,
		udpName:          name + crdv1.DefaultUDPNameSuffix,
		tcpConfigMapName: crdv1.DefaultTCPConfigMapName,
		udpConfigMapName: crdv1.DefaultUDPConfigMapName,
	}
	if s := spec.Service; s != nil {
		f.loadBalancerClass = s.LoadBalancerClass
		if s.TCPName != "" {
			f.tcpName = s.TCPName
		}
		if s.UDPName != "" {
			f.udpName = s.UDPName
		}
	}
	if n := spec.IngressNginx; n != nil {
		if n.TCPConfigMapName != nil {
			f.tcpConfigMapName = *n.TCPConfigMapName
		}
		if n.UDPConfigMapName != nil {
			f.udpConfigMapName = *n.UDPConfigMapName
		}
	}
	return f
}

func immutable(was, is, why string, path *field.Path) field.ErrorList {
	if was == is {
		return nil
	}
	return field.ErrorList{field.Invalid(path, is,
		fmt.Sprintf("is immutable: %s; set it back to %q, or make a new class", why, was))}
}
