package validate

import (
	"fmt"
	"net/netip"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

const maxCIDRs = 64

// cidrs checks a set of CIDRs in canonical form.
func cidrs(list []string, at place) field.ErrorList {
	if len(list) > maxCIDRs {
		return field.ErrorList{tooMany(at.path(), len(list), maxCIDRs)}
	}
	var errs field.ErrorList
	for i, s := range list {
		if text := cidrProblem(s); text != "" {
			errs = append(errs, field.Invalid(at.path().Index(i), s, text))
		}
	}
	return append(errs, duplicates(list, at)...)
}

// cidrProblem says what is wrong with a CIDR, or "".
func cidrProblem(s string) string {
	prefix, err := netip.ParsePrefix(s)
	if err != nil {
		if addr, err := netip.ParseAddr(s); err == nil && addr.Zone() == "" && !addr.Is4In6() {
			return fmt.Sprintf("must be a CIDR; write %s/%d for this one address", addr, addr.BitLen())
		}
		return "must be a CIDR such as 10.0.0.0/8 or 2001:db8::/32"
	}
	if prefix.Addr().Is4In6() {
		return "must be a CIDR such as 10.0.0.0/8 or 2001:db8::/32, not an IPv4 address in IPv6 form"
	}
	if right := prefix.Masked().String(); right != s {
		return fmt.Sprintf("must be a CIDR in its usual form; write %s", right)
	}
	return ""
}

// duplicates reports each value of a set that was there before.
func duplicates[T comparable](list []T, at place) field.ErrorList {
	var errs field.ErrorList
	for i, v := range list {
		if slices.Contains(list[:i], v) {
			errs = append(errs, field.Duplicate(at.path().Index(i), v))
		}
	}
	return errs
}

// tooMany reports a list that is too long.
func tooMany(path *field.Path, have, limit int) *field.Error {
	return field.TooMany(path, have, limit)
}
