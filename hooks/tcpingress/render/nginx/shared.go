package nginx

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// sharing is a TLS port that several rules have, each with hosts of its own.
//
// The server of the port reads the name that the client asks for. Where the rules
// say the same of timeouts and of what is sent, and nothing of their clients, it
// leads to the backends. Else it leads to a server for each rule, behind a socket,
// and tells it the client in a PROXY header, which it can do for all or for none.
//
// No variable that is made from the name may be used by set, allow or limit_conn:
// they run before the name is read, and its empty value would stay.
type sharing struct {
	*Provider
	listeners []*l4.Listener
}

func newSharing(p *Provider, first *l4.Listener) *sharing {
	return &sharing{p, []*l4.Listener{first}}
}

// add adds a rule, unless it wants what another has: nginx would refuse the whole.
func (s *sharing) add(l *l4.Listener) {
	clash := len(l.Hosts) == 0 || l.AcceptProxy != s.listeners[0].AcceptProxy || slices.ContainsFunc(s.listeners, func(other *l4.Listener) bool {
		return other.Owner == l.Owner || slices.ContainsFunc(l.Hosts, func(host string) bool { return slices.Contains(other.Hosts, host) })
	})
	if !clash {
		s.listeners = append(s.listeners, l)
	}
}

// apart tells whether the rules need servers of their own.
func (s *sharing) apart() bool {
	first := s.listeners[0]
	return slices.ContainsFunc(s.listeners, func(l *l4.Listener) bool {
		return len(l.AllowSources) > 0 || l.ConnectionsPerClient != 0 ||
			l.ConnectTimeout != first.ConnectTimeout || idle(l) != idle(first) || l.SendProxy != first.SendProxy
	})
}

// unit renders the port.
func (s *sharing) unit() unit { return s.render(s.apart()) }

func (s *sharing) render(apart bool) unit {
	first := s.listeners[0]
	u := unit{protocol: l4.TCP, port: first.Port, sockets: 2}
	var b block
	for _, l := range s.listeners {
		for _, h := range headers(l, s.digest(l)) {
			b.WriteString(h.String() + "\n")
		}
	}
	u.hosts, u.owners = s.maps(apart)
	s.front(&b, apart)
	if apart {
		for _, l := range s.listeners {
			s.inner(&b, l)
			u.sockets++
		}
	}
	u.text = b.String()
	return u
}

// front is the server of the port.
func (s *sharing) front(b *block, apart bool) {
	first := s.listeners[0]
	if first.AcceptProxy {
		b.format(first, "$sni_owner")
	}
	b.WriteString("server {\n")
	b.listen(first, decimal(first.Port))
	b.line("ssl_preread on")
	format, condition := "session", ""
	if apart {
		condition = "if=$told_here"
	}
	if first.AcceptProxy {
		format = formatName(first)
	} else {
		b.line("set $listener", listenerName(first))
	}
	if apart || first.AcceptProxy {
		s.access(b, format, condition)
	}
	if apart {
		// The rule's own server is the one to end a silent session.
		const later = 10
		seconds := 0
		for _, l := range s.listeners {
			seconds = max(seconds, int(idle(l).Seconds())+later)
		}
		b.printf("    proxy_timeout %ds;\n", seconds)
	} else {
		b.timeouts(first)
	}
	if apart || first.SendProxy == l4.SendV1 {
		b.line("proxy_protocol on")
	}
	b.line("proxy_pass $sni_backend")
	b.WriteString("}\n")
}

// inner is the server of one rule. If the backend wants the PROXY header, it gets
// the one that the server of the port made, which goes through as it is.
func (s *sharing) inner(b *block, l *l4.Listener) {
	b.WriteString("# for " + l.Owner.String() + "\n")
	s.zone(b, l)
	b.WriteString("server {\n")
	if l.SendProxy == l4.SendV1 {
		b.line("listen unix:" + s.socket(l))
	} else {
		b.line("listen unix:"+s.socket(l), "proxy_protocol")
		b.line("set_real_ip_from unix:")
	}
	b.line("set $listener", listenerName(l))
	b.line("set $owner", l.Owner.String())
	b.clients(l)
	b.timeouts(l)
	b.line("set $backend", s.address(l))
	b.line("proxy_pass $backend")
	b.WriteString("}\n")
}

// maps gives the lines of the two maps of nginx.conf: where each host leads, and whose
// it is. Their key is the host with the port as its last label, so that one map does
// for all ports: each takes nginx milliseconds to build.
func (s *sharing) maps(apart bool) (hosts, owners string) {
	var backends, names strings.Builder
	for _, l := range s.listeners {
		backend := s.address(l)
		if apart {
			backend = "unix:" + s.socket(l)
		}
		for _, host := range l.Hosts {
			key := host + "." + decimal(l.Port) + " "
			backends.WriteString(key + backend + ";\n")
			names.WriteString(key + l.Owner.String() + ";\n")
		}
	}
	return backends.String(), names.String()
}

// socket is where the server of a rule listens: a path of at most 107 bytes. What is
// spoken there is in its name, since for a moment old workers send to new ones.
func (s *sharing) socket(l *l4.Listener) string {
	sum := sha256.Sum256([]byte(string(l.SendProxy) + " " + l.Owner.String()))
	return s.path("sni-" + decimal(l.Port) + "-" + hex.EncodeToString(sum[:6]) + ".sock")
}

// digest stands for all that the listener says besides what its header says.
func (p *Provider) digest(l *l4.Listener) string {
	var b block
	b.WriteString(strings.Join(l.Hosts, " ") + "\n")
	b.clients(l)
	b.timeouts(l)
	b.line(p.address(l))
	sum := sha256.Sum256([]byte(b.String()))
	return hex.EncodeToString(sum[:4])
}
