package validate

import (
	"cmp"
	"slices"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// isReserved tells whether nginx needs the port itself: by what the class says, or
// by what that means where it is left out.
func isReserved(spec *crdv1.TCPIngressClassSpec, port int32) bool {
	return overlapsAny(crdv1.PortRange{From: port, To: port}, reservedRanges(spec))
}

// reservedRanges are the numbers for which isReserved is true, as sorted ranges that do
// not touch. There is at least one.
func reservedRanges(spec *crdv1.TCPIngressClassSpec) []crdv1.PortRange {
	var list []crdv1.PortRange
	for _, port := range reservedNumbers(spec) {
		list = append(list, crdv1.PortRange{From: port, To: port})
	}
	if spec.Provider == crdv1.ProviderNginx {
		list = append(list, ephemeralPorts(spec.Nginx))
	}
	slices.SortFunc(list, func(a, b crdv1.PortRange) int { return cmp.Compare(a.From, b.From) })
	var merged []crdv1.PortRange
	for _, r := range list {
		if n := len(merged); n > 0 && r.From <= merged[n-1].To+1 {
			merged[n-1].To = max(merged[n-1].To, r.To)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}

// reservedNumbers are those of them that are named one by one.
func reservedNumbers(spec *crdv1.TCPIngressClassSpec) []int32 {
	switch {
	case spec.Provider == crdv1.ProviderNginx && spec.Nginx != nil:
		return append(slices.Clone(spec.Nginx.ReservedPorts), crdv1.NginxAgentPort)
	case spec.Provider == crdv1.ProviderNginx:
		return []int32{crdv1.NginxAgentPort}
	case spec.IngressNginx != nil && len(spec.IngressNginx.ReservedPorts) > 0:
		return spec.IngressNginx.ReservedPorts
	default:
		return crdv1.DefaultReservedPorts()
	}
}

// ephemeralPorts are those from which nginx connects to backends.
func ephemeralPorts(n *crdv1.Nginx) crdv1.PortRange {
	if n != nil && n.IPLocalPortRange != nil {
		return *n.IPLocalPortRange
	}
	return crdv1.PortRange{From: crdv1.DefaultEphemeralFrom, To: crdv1.DefaultEphemeralTo}
}
