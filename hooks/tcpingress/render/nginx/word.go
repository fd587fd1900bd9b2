package nginx

import (
	"strconv"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// isWord tells whether the text is one word for nginx as it stands: no blank,
// quote, brace, semicolon, dollar, backslash or comment sign can be in it.
func isWord(text string) bool {
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_':
		default:
			return false
		}
	}
	return text != ""
}

// isHost tells whether the text is a name, or a name behind "*.".
func isHost(text string) bool {
	if len(text) > 2 && text[:2] == "*." {
		text = text[2:]
	}
	return isWord(text) && text[0] != '.'
}

// canWrite tells whether nothing in the listener could be read as something else.
func canWrite(l *l4.Listener) bool {
	for _, text := range []string{l.Owner.Namespace, l.Owner.Name, l.Owner.Rule, l.Backend.Namespace, l.Backend.Service} {
		if !isWord(text) {
			return false
		}
	}
	for _, host := range l.Hosts {
		if !isHost(host) {
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

// hasBackend tells whether the backend has a number, which only a range may lack.
func hasBackend(l *l4.Listener) bool {
	if l.Backend.PortName != "" {
		return false
	}
	return isPort(l.Backend.Port) && l.EndPort == 0 || l.Backend.Port == 0 && l.EndPort != 0
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

// mapKey writes a host as the source value of a map: the words that have a meaning
// there need a mark.
func mapKey(host string) string {
	switch host {
	case "default", "hostnames", "include", "volatile":
		return `\` + host
	}
	return host
}
