package resolve

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// fake is a data plane that can do what a test wants.
type fake struct {
	reserved    []int32
	disabled    l4.Protocol
	unsupported func(*l4.Listener) string
	// limit and used are the ports of each protocol's Service; limit 0 means that there is none.
	limit, used int
	// bytes is what the child of each protocol has left; 0 means 1 MiB.
	bytes int
}

func (f *fake) Check(l *l4.Listener) string {
	if f.unsupported == nil {
		return ""
	}
	return f.unsupported(l)
}

func child(p l4.Protocol) string { return "ConfigMap ingress-nginx/" + strings.ToLower(string(p)) }

func (f *fake) Charges(l *l4.Listener) []l4.Charge {
	one := len(l.Backend.Namespace) + len(l.Backend.Service) + len(l.Backend.PortName) + len(strconv.Itoa(int(l.Backend.Port))) + 16
	if l.AcceptProxy {
		one += len(":PROXY")
	}
	return []l4.Charge{{Child: child(l.Protocol), Bytes: one * l.Size() * max(1, len(l.Hosts))}}
}

func (f *fake) Budgets() []l4.Charge {
	bytes := f.bytes
	if bytes == 0 {
		bytes = 1 << 20
	}
	return []l4.Charge{{Child: child(l4.TCP), Bytes: bytes}, {Child: child(l4.UDP), Bytes: bytes}}
}

func (f *fake) Reserved(_ l4.Protocol, port int32) bool { return slices.Contains(f.reserved, port) }

func (f *fake) ReservedText() string {
	var parts []string
	for _, p := range f.reserved {
		parts = append(parts, fmt.Sprint(p))
	}
	return strings.Join(parts, ", ")
}

func (f *fake) MaxPorts(l4.Protocol) (limit, used int) {
	if f.limit == 0 {
		return 1 << 20, f.used
	}
	return f.limit, f.used
}

func (f *fake) Enabled(p l4.Protocol) bool { return p != f.disabled }
