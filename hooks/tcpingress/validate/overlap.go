package validate

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// overlaps gives for each rule how it collides with an earlier one, or nil.
func overlaps(rules []crdv1.Rule, path *field.Path) []*field.Error {
	rules = rules[:min(len(rules), maxRules)]
	errs := make([]*field.Error, len(rules))
	for i := range rules {
		for j := range rules[:i] {
			if errs[i] = overlap(&rules[j], &rules[i], j, path.Index(i)); errs[i] != nil {
				break
			}
		}
	}
	return errs
}

// overlap tells how a later rule collides with an earlier one, or nil.
//
//	earlier     later       same port is
//	no hosts    any         refused
//	hosts       no hosts    refused
//	hosts       hosts       shared, if no host is the same and both agree on accept
func overlap(earlier, later *crdv1.Rule, index int, path *field.Path) *field.Error {
	if later.Port == 0 || earlier.Port == 0 || ProtocolOf(earlier) != ProtocolOf(later) ||
		later.Port > last(earlier) || earlier.Port > last(later) {
		return nil
	}
	if len(earlier.Hosts) == 0 || len(later.Hosts) == 0 {
		return SamePort(path, later, index)
	}
	for i, host := range later.Hosts {
		if slices.Contains(earlier.Hosts, host) {
			return SameHost(path, i, host, index)
		}
	}
	if accepts(earlier) != accepts(later) {
		return field.Invalid(path.Child("proxyProtocol", "accept"), accepts(later),
			fmt.Sprintf("rules[%d] shares the port and has another value; accept belongs to the port, so all its rules must agree", index))
	}
	return nil
}

// SamePort is the error of a rule on a port that rules[first] of the object has.
func SamePort(path *field.Path, r *crdv1.Rule, first int) *field.Error {
	return field.Invalid(path.Child("port"), r.Port,
		fmt.Sprintf("rules[%d] has this port already; only rules with different hosts can share one", first))
}

// SameHost is the error of a rule whose hosts[i] is one of rules[first], on the same port.
func SameHost(path *field.Path, i int, host string, first int) *field.Error {
	return field.Invalid(path.Child("hosts").Index(i), host,
		fmt.Sprintf("rules[%d] has this host on the same port already", first))
}

// SameName is the error of a rule whose name, be it its default, rules[first] has.
func SameName(path *field.Path, name string, first int) *field.Error {
	return field.Invalid(path.Child("name"), name,
		fmt.Sprintf("rules[%d] has this name already; give this rule a name of its own", first))
}

func last(r *crdv1.Rule) int32 { return max(r.Port, r.EndPort) }

func accepts(r *crdv1.Rule) bool { return r.ProxyProtocol != nil && r.ProxyProtocol.Accept }
