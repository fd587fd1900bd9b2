package bundle

import (
	"strconv"
	"strings"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// Header is the comment before every server of a rule: who asked for it, and where
// it leads. People read it; the class hook and the agent read it back.
//
//	# 6379/TCP data/redis/tcp-6379 -> data/redis:6379
//	# 30000-30100/UDP game/world/udp -> game/world:*
//	# 8443/TCP/db.example.com data/db/tls -> data/db:5432 accept send=V1
type Header struct {
	// Key is the first port, and the host where the port is shared by hosts.
	l4.Key
	// EndPort is the last port of a range, else 0.
	EndPort int32
	// Owner is "namespace/name/rule".
	Owner string
	// Entry is where it leads. Its Backend.Port is 0 in a range.
	l4.Entry
	// Digest stands for all else that the rule says, where its text is spread over
	// several places; "" where the server below says it all.
	Digest string
}

const (
	headerPrefix = "# "
	headerArrow  = " -> "
	digestPrefix = " digest="
)

// Listener names the port without the host: "6379/TCP", "30000-30100/UDP".
func (h *Header) Listener() string {
	port := strconv.Itoa(int(h.Port))
	if h.EndPort > h.Port {
		port += "-" + strconv.Itoa(int(h.EndPort))
	}
	return port + "/" + string(h.Protocol)
}

// String is the comment, without a line end.
func (h *Header) String() string {
	var b strings.Builder
	b.WriteString(headerPrefix + h.Listener())
	if h.Host != "" {
		b.WriteString("/" + h.Host)
	}
	port := "*"
	if h.Backend.Port != 0 {
		port = strconv.Itoa(int(h.Backend.Port))
	}
	b.WriteString(" " + h.Owner + headerArrow + h.Backend.Namespace + "/" + h.Backend.Service + ":" + port)
	if h.AcceptProxy {
		b.WriteString(" accept")
	}
	if h.SendProxy != l4.SendNone {
		b.WriteString(" send=" + string(h.SendProxy))
	}
	if h.Digest != "" {
		b.WriteString(digestPrefix + h.Digest)
	}
	return b.String()
}

// ParseHeader reads a line as String writes it. Every other line, such as a comment
// of another kind, is not ok.
func ParseHeader(line string) (h Header, ok bool) {
	text, isComment := strings.CutPrefix(line, headerPrefix)
	left, right, hasArrow := strings.Cut(text, headerArrow)
	key, owner, hasOwner := strings.Cut(left, " ")
	if !isComment || !hasArrow || !hasOwner || !h.parseKey(key) || !h.parseBackend(right) {
		return Header{}, false
	}
	h.Owner = owner
	// What is written otherwise than String would is no header of ours.
	if strings.Count(owner, "/") != 2 || h.String() != line {
		return Header{}, false
	}
	return h, true
}

func (h *Header) parseKey(key string) bool {
	ports, rest, _ := strings.Cut(key, "/")
	protocol, host, _ := strings.Cut(rest, "/")
	first, last, isRange := strings.Cut(ports, "-")
	h.Protocol, h.Host = l4.Protocol(protocol), host
	if h.Protocol != l4.TCP && h.Protocol != l4.UDP || !parsePort(first, &h.Port) {
		return false
	}
	return !isRange || parsePort(last, &h.EndPort) && h.EndPort > h.Port
}

func (h *Header) parseBackend(text string) bool {
	backend, options, _ := strings.Cut(text, " ")
	namespace, rest, hasName := strings.Cut(backend, "/")
	service, port, hasPort := strings.Cut(rest, ":")
	if !hasName || !hasPort || namespace == "" || service == "" {
		return false
	}
	h.Backend.Namespace, h.Backend.Service = namespace, service
	for option := range strings.FieldsSeq(options) {
		digest, isDigest := strings.CutPrefix(" "+option, digestPrefix)
		switch {
		case option == "accept":
			h.AcceptProxy = true
		case option == "send="+string(l4.SendV1):
			h.SendProxy = l4.SendV1
		case isDigest:
			h.Digest = digest
		default:
			return false
		}
	}
	return port == "*" || parsePort(port, &h.Backend.Port)
}

func parsePort(text string, port *int32) bool {
	n, err := strconv.ParseUint(text, 10, 16)
	*port = int32(n)
	return err == nil && n != 0
}
