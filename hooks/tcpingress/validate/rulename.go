package validate

import (
	"strconv"
	"strings"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// ProtocolOf gives the protocol of the rule; an empty one is TCP.
func ProtocolOf(r *crdv1.Rule) crdv1.Protocol {
	if r.Protocol == "" {
		return crdv1.ProtocolTCP
	}
	return r.Protocol
}

// RuleName gives the name of the rule, or its default <protocol>-<port> in lower case.
func RuleName(r *crdv1.Rule) string {
	if r.Name != "" {
		return r.Name
	}
	return strings.ToLower(string(ProtocolOf(r))) + "-" + strconv.Itoa(int(r.Port))
}

// isDefaultName tells whether a name has the form of a default one. Such a name
// on another port would collide with the default of that port's rule.
func isDefaultName(name string) bool {
	number, ok := strings.CutPrefix(name, "tcp-")
	if !ok {
		number, ok = strings.CutPrefix(name, "udp-")
	}
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}
