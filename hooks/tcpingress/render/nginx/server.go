package nginx

import (
	"fmt"
	"strings"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// unit is what is rendered for one port or range, whose text stands in one file.
type unit struct {
	protocol l4.Protocol
	port     int32
	text     string
	// sockets is the number of addresses that it listens on.
	sockets int
	// hosts and owners are lines of maps, if the port is shared by hosts.
	hosts, owners string
}

// block writes directives, each on a line of its own.
type block struct{ strings.Builder }

func (b *block) line(words ...string) {
	b.WriteString("    " + strings.Join(words, " ") + ";\n")
}

func (b *block) printf(format string, values ...any) {
	_, _ = fmt.Fprintf(b, format, values...)
}

// headers gives the comments before a listener's server, one for each host.
func headers(l *l4.Listener, digest string) []bundle.Header {
	h := bundle.Header{
		Key:     l4.Key{Protocol: l.Protocol, Port: l.Port},
		Owner:   l.Owner.String(),
		Entry:   l4.Entry{Backend: l.Backend, AcceptProxy: l.AcceptProxy, SendProxy: l.SendProxy},
		Digest:  digest,
		EndPort: l.EndPort,
	}
	if len(l.Hosts) == 0 {
		return []bundle.Header{h}
	}
	list := make([]bundle.Header, len(l.Hosts))
	for i, host := range l.Hosts {
		list[i] = h
		list[i].Host = host
	}
	return list
}

// listenerName names the port, or the range, as logs and metrics have it.
func listenerName(l *l4.Listener) string {
	h := bundle.Header{Key: l4.Key{Protocol: l.Protocol, Port: l.Port}, EndPort: l.EndPort}
	return h.Listener()
}

// plain renders a listener that has its port, or its range, to itself.
func (p *Provider) plain(l *l4.Listener) unit {
	var b block
	b.WriteString(headers(l, "")[0].String() + "\n")
	p.zone(&b, l)
	if l.AcceptProxy {
		b.format(l, l.Owner.String())
	}
	b.WriteString("server {\n")
	ports := decimal(l.Port)
	if l.EndPort != 0 {
		ports += "-" + decimal(l.EndPort)
	}
	b.listen(l, ports)
	if l.AcceptProxy {
		p.access(&b, formatName(l), "")
	} else {
		b.line("set $listener", listenerName(l))
		b.line("set $owner", l.Owner.String())
	}
	b.clients(l)
	b.timeouts(l)
	if l.SendProxy == l4.SendV1 {
		b.line("proxy_protocol on")
	}
	b.line("set $backend", p.address(l))
	b.line("proxy_pass $backend")
	b.WriteString("}\n")
	return unit{protocol: l.Protocol, port: l.Port, text: b.String(), sockets: 2 * l.Size()}
}

// format declares a log_format that knows the listener by itself: when a PROXY header
// is bad, nginx writes the log without having come to set.
func (b *block) format(l *l4.Listener, owner string) {
	b.WriteString("log_format " + formatName(l) + " escape=json " + sessionFormat(listenerName(l), owner) + ";\n")
}

func formatName(l *l4.Listener) string { return "session_" + decimal(l.Port) }

// listen opens the ports for IPv4 and IPv6. Without reuseport the workers would
// scatter the packets of one UDP session, and no nginx could follow another; for TCP
// it would lose connections that wait in the queue of a worker that ends.
func (b *block) listen(l *l4.Listener, ports string) {
	var options string
	if l.Protocol == l4.UDP {
		options = " udp reuseport"
	}
	if l.AcceptProxy {
		options += " proxy_protocol"
	}
	b.line("listen " + ports + options)
	b.line(bundle.ListenIPv6 + ports + options)
}

// clients says who may connect, and how often.
func (b *block) clients(l *l4.Listener) {
	for _, prefix := range l.AllowSources {
		b.line("allow", prefix.String())
	}
	if len(l.AllowSources) > 0 {
		b.line("deny all")
	}
	if l.ConnectionsPerClient > 0 {
		b.line("limit_conn", zoneName(l), decimal(l.ConnectionsPerClient))
	}
}

const (
	// idleTCP is nginx's own default.
	idleTCP = 10 * time.Minute
	// idleUDP is shorter: nobody says when a UDP session is over, and a client that
	// asks from a new port each time would hold two connections for each question.
	idleUDP = time.Minute
)

// idle is how long a session may be silent.
func idle(l *l4.Listener) time.Duration {
	switch {
	case l.IdleTimeout > 0:
		return l.IdleTimeout
	case l.Protocol == l4.UDP:
		return idleUDP
	default:
		return idleTCP
	}
}

func (b *block) timeouts(l *l4.Listener) {
	if l.ConnectTimeout > 0 {
		b.line("proxy_connect_timeout", span(l.ConnectTimeout))
	}
	if d := idle(l); d != idleTCP {
		b.line("proxy_timeout", span(d))
	}
}

// zone declares where the connections of each client are counted, with room for as
// many clients as there can be sessions. Memory is used when they come only.
func (p *Provider) zone(b *block, l *l4.Listener) {
	if l.ConnectionsPerClient <= 0 {
		return
	}
	const (
		client  = 64 // bytes
		overall = 64 << 10
	)
	kibibytes := (p.config.Workers*p.config.Sessions*client*9/8 + overall) >> 10
	b.printf("limit_conn_zone $binary_remote_addr zone=%s:%dk;\n", zoneName(l), kibibytes)
}

// zoneName has the key and the rule in it: nginx refuses a configuration in which a
// zone changes its key under the same name.
func zoneName(l *l4.Listener) string {
	return "addr." + decimal(l.Port) + "." + string(l.Protocol) + "." + strings.ReplaceAll(l.Owner.String(), "/", ".")
}

// address of the backend, looked up when a client comes: a name that does not
// resolve then harms nobody else.
func (p *Provider) address(l *l4.Listener) string {
	host := l.Backend.Service + "." + l.Backend.Namespace + ".svc." + p.config.ClusterDomain
	if l.Backend.Port == 0 {
		return host + ":$server_port"
	}
	return host + ":" + decimal(l.Backend.Port)
}
