package validate

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

const (
	maxImage       = 512
	maxReplicas    = 1000
	maxResolvers   = 8
	maxTolerations = 32
	maxOldWorkers  = 256
	minEphemeral   = 1024
)

func nginx(n *crdv1.Nginx, path *field.Path) field.ErrorList {
	errs := image(n.Image, path.Child("image"))
	errs = append(errs, between(n.Replicas, 0, maxReplicas, "must be 0 to 1000, or left out to leave it to an autoscaler", path.Child("replicas"))...)
	if n.Resources != nil {
		errs = append(errs, resources(n.Resources, path.Child("resources"))...)
	}
	errs = append(errs, labels(n.NodeSelector, maxLabels, path.Child("nodeSelector"))...)
	errs = append(errs, tolerations(n.Tolerations, path.Child("tolerations"))...)
	if p := n.PriorityClassName; p != "" && !isSubdomain(p) {
		errs = append(errs, field.Invalid(path.Child("priorityClassName"), p, "must be the name of a PriorityClass: lower-case letters, digits, '-' and '.', at most 253 characters"))
	}
	errs = append(errs, podAnnotations(n.PodAnnotations, path.Child("podAnnotations"))...)
	if d := n.ClusterDomain; d != "" && !isSubdomain(d) {
		errs = append(errs, field.Invalid(path.Child("clusterDomain"), d, "must be a DNS name in lower case without a dot at its end, such as cluster.local, at most 253 characters"))
	}
	errs = append(errs, resolvers(n.Resolver, path.Child("resolver"))...)
	errs = append(errs, duration(n.ResolverTimeout, time.Minute, "1m", place{path, "resolverTimeout"})...)
	errs = append(errs, cidrs(n.TrustedProxies, place{path, "trustedProxies"})...)
	errs = append(errs, reservedPorts(n.ReservedPorts, path.Child("reservedPorts"))...)
	errs = append(errs, localPorts(n.IPLocalPortRange, path.Child("ipLocalPortRange"))...)
	errs = append(errs, duration(n.ReloadInterval, 10*time.Minute, "10m", place{path, "reloadInterval"})...)
	if n.MaxOldWorkers < 0 || n.MaxOldWorkers > maxOldWorkers {
		errs = append(errs, field.Invalid(path.Child("maxOldWorkers"), n.MaxOldWorkers, "must be 1 to 256, or left out for 16"))
	}
	errs = append(errs, between(n.PropagationSeconds, 0, 3600, "must be 0 to 3600, or left out for 90", path.Child("propagationSeconds"))...)
	return append(errs, between(n.SwitchDrainSeconds, 0, 86400, "must be 0 to 86400, or left out for 300", path.Child("switchDrainSeconds"))...)
}

// image checks that the reference is one word; whether it exists the kubelet finds out.
func image(s string, path *field.Path) field.ErrorList {
	if s == "" {
		return nil
	}
	legal := len(s) <= maxImage
	for i := range len(s) {
		lower := s[i] | 0x20
		if !isAlnum(s[i]) && (lower < 'a' || lower > 'z') && (i == 0 || !strings.ContainsRune("._-/:@", rune(s[i]))) {
			legal = false
		}
	}
	if legal {
		return nil
	}
	return field.ErrorList{field.Invalid(path, s, "must be an image reference such as nginx:1.29-alpine, without blanks, at most 512 characters")}
}

// resources checks limits and requests. Only what nginx can use is legal, since
// everything else has rules of its own that a wrong value would break.
func resources(r *corev1.ResourceRequirements, path *field.Path) field.ErrorList {
	errs := resourceList(r.Limits, path.Child("limits"))
	errs = append(errs, resourceList(r.Requests, path.Child("requests"))...)
	for _, name := range slices.Sorted(maps.Keys(r.Requests)) {
		request := r.Requests[name]
		if limit, ok := r.Limits[name]; ok && request.Cmp(limit) > 0 {
			errs = append(errs, field.Invalid(path.Child("requests").Key(string(name)), request.String(), "must not be more than the limit of "+limit.String()))
		}
	}
	if len(r.Claims) > 0 {
		errs = append(errs, field.Forbidden(path.Child("claims"), "nginx uses no devices; leave claims out"))
	}
	return errs
}

func resourceList(list corev1.ResourceList, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, name := range slices.Sorted(maps.Keys(list)) {
		quantity := list[name]
		switch name {
		case corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage:
			if quantity.Sign() < 0 {
				errs = append(errs, field.Invalid(path.Key(string(name)), quantity.String(), "must not be negative"))
			}
		default:
			errs = append(errs, field.NotSupported(path, name,
				[]corev1.ResourceName{corev1.ResourceCPU, corev1.ResourceMemory, corev1.ResourceEphemeralStorage}))
		}
	}
	return errs
}

func tolerations(list []corev1.Toleration, path *field.Path) field.ErrorList {
	if len(list) > maxTolerations {
		return field.ErrorList{tooMany(path, len(list), maxTolerations)}
	}
	var errs field.ErrorList
	for i := range list {
		errs = append(errs, toleration(&list[i], path.Index(i))...)
	}
	return errs
}

func toleration(t *corev1.Toleration, path *field.Path) field.ErrorList {
	errs := enum(t.Operator, path.Child("operator"), corev1.TolerationOpExists, corev1.TolerationOpEqual)
	errs = append(errs, enum(t.Effect, path.Child("effect"),
		corev1.TaintEffectNoSchedule, corev1.TaintEffectPreferNoSchedule, corev1.TaintEffectNoExecute)...)
	switch {
	case t.Key != "" && !isKey(t.Key):
		errs = append(errs, field.Invalid(path.Child("key"), t.Key, keyText))
	case t.Key == "" && t.Operator != corev1.TolerationOpExists:
		errs = append(errs, field.Invalid(path.Child("operator"), t.Operator, "must be Exists where key is left out"))
	}
	switch {
	case t.Operator == corev1.TolerationOpExists && t.Value != "":
		errs = append(errs, field.Invalid(path.Child("value"), t.Value, "must be left out where operator is Exists"))
	case !isLabelValue(t.Value):
		errs = append(errs, field.Invalid(path.Child("value"), t.Value, valueText))
	}
	if t.TolerationSeconds != nil && t.Effect != corev1.TaintEffectNoExecute {
		errs = append(errs, field.Invalid(path.Child("tolerationSeconds"), *t.TolerationSeconds, "needs effect NoExecute"))
	}
	return errs
}

// podAnnotations refuses the keys too whose values the API server checks against
// the rest of the pod.
func podAnnotations(m map[string]string, path *field.Path) field.ErrorList {
	errs := annotations(m, path)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		prefix, _, _ := strings.Cut(strings.ToLower(key), "/")
		switch prefix {
		case "container.apparmor.security.beta.kubernetes.io", "container.seccomp.security.alpha.kubernetes.io",
			"seccomp.security.alpha.kubernetes.io", "scheduler.alpha.kubernetes.io",
			"kubernetes.io", "controller.kubernetes.io":
			errs = append(errs, field.Forbidden(path.Key(key), "Kubernetes gives this key a meaning of its own; leave it out"))
		}
	}
	return errs
}

func resolvers(list []string, path *field.Path) field.ErrorList {
	if len(list) > maxResolvers {
		return field.ErrorList{tooMany(path, len(list), maxResolvers)}
	}
	var errs field.ErrorList
	for i, s := range list {
		addr, err := netip.ParseAddr(s)
		switch {
		case err != nil || addr.Zone() != "" || addr.Is4In6():
			errs = append(errs, field.Invalid(path.Index(i), s, "must be an IP address such as 10.96.0.10 or fd00::a"))
		case addr.String() != s:
			errs = append(errs, field.Invalid(path.Index(i), s, "must be an IP address in its usual form; write "+addr.String()))
		}
	}
	return append(errs, duplicates(list, place{base: path})...)
}

func localPorts(r *crdv1.PortRange, path *field.Path) field.ErrorList {
	if r == nil {
		return nil
	}
	if errs := portRange(r, path); len(errs) > 0 {
		return errs
	}
	if r.From < minEphemeral || r.To-r.From+1 < minEphemeral {
		return field.ErrorList{field.Invalid(path, rangeText(r), "must begin at 1024 or above and hold at least 1024 ports, from which connections to backends are made")}
	}
	return nil
}
