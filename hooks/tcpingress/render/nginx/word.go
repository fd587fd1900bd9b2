package nginx

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// isLabel tells whether the text is a DNS label. It is one word for nginx as it
// stands: no blank, quote, brace, semicolon, dollar, backslash or comment sign.
func isLabel(text string) bool { return len(text) <= 63 && isPart(text) }

// isPart is isLabel for any length.
func isPart(text string) bool {
	if text == "" || text[0] == '-' || text[len(text)-1] == '-' {
		return false
	}
	for i := range len(text) {
		if c := text[i]; c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}

// isName tells whether the text is a series of DNS labels.
func isName(text string) bool {
	for label := range strings.SplitSeq(text, ".") {
		if !isLabel(label) {
			return false
		}
	}
	return len(text) <= 253
}

// isObjectName tells whether Kubernetes lets an object have the name: it bounds the
// whole, and not the parts between the dots.
func isObjectName(text string) bool {
	for part := range strings.SplitSeq(text, ".") {
		if !isPart(part) {
			return false
		}
	}
	return len(text) <= 253
}

// isHost tells whether the text is a name, or a name behind "*.".
func isHost(text string) bool { return len(text) <= 253 && isName(strings.TrimPrefix(text, "*.")) }

// isPath tells whether the text is an absolute path that needs no quotes.
func isPath(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c == '/':
		default:
			return false
		}
	}
	return strings.HasPrefix(text, "/")
}

// canWrite tells whether nothing in the listener could be read as something else.
func canWrite(l *l4.Listener) bool {
	switch {
	case l.Protocol != l4.TCP && l.Protocol != l4.UDP,
		!isLabel(l.Owner.Namespace), !isObjectName(l.Owner.Name), !isLabel(l.Owner.Rule),
		!isLabel(l.Backend.Namespace), !isLabel(l.Backend.Service),
		l.ConnectTimeout < 0, l.IdleTimeout < 0, l.ConnectionsPerClient < 0, l.ConnectionsPerClient > maxConnections:
		return false
	}
	for i, host := range l.Hosts {
		if !isHost(host) || slices.Contains(l.Hosts[:i], host) {
			return false
		}
	}
	for _, prefix := range l.AllowSources {
		if !prefix.IsValid() {
			return false
		}
	}
	return isPort(l.Port) && (l.EndPort == 0 || isPort(l.EndPort) && l.EndPort > l.Port) && hasBackend(l)
}

// maxConnections is the highest limit_conn that nginx takes.
const maxConnections = 65535

// hasBackend tells whether the backend has a number, which only a range may lack.
func hasBackend(l *l4.Listener) bool {
	return l.Backend.PortName == "" && (l.EndPort == 0) == (l.Backend.Port != 0) && (l.EndPort != 0 || isPort(l.Backend.Port))
}

func isPort(port int32) bool { return 1 <= port && port <= 65535 }

func decimal(n int32) string { return strconv.Itoa(int(n)) }

// span writes a duration as nginx reads it.
func span(d time.Duration) string {
	if d%time.Second == 0 {
		return strconv.FormatInt(int64(d/time.Second), 10) + "s"
	}
	return strconv.FormatInt(max(1, d.Milliseconds()), 10) + "ms"
}
