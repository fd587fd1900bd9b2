package validate

import (
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
