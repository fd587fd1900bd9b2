package nginx

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// sharing is a TLS port that several rules have, each with hosts of its own.
type sharing struct {
	*Provider
	listeners []*l4.Listener
}

// apart tells whether the rules need servers of their own, because one of them says
// something that a server can say of all its connections only.
func (s *sharing) apart() bool {
	return slices.ContainsFunc(s.listeners, func(l *l4.Listener) bool {
		return len(l.AllowSources) > 0 || l.ConnectTimeout != 0 || l.IdleTimeout != 0 ||
			l.ConnectionsPerClient != 0 || l.SendProxy != l4.SendNone
	})
}

// shared renders the port: a server that reads the name which the client asks for
// and nothing else, and behind it, if they must be apart, a server for each rule.
//
// No variable that is made from the name may be used by set, allow or limit_conn:
// they run before the name is read, and its empty value would stay.
func (p *Provider) shared(listeners []*l4.Listener) unit {
	s := &sharing{p, listeners}
	first := listeners[0]
	port := decimal(first.Port)
	var b block
	for _, l := range listeners {
		for _, h := range headers(l, p.digest(l)) {
			b.WriteString(h.String() + "\n")
		}
	}
	apart := s.apart()
	s.writeMaps(&b, port, apart)
	fmt.Fprintf(&b, "log_format session_%s escape=json '%s';\n", port, sessionFormat("$sni_"+port+"_owner"))
	b.WriteString("server {\n")
	b.listen(first, port)
	b.line("ssl_preread on")
	b.line("set $listener", listenerName(first))
	// A session of a rule that has a server of its own is told of there.
	b.line("access_log", p.path(accessLog), "session_"+port, "buffer=64k flush=1s", "if=$sni_"+port+"_told")
	if apart {
		b.line("proxy_protocol on")
	}
	b.line("proxy_pass $sni_" + port + "_backend")
	b.WriteString("}\n")
	sockets := 2
	if apart {
		for _, l := range listeners {
			s.writeInner(&b, l)
			sockets++
		}
	}
	return unit{protocol: l4.TCP, port: first.Port, text: b.String(), sockets: sockets}
}

// writeMaps writes where each host leads and whose it is. A name that nobody has
// leads nowhere, which closes the connection.
func (s *sharing) writeMaps(b *block, port string, apart bool) {
	write := func(name, fallback string, value func(*l4.Listener) string) {
		fmt.Fprintf(b, "map $ssl_preread_server_name $sni_%s_%s {\n", port, name)
		b.line("hostnames")
		b.line("default", fallback)
		for _, l := range s.listeners {
			for _, host := range l.Hosts {
				b.line(mapKey(host), value(l))
			}
		}
		b.WriteString("}\n")
	}
	backend := s.address
	if apart {
		backend = func(l *l4.Listener) string { return "unix:" + s.socket(l) }
	}
	write("backend", `""`, backend)
	write("owner", `""`, func(l *l4.Listener) string { return l.Owner.String() })
	if apart {
		write("told", "1", func(*l4.Listener) string { return "0" })
	} else {
		fmt.Fprintf(b, "map \"\" $sni_%s_told {\n", port)
		b.line("default 1")
		b.WriteString("}\n")
	}
}

func (s *sharing) writeInner(b *block, l *l4.Listener) {
	b.zone(l)
	b.WriteString("server {\n")
	b.line("listen unix:"+s.socket(l), "proxy_protocol")
	b.line("set_real_ip_from unix:")
	b.line("set $listener", listenerName(l))
	b.line("set $owner", l.Owner.String())
	b.limits(l)
	b.line("set $backend", s.address(l))
	b.line("proxy_pass $backend")
	b.WriteString("}\n")
}

// socket is where the server of a rule listens: a path of at most 107 bytes.
func (s *sharing) socket(l *l4.Listener) string {
	sum := sha256.Sum256([]byte(l.Owner.String()))
	return s.path("sni-" + decimal(l.Port) + "-" + hex.EncodeToString(sum[:6]) + ".sock")
}

// digest stands for all that the listener says besides its hosts and its owner.
func (p *Provider) digest(l *l4.Listener) string {
	var b block
	b.limits(l)
	b.line(p.address(l))
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:4])
}
