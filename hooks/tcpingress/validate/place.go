package validate

import (
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// place is a field by its dotted names below a path. Its own path is built only
// where something is wrong: a class sync checks every rule of the cluster again,
// and nearly all of them are right.
type place struct {
	base  *field.Path
	names string
}

func (p place) path() *field.Path {
	if p.names == "" {
		return p.base
	}
	first, rest, more := strings.Cut(p.names, ".")
	if !more {
		return p.base.Child(first)
	}
	return p.base.Child(first, strings.Split(rest, ".")...)
}
