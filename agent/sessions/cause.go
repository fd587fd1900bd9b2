// Package sessions counts the sessions that nginx writes into its access log. Lines
// enter, counters leave; each line is counted once, whatever ends in between. The log
// is rotated here, for which a function that makes nginx open it anew enters.
package sessions

import (
	"strings"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Cause is why a session failed.
type Cause int

// The causes. A session that ended because nobody said anything for long did not
// fail.
const (
	// None is that it did not fail.
	None Cause = iota
	// DNS is a backend whose name has no address, or a DNS server that is silent.
	DNS
	// Connect is a backend that takes no connection.
	Connect
	// Timeout is a backend that does not answer the attempt to connect.
	Timeout
	// UDPNoAnswer is a UDP session without a single packet from the backend.
	UDPNoAnswer
	// BadProxyHeader is a client that does not speak the PROXY protocol where it must.
	BadProxyHeader
	// Allow is a client that is not among the allowed sources.
	Allow
	// Limit is a client that has too many connections.
	Limit
	// SNI is a client that asks for a host that nobody has, or for none.
	SNI
	// PrereadTimeout is a client that does not say which host it wants.
	PrereadTimeout
	// Other is what nginx calls a failure otherwise.
	Other

	causes = int(Other) + 1
)

// Causes are those of failures.
func Causes() []Cause {
	list := make([]Cause, 0, causes-1)
	for c := DNS; c <= Other; c++ {
		list = append(list, c)
	}
	return list
}

func (c Cause) String() string {
	return [causes]string{
		"none", "dns", "connect", "timeout", "udp_no_answer", "bad_proxy_header", "allow", "limit", "sni", "preread_timeout", "other",
	}[c]
}

// Limits are times that nginx does not log, and that tell causes apart.
type Limits struct {
	// Connect and Preread are those of the rule, zero for nginx's defaults.
	Connect, Preread time.Duration
}

// What nginx does where its configuration says nothing.
const (
	defaultConnect = 60 * time.Second
	defaultPreread = 30 * time.Second
	// tick is how much earlier than the clock nginx's timers may be.
	tick = 10 * time.Millisecond
)

// CauseOf tells why a session failed. What nginx writes in each case was tried.
func CauseOf(s *bundle.Session, limits Limits) Cause {
	took := time.Duration(s.Seconds * float64(time.Second))
	const (
		ok          = 200
		badRequest  = 400
		forbidden   = 403
		internal    = 500
		badGateway  = 502
		unavailable = 503
	)
	switch s.Status {
	case ok:
		return causeOfEnd(s, took, limits)
	case badRequest:
		return BadProxyHeader
	case forbidden:
		return Allow
	case unavailable:
		return Limit
	case internal:
		switch {
		case s.Upstream != "":
			return Other
		case s.Owner == "":
			return SNI
		default:
			return DNS
		}
	case badGateway:
		if took >= orDefault(limits.Connect, defaultConnect)-tick {
			return Timeout
		}
		return Connect
	default:
		return Other
	}
}

// causeOfEnd is for sessions that nginx calls fine.
func causeOfEnd(s *bundle.Session, took time.Duration, limits Limits) Cause {
	switch {
	case strings.HasSuffix(s.Listener, "/"+string(l4.UDP)):
		if s.Upstream != "" && sum(s.UpstreamReceived) == 0 {
			return UDPNoAnswer
		}
	case s.Upstream == "" && took >= orDefault(limits.Preread, defaultPreread)-tick:
		return PrereadTimeout
	}
	return None
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

// sum adds what nginx lists for each address: "0, 517", with colons between groups.
// "-" is nothing.
func sum(list string) uint64 {
	var total, number uint64
	for _, c := range []byte(list) {
		if c < '0' || c > '9' {
			total, number = total+number, 0
			continue
		}
		number = number*10 + uint64(c-'0')
	}
	return total + number
}
