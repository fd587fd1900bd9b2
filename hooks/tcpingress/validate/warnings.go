package validate

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// firstUnprivileged is the first port that every process may bind.
const firstUnprivileged = 1024

// Warnings tells what of an object without errors is legal and may still surprise.
// Each warning is short enough that the API server does not cut it.
func Warnings(obj *crdv1.TCPIngress) []string {
	var privileged, accept, both paths
	path := field.NewPath("spec", "rules")
	for i := range obj.Spec.Rules {
		rule, path := &obj.Spec.Rules[i], path.Index(i)
		if rule.Port != 0 && rule.Port < firstUnprivileged {
			privileged = append(privileged, path.Child("port"))
		}
		if accepts(rule) {
			accept = append(accept, path.Child("proxyProtocol", "accept"))
		}
		if otherProtocol(obj.Spec.Rules, i) {
			both = append(both, path.Child("port"))
		}
	}
	var out []string
	out = privileged.warn(out, "ports below 1024 need an nginx that may bind them")
	out = accept.warn(out, "only a load balancer that speaks the PROXY protocol can connect; other clients are cut off")
	return both.warn(out, "TCP and UDP have a Service each, so this number has two addresses")
}

// otherProtocol tells whether a rule has a port in common with an earlier rule of the
// other protocol.
func otherProtocol(rules []crdv1.Rule, i int) bool {
	later := &rules[i]
	for j := range rules[:i] {
		earlier := &rules[j]
		if later.Port != 0 && earlier.Port != 0 && ProtocolOf(earlier) != ProtocolOf(later) &&
			later.Port <= last(earlier) && earlier.Port <= last(later) {
			return true
		}
	}
	return false
}

// paths are the fields that one warning is about.
type paths []*field.Path

// warn adds one warning for all of the fields, if there are any.
func (p paths) warn(to []string, text string) []string {
	const named = 3
	if len(p) == 0 {
		return to
	}
	names := make([]string, 0, named)
	for _, path := range p[:min(len(p), named)] {
		names = append(names, path.String())
	}
	where := strings.Join(names, ", ")
	if more := len(p) - named; more > 0 {
		where += fmt.Sprintf(" and %d more", more)
	}
	return append(to, where+": "+text)
}
