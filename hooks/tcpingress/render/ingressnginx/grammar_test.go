package ingressnginx

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// server is a stream server as ingress-nginx would make it from one key.
type server struct {
	port                     int
	namespace, service, name string // name is the number or name of the Service's port
	decode, encode           bool
}

// readAsIngressNginx restates, from the documented facts and not from our own
// parser, what ingress-nginx makes of a ConfigMap's data:
//
//   - a key is a decimal integer with an optional sign, without a check of the range;
//   - keys that the controller's flags reserve are skipped, as are all that follow;
//   - a value has two or more parts between colons;
//   - the first part has exactly one slash;
//   - for TCP, the third part decodes and the fourth of exactly four encodes, in any case.
//
// It gives the servers in the order of their ports, and whether nginx would load them.
func readAsIngressNginx(data map[string]string, protocol string) (servers []server, loads bool) {
	reserved := []int{80, 443, 442, 10254, 8181, 10245, 10246, 10247}
	for key, value := range data {
		port, err := strconv.Atoi(key)
		if err != nil || slices.Contains(reserved, port) || strings.Count(value, ":") < 1 {
			continue
		}
		parts := strings.SplitAfter(value, ":")
		for i := range parts {
			parts[i] = strings.TrimSuffix(parts[i], ":")
		}
		namespace, service, ok := strings.Cut(parts[0], "/")
		if !ok || strings.Contains(service, "/") {
			continue
		}
		s := server{port: port, namespace: namespace, service: service, name: parts[1]}
		if protocol == "TCP" {
			s.decode = len(parts) >= 3 && strings.ToUpper(parts[2]) == "PROXY"
			s.encode = len(parts) == 4 && strings.ToUpper(parts[3]) == "PROXY"
		}
		servers = append(servers, s)
	}
	slices.SortFunc(servers, func(a, b server) int { return cmp.Compare(a.port, b.port) })
	return servers, nginxLoads(servers)
}

// nginxLoads tells whether nginx would load the servers, sorted by port.
func nginxLoads(servers []server) bool {
	for i, s := range servers {
		if s.port < 1 || s.port > 65535 || i > 0 && servers[i-1].port == s.port {
			return false
		}
	}
	return true
}

// label turns arbitrary text into a label that validation lets through.
func label(text string) string {
	text = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' || r == '-' {
			return r
		}
		return -1
	}, text)
	return strings.Trim(text[:min(len(text), 63)], "-")
}

// fuzzTable makes a range with the first of two bits of protocol and PROXY, and a
// single port behind it with the others; what validation or the book would refuse
// is left out.
func fuzzTable(p *Provider, from uint16, size uint8, b l4.Backend, bits uint8) l4.Table {
	span := l4.Listener{Protocol: l4.TCP, Port: int32(from), EndPort: int32(from) + int32(size), Backend: l4.Backend{Namespace: b.Namespace, Service: b.Service}}
	single := l4.Listener{Protocol: l4.TCP, Port: span.EndPort + 1, Backend: b}
	var table l4.Table
	for i, l := range []l4.Listener{span, single} {
		bits := bits >> (3 * i)
		if bits&1 != 0 {
			l.Protocol = l4.UDP
		}
		l.AcceptProxy = bits&2 != 0
		if bits&4 != 0 {
			l.SendProxy = l4.SendV1
		}
		if isLegal(p, &l) {
			table = append(table, l)
		}
	}
	return table
}

func isLegal(p *Provider, l *l4.Listener) bool {
	if l.Port < 1 || l.Last() > 65535 || p.Check(l) != "" || l.EndPort == 0 && (l.Backend.Port == 0) == (l.Backend.PortName == "") {
		return false
	}
	for port := l.Port; port <= l.Last(); port++ {
		if p.Reserved(l.Protocol, port) {
			return false
		}
	}
	return true
}

// serversOf gives the servers that the table asks for.
func serversOf(table l4.Table, protocol l4.Protocol) []server {
	var servers []server
	for _, l := range table {
		if l.Protocol != protocol {
			continue
		}
		for port := l.Port; port <= l.Last(); port++ {
			s := server{int(port), l.Backend.Namespace, l.Backend.Service, l.Backend.PortName, l.AcceptProxy, l.SendProxy == l4.SendV1}
			if s.name == "" {
				s.name = strconv.Itoa(int(cmp.Or(l.Backend.Port, port)))
			}
			servers = append(servers, s)
		}
	}
	return servers
}

// FuzzGrammar renders a table and reads it as ingress-nginx would: the same
// servers come out, nothing more and nothing less, and nginx loads them; our own
// reading of it agrees, and a second sync writes nothing.
func FuzzGrammar(f *testing.F) {
	f.Add(uint16(6379), uint8(0), "data", "redis", uint16(6379), "", uint8(0))
	f.Add(uint16(53), uint8(9), "dns", "tcp", uint16(0), "dns-udp", uint8(7))
	f.Add(uint16(65534), uint8(0), "a", "b", uint16(65535), "", uint8(0b110_010))
	f.Add(uint16(1), uint8(3), "1a", "b", uint16(0), "proxy", uint8(0b010_100))
	f.Add(uint16(1), uint8(3), "a", "b", uint16(0), "8080", uint8(1))
	f.Fuzz(func(t *testing.T, from uint16, size uint8, namespace, service string, number uint16, name string, bits uint8) {
		p := New(config(nil))
		b := l4.Backend{Namespace: cmp.Or(label(namespace), "ns"), Service: cmp.Or(label(service), "svc"), Port: int32(number), PortName: label(name)}
		table := fuzzTable(p, from, size, b, bits)
		children := p.ConfigMaps(table, p.Observe(nil))
		count := 0
		for i, protocol := range []l4.Protocol{l4.TCP, l4.UDP} {
			got, loads := readAsIngressNginx(children[i].Data, string(protocol))
			require.True(t, loads)
			require.Equal(t, serversOf(table, protocol), got)
			count += len(got)
		}
		live := sync(t, p, table, nil)
		require.Equal(t, live, sync(t, p, table, live))
		o := p.Observe(live)
		require.Len(t, o.Entries, count)
		for i := range table {
			require.True(t, o.Live(&table[i]))
		}
		for _, s := range append(serversOf(table, l4.TCP), serversOf(table, l4.UDP)...) {
			require.True(t, entryExists(o, s), s)
		}
	})
}

func entryExists(o Observed, s server) bool {
	for _, protocol := range []l4.Protocol{l4.TCP, l4.UDP} {
		entry, ok := o.Entries[l4.Key{Protocol: protocol, Port: int32(s.port)}]
		number := strconv.Itoa(int(entry.Backend.Port))
		if ok && entry.Backend.Namespace == s.namespace && entry.Backend.Service == s.service &&
			(entry.Backend.PortName == s.name || number == s.name) &&
			entry.AcceptProxy == s.decode && (entry.SendProxy == l4.SendV1) == s.encode {
			return true
		}
	}
	return false
}

// FuzzParse holds our parser against the restated one, for any value.
func FuzzParse(f *testing.F) {
	for _, value := range []string{"a/b:80", "a/b:80:PROXY:PROXY", "a/b:80::proxy", "a/b:80:PROXY:PROXY:x", "a/b: 80", "a/b/c:80", "", "a/b:+08", "a/b:0", "a/b:http:"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		for _, protocol := range []l4.Protocol{l4.TCP, l4.UDP} {
			entry, err := Parse(value, protocol)
			servers, _ := readAsIngressNginx(map[string]string{"9000": value}, string(protocol))
			if len(servers) == 0 {
				require.Error(t, err)
				continue
			}
			if err != nil { // no Service and no port can have such a name
				s := servers[0]
				number, numberErr := strconv.Atoi(s.name)
				badNumber := numberErr == nil && (number < 1 || number > 65535)
				require.True(t, label(s.namespace) != s.namespace || label(s.service) != s.service || s.namespace == "" || s.service == "" ||
					badNumber || s.name == "" || numberErr != nil && label(s.name) != s.name, value)
				continue
			}
			o := Observed{Entries: map[l4.Key]l4.Entry{{Protocol: protocol, Port: 9000}: entry}}
			want := servers[0]
			if number, err := strconv.Atoi(want.name); err == nil {
				want.name = strconv.Itoa(number)
			}
			require.True(t, entryExists(o, want), value)
		}
	})
}
