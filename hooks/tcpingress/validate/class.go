package validate

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

const classNameText = "must be the name of a TCPIngressClass: lower-case letters, digits and '-', starting with a letter and ending with a letter or digit, at most 52 characters"

// IsClassName tells whether every name made from the class's name will be legal.
func IsClassName(s string) bool { return len(s) <= crdv1.MaxClassName && isServiceLabel(s) }

// Class gives everything that is wrong with the spec of the class of this name.
// What it accepts, the API server accepts in every child made from it.
func Class(spec *crdv1.TCPIngressClassSpec, name string) field.ErrorList {
	var errs field.ErrorList
	if !IsClassName(name) {
		errs = append(errs, field.Invalid(field.NewPath("metadata", "name"), name, classNameText))
	}
	path := field.NewPath("spec")
	errs = append(errs, enum(spec.Provider, path.Child("provider"), crdv1.ProviderIngressNginx, crdv1.ProviderNginx)...)
	switch {
	case spec.Namespace == "":
		errs = append(errs, field.Required(path.Child("namespace"), "name the namespace of nginx"))
	case !isLabel(spec.Namespace):
		errs = append(errs, field.Invalid(path.Child("namespace"), spec.Namespace, labelText))
	}
	errs = append(errs, ingressNginx(spec, path.Child("ingressNginx"))...)
	if spec.Nginx != nil {
		errs = append(errs, nginx(spec.Nginx, path.Child("nginx"))...)
	}
	if spec.Service != nil {
		errs = append(errs, service(spec, name, path.Child("service"))...)
	}
	if spec.Ports != nil {
		errs = append(errs, classPorts(spec, path.Child("ports"))...)
	}
	if spec.AllowedNamespaces != nil {
		errs = append(errs, allowedNamespaces(spec.AllowedNamespaces, path.Child("allowedNamespaces"))...)
	}
	return errs
}

// enum checks a value that may be left out.
func enum[T ~string](value T, path *field.Path, legal ...T) field.ErrorList {
	if value == "" || slices.Contains(legal, value) {
		return nil
	}
	return field.ErrorList{field.NotSupported(path, value, legal)}
}

// between checks a number that may be left out.
func between(value *int32, low, high int32, text string, path *field.Path) field.ErrorList {
	if value == nil || low <= *value && *value <= high {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *value, text)}
}
