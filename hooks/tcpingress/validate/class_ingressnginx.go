package validate

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

const (
	configMapText = "must be the name of a ConfigMap: lower-case letters, digits, '-' and '.', at most 253 characters"
	maxReserved   = 256
)

func ingressNginx(spec *crdv1.TCPIngressClassSpec, path *field.Path) field.ErrorList {
	settings := spec.IngressNginx
	if settings == nil {
		return nil
	}
	tcp, udp := crdv1.DefaultTCPConfigMapName, crdv1.DefaultUDPConfigMapName
	var errs field.ErrorList
	if p := settings.TCPConfigMapName; p != nil {
		tcp = *p
		errs = append(errs, configMapName(tcp, path.Child("tcpConfigMapName"))...)
	}
	if p := settings.UDPConfigMapName; p != nil {
		udp = *p
		errs = append(errs, configMapName(udp, path.Child("udpConfigMapName"))...)
	}
	switch {
	case tcp == "" && udp == "":
		errs = append(errs, field.Invalid(path, "", `one of tcpConfigMapName and udpConfigMapName must be given: "" switches a protocol off, and with both off the class can serve nothing`))
	case tcp == udp:
		errs = append(errs, field.Invalid(path.Child("udpConfigMapName"), udp, "must differ from tcpConfigMapName: ingress-nginx reads TCP and UDP from two ConfigMaps"))
	}
	errs = append(errs, labels(settings.Selector, maxSelector, path.Child("selector"))...)
	return append(errs, reservedPorts(settings.ReservedPorts, path.Child("reservedPorts"))...)
}

func configMapName(name string, path *field.Path) field.ErrorList {
	if name == "" || isSubdomain(name) {
		return nil
	}
	return field.ErrorList{field.Invalid(path, name, configMapText)}
}

func reservedPorts(list []int32, path *field.Path) field.ErrorList {
	if len(list) > maxReserved {
		return field.ErrorList{tooMany(path, len(list), maxReserved)}
	}
	var errs field.ErrorList
	for i, port := range list {
		if port < minPort || port > maxPort {
			errs = append(errs, field.Invalid(path.Index(i), port, portText))
		}
	}
	return append(errs, duplicates(list, place{base: path})...)
}
