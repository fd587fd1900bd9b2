package validate

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// backend checks where a rule leads. The names are glued into strings that nginx
// reads, so nothing but the characters of a DNS label may pass.
func backend(r *crdv1.Rule, path *field.Path) field.ErrorList {
	service := &r.Backend.Service
	name, port := place{path, "backend.service.name"}, place{path, "backend.service.port"}
	var errs field.ErrorList
	switch {
	case service.Name == "":
		errs = append(errs, field.Required(name.path(), "name a Service of the same namespace"))
	case !isLabel(service.Name):
		errs = append(errs, field.Invalid(name.path(), service.Name,
			"must be the plain name of a Service of the same namespace: lower-case letters, digits and '-', starting and ending with a letter or digit, at most 63 characters"))
	}
	switch {
	case r.EndPort != 0 && service.Port != nil:
		errs = append(errs, field.Forbidden(port.path(), "a range is forwarded number by number; leave the port of the Service out"))
	case r.EndPort == 0 && service.Port == nil:
		errs = append(errs, field.Required(port.path(), "name a port of the Service by its number or name"))
	case service.Port != nil:
		errs = append(errs, backendPort(service.Port, port)...)
	}
	return errs
}

func backendPort(p *crdv1.BackendPort, at place) field.ErrorList {
	switch {
	case p.Number == 0 && p.Name == "":
		return field.ErrorList{field.Required(at.path(), "give either number or name, the port of the Service")}
	case p.Number != 0 && p.Name != "":
		return field.ErrorList{field.Invalid(at.path(), p.Name, "give either number or name, not both")}
	case p.Name != "" && !isPortName(p.Name):
		return field.ErrorList{field.Invalid(at.path().Child("name"), p.Name,
			"must be the name of a Service port: lower-case letters, digits and single '-' between them, at least one letter, at most 15 characters; write a number as number")}
	case p.Number < 0 || p.Number > maxPort:
		return field.ErrorList{field.Invalid(at.path().Child("number"), p.Number, "must be 1 to 65535, the port of the Service")}
	}
	return nil
}
