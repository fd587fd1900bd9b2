package validate

import (
	"net/netip"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

const (
	minPort      = 1
	maxPort      = 65535
	maxRangeSize = 1024
	maxHosts     = 16
	// maxConnections is nginx's own: a limit_conn of 65536 does not load.
	maxConnections = 65535
	maxConnect     = 10 * time.Minute
	maxIdle        = 720 * time.Hour
)

// Rule gives everything that is wrong with one rule by itself.
func Rule(r *crdv1.Rule, path *field.Path) field.ErrorList {
	errs := protocol(r, path)
	errs = append(errs, name(r, path)...)
	errs = append(errs, ports(r, path)...)
	errs = append(errs, hosts(r, path)...)
	errs = append(errs, backend(r, path)...)
	errs = append(errs, proxyProtocol(r, path)...)
	errs = append(errs, cidrs(r.AllowSources, place{path, "allowSources"})...)
	if t := r.Timeouts; t != nil {
		errs = append(errs, duration(t.Connect, maxConnect, "10m", place{path, "timeouts.connect"})...)
		errs = append(errs, duration(t.Idle, maxIdle, "720h", place{path, "timeouts.idle"})...)
	}
	if l := r.Limits; l != nil && (l.ConnectionsPerClient < 0 || l.ConnectionsPerClient > maxConnections) {
		errs = append(errs, field.Invalid(path.Child("limits", "connectionsPerClient"), l.ConnectionsPerClient,
			"must be 1 to 65535, or left out for no limit"))
	}
	return errs
}

func protocol(r *crdv1.Rule, path *field.Path) field.ErrorList {
	switch r.Protocol {
	case "", crdv1.ProtocolTCP, crdv1.ProtocolUDP:
		return nil
	}
	return field.ErrorList{field.NotSupported(path.Child("protocol"), r.Protocol,
		[]crdv1.Protocol{crdv1.ProtocolTCP, crdv1.ProtocolUDP})}
}

func name(r *crdv1.Rule, path *field.Path) field.ErrorList {
	at := place{path, "name"}
	switch {
	case r.Name == "" && r.Port == 0:
		return field.ErrorList{field.Required(at.path(), "a rule without a port needs a name, under which it keeps the port that it gets from the pool")}
	case r.Name == "":
		return nil
	case !isLabel(r.Name):
		return field.ErrorList{field.Invalid(at.path(), r.Name, labelText)}
	case isDefaultName(r.Name):
		return field.ErrorList{field.Invalid(at.path(), r.Name,
			"must not be of the form tcp-<number> or udp-<number>, which rules without a name get; leave it out or choose another")}
	}
	return nil
}

func ports(r *crdv1.Rule, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if r.Port < 0 || r.Port > maxPort {
		errs = append(errs, field.Invalid(path.Child("port"), r.Port,
			"must be 1 to 65535, or left out to get one from the class's pool"))
	}
	if r.EndPort == 0 {
		return errs
	}
	end := place{path, "endPort"}
	switch {
	case r.EndPort < 0 || r.EndPort > maxPort:
		errs = append(errs, field.Invalid(end.path(), r.EndPort, "must be 1 to 65535, or left out for a single port"))
	case r.Port == 0:
		errs = append(errs, field.Invalid(end.path(), r.EndPort, "needs port, the first port of the range; the pool gives single ports only"))
	case r.EndPort < r.Port:
		errs = append(errs, field.Invalid(end.path(), r.EndPort, "must not be less than port"))
	case r.EndPort-r.Port >= maxRangeSize:
		errs = append(errs, field.Invalid(end.path(), r.EndPort, "a range has at most 1024 ports; split it into several rules"))
	}
	return errs
}

func hosts(r *crdv1.Rule, path *field.Path) field.ErrorList {
	if len(r.Hosts) == 0 {
		return nil
	}
	at := place{path, "hosts"}
	var errs field.ErrorList
	if ProtocolOf(r) != crdv1.ProtocolTCP {
		errs = append(errs, field.Forbidden(at.path(), "host names are read from TLS, so hosts need protocol TCP"))
	}
	if r.Port == 0 {
		errs = append(errs, field.Forbidden(at.path(), "hosts share a port that is known to all of them; set port"))
	}
	if r.EndPort != 0 {
		errs = append(errs, field.Forbidden(at.path(), "hosts cannot be combined with endPort; write one rule for each port"))
	}
	if len(r.Hosts) > maxHosts {
		return append(errs, tooMany(at.path(), len(r.Hosts), maxHosts))
	}
	for i, h := range r.Hosts {
		if text := hostProblem(h); text != "" {
			errs = append(errs, field.Invalid(at.path().Index(i), h, text))
		}
	}
	return append(errs, duplicates(r.Hosts, at)...)
}

// hostProblem says what is wrong with a host name, or "".
func hostProblem(h string) string {
	exact := strings.TrimPrefix(h, "*.")
	if len(h) > maxSubdomain || !isSubdomain(exact) {
		return `must be a DNS name in lower case, such as "db.example.com" or "*.example.com", at most 253 characters`
	}
	if isIPv4(exact) {
		return "must not be an IP address: TLS clients send names only; leave hosts out to forward the whole port"
	}
	return ""
}

// isIPv4 tells whether a DNS name is an IPv4 address as well. Most names can be told
// from one without an error that costs memory.
func isIPv4(s string) bool {
	if strings.Trim(s, "0123456789.") != "" {
		return false
	}
	_, err := netip.ParseAddr(s)
	return err == nil
}

func proxyProtocol(r *crdv1.Rule, path *field.Path) field.ErrorList {
	p := r.ProxyProtocol
	if p == nil {
		return nil
	}
	var errs field.ErrorList
	switch p.Send {
	case "", crdv1.ProxyProtocolNone, crdv1.ProxyProtocolV1:
	default:
		errs = append(errs, field.NotSupported(path.Child("proxyProtocol", "send"), p.Send,
			[]crdv1.ProxyProtocolVersion{crdv1.ProxyProtocolNone, crdv1.ProxyProtocolV1}))
	}
	if ProtocolOf(r) != crdv1.ProtocolTCP && (p.Accept || p.Send == crdv1.ProxyProtocolV1) {
		errs = append(errs, field.Forbidden(path.Child("proxyProtocol"), "the PROXY protocol works with TCP only; leave proxyProtocol out"))
	}
	return errs
}
