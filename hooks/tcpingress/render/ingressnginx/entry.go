package ingressnginx

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// proxy switches the PROXY protocol on in a value.
const proxy = "PROXY"

// Format gives the value that ingress-nginx reads for one port of the listener:
//
//	namespace/service:port                 nothing else
//	namespace/service:port:PROXY           accept
//	namespace/service:port::PROXY          send
//	namespace/service:port:PROXY:PROXY     both
//
// The port is the Service's, as number or name. The fields after it are never
// written for UDP, where ingress-nginx ignores them.
func Format(l *l4.Listener, port int32) string {
	var b strings.Builder
	b.Grow(len(l.Backend.Namespace) + len(l.Backend.Service) + len(l.Backend.PortName) + len("/:65535:PROXY:PROXY"))
	b.WriteString(l.Backend.Namespace)
	b.WriteByte('/')
	b.WriteString(l.Backend.Service)
	b.WriteByte(':')
	switch {
	case l.Backend.PortName != "":
		b.WriteString(l.Backend.PortName)
	case l.Backend.Port != 0:
		b.WriteString(decimal(l.Backend.Port))
	default:
		b.WriteString(decimal(port))
	}
	if l.Protocol != l4.TCP {
		return b.String()
	}
	send := l.SendProxy != l4.SendNone
	switch {
	case l.AcceptProxy && send:
		b.WriteString(":" + proxy + ":" + proxy)
	case l.AcceptProxy:
		b.WriteString(":" + proxy)
	case send:
		b.WriteString("::" + proxy)
	}
	return b.String()
}

func decimal(port int32) string { return strconv.Itoa(int(port)) }

// Parse reads a value as ingress-nginx does. The error says why it would skip it.
func Parse(value string, protocol l4.Protocol) (l4.Entry, error) {
	fields := strings.Split(value, ":")
	if len(fields) < 2 {
		return l4.Entry{}, errors.New("the value has no port after a colon")
	}
	path := strings.Split(fields[0], "/")
	if len(path) != 2 || !isLabel(path[0]) || !isLabel(path[1]) {
		return l4.Entry{}, fmt.Errorf("%q is not of the form namespace/service", fields[0])
	}
	entry := l4.Entry{Backend: l4.Backend{Namespace: path[0], Service: path[1]}}
	if err := parsePort(fields[1], &entry.Backend); err != nil {
		return l4.Entry{}, err
	}
	if protocol != l4.TCP {
		return entry, nil
	}
	entry.AcceptProxy = len(fields) > 2 && strings.EqualFold(fields[2], proxy)
	// A fifth field switches sending off.
	if len(fields) == 4 && strings.EqualFold(fields[3], proxy) {
		entry.SendProxy = l4.SendV1
	}
	return entry, nil
}

func parsePort(field string, b *l4.Backend) error {
	number, err := strconv.Atoi(field)
	switch {
	case err == nil && isPort(number):
		b.Port = int32(number)
	case err != nil && isLabel(field):
		b.PortName = field
	default:
		return fmt.Errorf("%q is no port of a Service", field)
	}
	return nil
}

func isPort(number int) bool { return 1 <= number && number <= 65535 }

// isLabel tells whether an object or a port can have this name at all.
func isLabel(s string) bool {
	if s == "" || len(s) > 63 || s[0] == '-' || s[len(s)-1] == '-' {
		return false
	}
	for i := range len(s) {
		if c := s[i]; c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return true
}
