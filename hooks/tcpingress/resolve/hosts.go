package resolve

import "strings"

// wildcard is the first byte of a host such as "*.example.com".
const wildcard = '*'

// sharedHost gives a host of c that o has too, or "".
//
// An exact name beside a wildcard that covers it is fine among the rules of one
// namespace: the more specific one gets the traffic. Between namespaces it would
// let one team take traffic that another team's rule gets, so it is a conflict.
func sharedHost(c, o *claim) string {
	for _, a := range c.want.Hosts {
		for _, b := range o.want.Hosts {
			if hostsMeet(a, b, c.by.Namespace == o.by.Namespace) {
				return a
			}
		}
	}
	return ""
}

func hostsMeet(a, b string, sameNamespace bool) bool {
	return a == b || !sameNamespace && (covers(a, b) || covers(b, a))
}

// covers tells whether a wildcard gets traffic for the other name.
func covers(wide, name string) bool {
	return wide[0] == wildcard && strings.HasSuffix(name, wide[1:])
}
