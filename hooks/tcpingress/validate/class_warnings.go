package validate

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// ClassWarnings tells what of a class without errors is legal and may still surprise.
func ClassWarnings(spec *crdv1.TCPIngressClassSpec) []string {
	var idle, hidden paths
	path := field.NewPath("spec")
	if spec.Provider == crdv1.ProviderNginx {
		if spec.IngressNginx != nil {
			idle = append(idle, path.Child("ingressNginx"))
		}
		if s := spec.Service; s != nil && s.ExternalTrafficPolicy == corev1.ServiceExternalTrafficPolicyCluster {
			hidden = append(hidden, path.Child("service", "externalTrafficPolicy"))
		}
	} else if spec.Nginx != nil {
		idle = append(idle, path.Child("nginx"))
	}
	var out []string
	out = idle.warn(out, "these settings belong to another provider, and do nothing")
	out = hidden.warn(out, "Cluster hides the clients' addresses, so allowSources and limits judge nodes; Local keeps them")
	if spec.Ports == nil {
		return out
	}
	return append(out, grantWarnings(spec, path.Child("ports", "grants"))...)
}

func grantWarnings(spec *crdv1.TCPIngressClassSpec, path *field.Path) []string {
	var reserved, useless, shared paths
	taken := reservedRanges(spec)
	for i := range spec.Ports.Grants {
		grant, path := &spec.Ports.Grants[i], path.Index(i)
		for j, given := range grant.Ports {
			path := path.Child("ports").Index(j)
			if len(taken) > 0 && withinOne(given, taken) {
				reserved = append(reserved, path)
			}
			if len(spec.Ports.Allowed) > 0 && !overlapsAny(given, spec.Ports.Allowed) {
				useless = append(useless, path)
			}
		}
		if slices.ContainsFunc(spec.Ports.Grants[:i], func(earlier crdv1.PortGrant) bool {
			return slices.ContainsFunc(grant.Ports, func(r crdv1.PortRange) bool { return overlapsAny(r, earlier.Ports) })
		}) {
			shared = append(shared, path)
		}
	}
	var out []string
	out = reserved.warn(out, "nginx itself needs these ports (see reservedPorts), so they stay refused")
	out = useless.warn(out, "none of these ports is in ports.allowed, so they stay refused")
	return shared.warn(out, "an earlier grant gives some of these ports too; whoever asks first holds them")
}

func overlapsAny(r crdv1.PortRange, list []crdv1.PortRange) bool {
	return slices.ContainsFunc(list, func(other crdv1.PortRange) bool {
		return r.From <= other.To && other.From <= r.To
	})
}

// reservedRanges are the numbers for which isReserved is true, as ranges that do not touch.
func reservedRanges(spec *crdv1.TCPIngressClassSpec) []crdv1.PortRange {
	var list []crdv1.PortRange
	for _, port := range reservedNumbers(spec) {
		list = append(list, crdv1.PortRange{From: port, To: port})
	}
	if spec.Provider == crdv1.ProviderNginx {
		ephemeral := crdv1.PortRange{From: crdv1.DefaultEphemeralFrom, To: crdv1.DefaultEphemeralTo}
		if n := spec.Nginx; n != nil && n.IPLocalPortRange != nil {
			ephemeral = *n.IPLocalPortRange
		}
		list = append(list, ephemeral)
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

func reservedNumbers(spec *crdv1.TCPIngressClassSpec) []int32 {
	switch {
	case spec.Provider == crdv1.ProviderNginx && spec.Nginx != nil:
		return spec.Nginx.ReservedPorts
	case spec.Provider == crdv1.ProviderNginx:
		return nil
	case spec.IngressNginx != nil && len(spec.IngressNginx.ReservedPorts) > 0:
		return spec.IngressNginx.ReservedPorts
	default:
		return crdv1.DefaultReservedPorts()
	}
}
