package validate

import "strings"

// Byte loops rather than the regular expressions of apimachinery: a class sync
// checks every rule of the cluster again. A test holds both to the same verdict.

const (
	maxLabel     = 63
	maxSubdomain = 253
	maxClassName = 52
)

const labelText = "must be a DNS label: lower-case letters, digits and '-', starting and ending with a letter or digit, at most 63 characters"

func isAlnum(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }

// isLabel tells whether s is a DNS label as of RFC 1123.
func isLabel(s string) bool {
	if s == "" || len(s) > maxLabel || !isAlnum(s[0]) || !isAlnum(s[len(s)-1]) {
		return false
	}
	for i := range len(s) {
		if !isAlnum(s[i]) && s[i] != '-' {
			return false
		}
	}
	return true
}

// isServiceLabel tells whether s is a DNS label as of RFC 1035, the stricter
// form that every release of Kubernetes takes as the name of a Service.
func isServiceLabel(s string) bool {
	return isLabel(s) && (s[0] < '0' || s[0] > '9')
}

// isSubdomain tells whether s is a series of DNS labels.
func isSubdomain(s string) bool {
	if len(s) > maxSubdomain {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if !isLabel(label) {
			return false
		}
	}
	return true
}

// isPortName tells whether s is an IANA service name, as names of ports are.
func isPortName(s string) bool {
	if s == "" || len(s) > 15 || !isAlnum(s[0]) || !isAlnum(s[len(s)-1]) {
		return false
	}
	letter := false
	for i := range len(s) {
		switch {
		case 'a' <= s[i] && s[i] <= 'z':
			letter = true
		case s[i] == '-':
			if s[i+1] == '-' { // the last byte is no hyphen, see above
				return false
			}
		case !isAlnum(s[i]):
			return false
		}
	}
	return letter
}
