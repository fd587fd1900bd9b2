package validate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

func classTexts(spec crdv1.TCPIngressClassSpec) []string {
	if spec.Namespace == "" {
		spec.Namespace = "ingress-nginx"
	}
	return texts(Class(&spec, "nginx"))
}

func withService(s crdv1.ClassService) crdv1.TCPIngressClassSpec {
	return crdv1.TCPIngressClassSpec{Service: &s}
}

func withPorts(p crdv1.ClassPorts) crdv1.TCPIngressClassSpec {
	return crdv1.TCPIngressClassSpec{Ports: &p}
}

func withNginx(n crdv1.Nginx) crdv1.TCPIngressClassSpec {
	return crdv1.TCPIngressClassSpec{Provider: crdv1.ProviderNginx, Nginx: &n}
}

func TestClassSaysWhatIsWrongAndWhatIsRight(t *testing.T) {
	const sourceRanges = "service.beta.kubernetes.io/load-balancer-source-ranges"
	tests := map[string]struct {
		spec crdv1.TCPIngressClassSpec
		want []string
	}{
		"the smallest class is right": {crdv1.TCPIngressClassSpec{}, nil},
		"a provider that does not exist": {
			crdv1.TCPIngressClassSpec{Provider: "HAProxy"},
			[]string{`spec.provider: Unsupported value: "HAProxy": supported values: "IngressNginx", "Nginx"`},
		},
		"a namespace that cannot exist": {
			crdv1.TCPIngressClassSpec{Namespace: "ingress.nginx"},
			[]string{`spec.namespace: Invalid value: "ingress.nginx": ` + labelText},
		},
		"one ConfigMap for both protocols": {
			crdv1.TCPIngressClassSpec{IngressNginx: &crdv1.IngressNginx{UDPConfigMapName: new("tcp-services")}},
			[]string{`spec.ingressNginx.udpConfigMapName: Invalid value: "tcp-services": must differ from tcpConfigMapName: ingress-nginx reads TCP and UDP from two ConfigMaps`},
		},
		"UDP switched off is right": {
			crdv1.TCPIngressClassSpec{IngressNginx: &crdv1.IngressNginx{UDPConfigMapName: new("")}}, nil,
		},
		"both protocols switched off": {
			crdv1.TCPIngressClassSpec{IngressNginx: &crdv1.IngressNginx{TCPConfigMapName: new(""), UDPConfigMapName: new("")}},
			[]string{`spec.ingressNginx: Invalid value: "": one of tcpConfigMapName and udpConfigMapName must be given: "" switches a protocol off, and with both off the class can serve nothing`},
		},
		"a ConfigMap with its namespace": {
			crdv1.TCPIngressClassSpec{IngressNginx: &crdv1.IngressNginx{TCPConfigMapName: new("ingress-nginx/tcp-services")}},
			[]string{`spec.ingressNginx.tcpConfigMapName: Invalid value: "ingress-nginx/tcp-services": ` + configMapText},
		},
		"reserved ports that are none, or repeat": {
			crdv1.TCPIngressClassSpec{IngressNginx: &crdv1.IngressNginx{ReservedPorts: []int32{80, 0, 80}}},
			[]string{
				"spec.ingressNginx.reservedPorts[1]: Invalid value: 0: must be 1 to 65535",
				"spec.ingressNginx.reservedPorts[2]: Duplicate value: 80",
			},
		},
		"two names of one annotation that differ": {
			withService(crdv1.ClassService{Annotations: map[string]string{"service.kubernetes.io/topology-mode": "Auto", "service.kubernetes.io/topology-aware-hints": "auto"}}),
			[]string{`spec.service.annotations[service.kubernetes.io/topology-mode]: Invalid value: "Auto": differs from service.kubernetes.io/topology-aware-hints, its former name; leave that one out`},
		},
		"two names of one annotation that are equal": {
			withService(crdv1.ClassService{Annotations: map[string]string{"service.kubernetes.io/topology-mode": "Auto", "service.kubernetes.io/topology-aware-hints": "Auto"}}), nil,
		},
		"a selector that no pod can match": {
			crdv1.TCPIngressClassSpec{IngressNginx: &crdv1.IngressNginx{Selector: map[string]string{"app": "-x", "a/b/c": "y"}}},
			[]string{
				`spec.ingressNginx.selector: Invalid value: "a/b/c": ` + keyText,
				`spec.ingressNginx.selector[app]: Invalid value: "-x": ` + valueText,
			},
		},
		"names of Services": {
			withService(crdv1.ClassService{TCPName: "1-redis", UDPName: "Stream"}),
			[]string{
				`spec.service.tcpName: Invalid value: "1-redis": ` + serviceNameText,
				`spec.service.udpName: Invalid value: "Stream": ` + serviceNameText,
			},
		},
		"one Service for both protocols, by default": {
			withService(crdv1.ClassService{UDPName: "nginx-stream-tcp"}),
			[]string{`spec.service.udpName: Invalid value: "nginx-stream-tcp": tcpName and udpName must differ: each protocol has a Service of its own`},
		},
		"an annotation with source ranges is right": {
			withService(crdv1.ClassService{Annotations: map[string]string{sourceRanges: " 10.0.0.0/8, 2001:db8::/32 "}}), nil,
		},
		"an annotation with no source ranges is right": {
			withService(crdv1.ClassService{Annotations: map[string]string{sourceRanges: " "}}), nil,
		},
		"an annotation with source ranges that are none": {
			withService(crdv1.ClassService{Annotations: map[string]string{sourceRanges: "10.0.0.0/8,10.0.0.1/8,192.0.2.7,"}}),
			[]string{
				`spec.service.annotations[` + sourceRanges + `]: Invalid value: "10.0.0.1/8": must be a CIDR in its usual form; write 10.0.0.0/8`,
				`spec.service.annotations[` + sourceRanges + `]: Invalid value: "192.0.2.7": must be a CIDR; write 192.0.2.7/32 for this one address`,
				`spec.service.annotations[` + sourceRanges + `]: Invalid value: "": must be a CIDR such as 10.0.0.0/8 or 2001:db8::/32`,
			},
		},
		"an annotation with source ranges on another type": {
			withService(crdv1.ClassService{Type: crdv1.ServiceNodePort, Annotations: map[string]string{sourceRanges: "10.0.0.0/8"}}),
			[]string{`spec.service.annotations[` + sourceRanges + `]: Forbidden: needs type LoadBalancer; leave it out`},
		},
		"what a Service of type NodePort cannot have": {
			withService(crdv1.ClassService{
				Type: crdv1.ServiceNodePort, LoadBalancerClass: "example.com/vip",
				LoadBalancerSourceRanges: []string{"10.0.0.0/8"}, AllocateLoadBalancerNodePorts: new(false),
			}),
			[]string{
				"spec.service.loadBalancerClass: Forbidden: needs type LoadBalancer; leave it out",
				"spec.service.loadBalancerSourceRanges: Forbidden: needs type LoadBalancer; leave it out",
				"spec.service.allocateLoadBalancerNodePorts: Forbidden: needs type LoadBalancer; leave it out",
			},
		},
		"a traffic policy that a ClusterIP cannot have": {
			withService(crdv1.ClassService{Type: crdv1.ServiceClusterIP, ExternalTrafficPolicy: "Local"}),
			[]string{"spec.service.externalTrafficPolicy: Forbidden: needs type LoadBalancer or NodePort; leave it out"},
		},
		"policies that do not exist": {
			withService(crdv1.ClassService{ExternalTrafficPolicy: "Global", IPFamilyPolicy: "DualStack"}),
			[]string{
				`spec.service.externalTrafficPolicy: Unsupported value: "Global": supported values: "Cluster", "Local"`,
				`spec.service.ipFamilyPolicy: Unsupported value: "DualStack": supported values: "SingleStack", "PreferDualStack", "RequireDualStack"`,
			},
		},
		"2,000 ports with node ports are right": {withService(crdv1.ClassService{MaxPorts: new(int32(2000))}), nil},
		"2,001 ports with node ports": {
			withService(crdv1.ClassService{MaxPorts: new(int32(2001)), AllocateLoadBalancerNodePorts: new(true)}),
			[]string{"spec.service.maxPorts: Invalid value: 2001: must be at most 2000 while every port takes a node port too; set allocateLoadBalancerNodePorts: false with type LoadBalancer for more"},
		},
		"4,000 ports without node ports are right": {
			withService(crdv1.ClassService{MaxPorts: new(int32(4000)), AllocateLoadBalancerNodePorts: new(false)}), nil,
		},
		"no ports at all": {
			withService(crdv1.ClassService{MaxPorts: new(int32(0))}),
			[]string{"spec.service.maxPorts: Invalid value: 0: must be 1 to 4000, or left out for 1000"},
		},
		"an idle port that ingress-nginx needs": {
			withService(crdv1.ClassService{IdlePort: 443}),
			[]string{"spec.service.idlePort: Invalid value: 443: is reserved for nginx itself (see reservedPorts); choose another"},
		},
		"an idle port that is not allowed": {
			crdv1.TCPIngressClassSpec{
				Service: &crdv1.ClassService{IdlePort: 9},
				Ports:   &crdv1.ClassPorts{Allowed: []crdv1.PortRange{{From: 1024, To: 65535}}},
			},
			[]string{"spec.service.idlePort: Invalid value: 9: must lie within one of the ranges in ports.allowed; widen that range or choose another port"},
		},
		"annotations and labels of the controllers": {
			withService(crdv1.ClassService{
				Annotations: map[string]string{"metacontroller.k8s.io/last-applied-configuration": "{}", "example.com/ok": "yes"},
				Labels:      map[string]string{"controller-uid": "1", "nginx-stream.dev/class": "x", "team": "data"},
			}),
			[]string{
				"spec.service.annotations[metacontroller.k8s.io/last-applied-configuration]: Forbidden: this key belongs to the controllers; choose another",
				"spec.service.labels[controller-uid]: Forbidden: this key belongs to the controllers; choose another",
				"spec.service.labels[nginx-stream.dev/class]: Forbidden: this key belongs to the controllers; choose another",
			},
		},
		"annotations that are too much in all": {
			withService(crdv1.ClassService{Annotations: func() map[string]string {
				m := map[string]string{}
				for i := range 17 {
					m[fmt.Sprintf("example.com/%02d", i)] = strings.Repeat("x", 4096)
				}
				return m
			}()}),
			[]string{"spec.service.annotations: Too long: may not be more than 65536 bytes"},
		},
		"ranges that are none": {
			withPorts(crdv1.ClassPorts{Allowed: []crdv1.PortRange{{From: 0, To: 65536}, {From: 2, To: 1}}}),
			[]string{
				"spec.ports.allowed[0].from: Invalid value: 0: must be 1 to 65535",
				"spec.ports.allowed[0].to: Invalid value: 65536: must be 1 to 65535",
				"spec.ports.allowed[1].to: Invalid value: 1: must not be less than from",
			},
		},
		"a pool outside of what is allowed": {
			withPorts(crdv1.ClassPorts{Allowed: []crdv1.PortRange{{From: 1, To: 9}}, Pool: &crdv1.PortRange{From: 9, To: 10}}),
			[]string{`spec.ports.pool: Invalid value: "9-10": must lie within one of the ranges in allowed; widen that range or move the pool`},
		},
		"a pool of reserved ports only": {
			withPorts(crdv1.ClassPorts{Pool: &crdv1.PortRange{From: 442, To: 443}}),
			[]string{`spec.ports.pool: Invalid value: "442-443": lies wholly within 442-443, which is reserved for nginx itself (see reservedPorts), so no rule could get a port of it; move the pool`},
		},
		"a pool of ephemeral ports only": {
			crdv1.TCPIngressClassSpec{Provider: crdv1.ProviderNginx, Ports: &crdv1.ClassPorts{Pool: &crdv1.PortRange{From: 40000, To: 40100}}},
			[]string{`spec.ports.pool: Invalid value: "40000-40100": lies wholly within 32768-60999, which is reserved for nginx itself (see ipLocalPortRange and reservedPorts), so no rule could get a port of it; move the pool`},
		},
		"a pool of ephemeral ports is right for ingress-nginx": {
			withPorts(crdv1.ClassPorts{Pool: &crdv1.PortRange{From: 40000, To: 40100}}), nil,
		},
		"a pool with one port that is not reserved is right": {
			crdv1.TCPIngressClassSpec{Provider: crdv1.ProviderNginx, Ports: &crdv1.ClassPorts{Pool: &crdv1.PortRange{From: 32767, To: 60999}}}, nil,
		},
		"grants for nobody, of nothing": {
			withPorts(crdv1.ClassPorts{Grants: []crdv1.PortGrant{{}}, MaxPerNamespace: new(int32(0))}),
			[]string{
				"spec.ports.grants[0]: Required value: a grant needs namespaces or namespaceSelector; an empty selector ({}) means every namespace",
				"spec.ports.grants[0].ports: Required value: a grant gives at least one range of ports",
				"spec.ports.maxPerNamespace: Invalid value: 0: must be 1 to 65535, or left out for no limit",
			},
		},
		"a grant with a selector that does not work": {
			withPorts(crdv1.ClassPorts{Grants: []crdv1.PortGrant{{
				Ports:             []crdv1.PortRange{{From: 1, To: 1}},
				NamespaceSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "team", Operator: "In"}}},
			}}}),
			[]string{"spec.ports.grants[0].namespaceSelector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
		},
		"namespaces by selector, without one": {
			crdv1.TCPIngressClassSpec{AllowedNamespaces: &crdv1.AllowedNamespaces{From: crdv1.NamespacesFromSelector}},
			[]string{"spec.allowedNamespaces.selector: Required value: from: Selector needs a selector"},
		},
		"a selector that would be overlooked": {
			crdv1.TCPIngressClassSpec{AllowedNamespaces: &crdv1.AllowedNamespaces{Selector: &metav1.LabelSelector{}}},
			[]string{"spec.allowedNamespaces.selector: Forbidden: selector counts with from: Selector only; set from, or leave selector out"},
		},
		"an idle port among the ephemeral ones": {
			crdv1.TCPIngressClassSpec{Provider: crdv1.ProviderNginx, Service: &crdv1.ClassService{IdlePort: 40000}},
			[]string{"spec.service.idlePort: Invalid value: 40000: is reserved for nginx itself (see reservedPorts); choose another"},
		},
		"resources that the API server would refuse": {
			withNginx(crdv1.Nginx{Resources: &corev1.ResourceRequirements{
				Limits: corev1.ResourceList{"cpu": resource.MustParse("100m"), "example.com/gpu": resource.MustParse("1")},
				Requests: corev1.ResourceList{
					"cpu": resource.MustParse("200m"), "memory": resource.MustParse("-1"),
				},
				Claims: []corev1.ResourceClaim{{Name: "gpu"}},
			}}),
			[]string{
				`spec.nginx.resources.limits: Unsupported value: "example.com/gpu": supported values: "cpu", "memory", "ephemeral-storage"`,
				`spec.nginx.resources.requests[memory]: Invalid value: "-1": must not be negative`,
				`spec.nginx.resources.requests[cpu]: Invalid value: "200m": must not be more than the limit of 100m`,
				"spec.nginx.resources.claims: Forbidden: nginx uses no devices; leave claims out",
			},
		},
		"tolerations that the API server would refuse": {
			withNginx(crdv1.Nginx{Tolerations: []corev1.Toleration{
				{Operator: corev1.TolerationOpExists},
				{Effect: corev1.TaintEffectNoSchedule},
				{Key: "a", Operator: corev1.TolerationOpExists, Value: "b"},
				{Key: "a", Operator: "In", Effect: "Never"},
				{Key: "a", Value: "b", TolerationSeconds: new(int64(1))},
			}}),
			[]string{
				`spec.nginx.tolerations[1].operator: Invalid value: "": must be Exists where key is left out`,
				`spec.nginx.tolerations[2].value: Invalid value: "b": must be left out where operator is Exists`,
				`spec.nginx.tolerations[3].operator: Unsupported value: "In": supported values: "Exists", "Equal"`,
				`spec.nginx.tolerations[3].effect: Unsupported value: "Never": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
				"spec.nginx.tolerations[4].tolerationSeconds: Invalid value: 1: needs effect NoExecute",
			},
		},
		"the rest of nginx": {
			withNginx(crdv1.Nginx{
				Image: "-nginx latest", Replicas: new(int32(-1)), PriorityClassName: "High", ClusterDomain: "cluster.local.",
				Resolver: []string{"kube-dns", "FD00::A"}, ResolverTimeout: "2", IPLocalPortRange: &crdv1.PortRange{From: 40000, To: 40100},
				MaxOldWorkers: -1, PropagationSeconds: new(int32(-1)), SwitchDrainSeconds: new(int32(-1)),
				PodAnnotations: map[string]string{"kubernetes.io/config.mirror": "x"},
			}),
			[]string{
				`spec.nginx.image: Invalid value: "-nginx latest": must be an image reference such as nginx:1.29-alpine, without blanks, at most 512 characters`,
				"spec.nginx.replicas: Invalid value: -1: must be 0 to 1000, or left out to leave it to an autoscaler",
				`spec.nginx.priorityClassName: Invalid value: "High": must be the name of a PriorityClass: lower-case letters, digits, '-' and '.', at most 253 characters`,
				"spec.nginx.podAnnotations[kubernetes.io/config.mirror]: Forbidden: Kubernetes gives this key a meaning of its own; leave it out",
				`spec.nginx.clusterDomain: Invalid value: "cluster.local.": must be a DNS name in lower case without a dot at its end, such as cluster.local, at most 253 characters`,
				`spec.nginx.resolver[0]: Invalid value: "kube-dns": must be an IP address such as 10.96.0.10 or fd00::a`,
				`spec.nginx.resolver[1]: Invalid value: "FD00::A": must be an IP address in its usual form; write fd00::a`,
				`spec.nginx.resolverTimeout: Invalid value: "2": ` + durationText,
				`spec.nginx.ipLocalPortRange: Invalid value: "40000-40100": must begin at 1024 or above and hold at least 1024 ports, from which connections to backends are made`,
				"spec.nginx.maxOldWorkers: Invalid value: -1: must be 1 to 256, or left out for 16",
				"spec.nginx.propagationSeconds: Invalid value: -1: must be 0 to 3600, or left out for 90",
				"spec.nginx.switchDrainSeconds: Invalid value: -1: must be 0 to 86400, or left out for 300",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, append([]string{}, tc.want...), classTexts(tc.spec))
		})
	}
}

func TestClassNameLeavesRoomForTheNamesMadeFromIt(t *testing.T) {
	spec := &crdv1.TCPIngressClassSpec{Namespace: "nginx"}
	for _, name := range []string{"nginx", "n", "a-1", strings.Repeat("a", 52)} {
		assert.Empty(t, Class(spec, name), name)
	}
	for _, name := range []string{"", "nginx.public", "1nginx", "Nginx", "nginx-", strings.Repeat("a", 53)} {
		require.NotEmpty(t, Class(spec, name), name)
	}
	assert.Equal(t, []string{`metadata.name: Invalid value: "nginx.public": ` + classNameText}, texts(Class(spec, "nginx.public")))
}

func TestClassUpdate(t *testing.T) {
	base := func() *crdv1.TCPIngressClassSpec {
		return &crdv1.TCPIngressClassSpec{
			Namespace:    "nginx",
			Service:      &crdv1.ClassService{TCPName: "a", UDPName: "b", LoadBalancerClass: "c"},
			IngressNginx: &crdv1.IngressNginx{TCPConfigMapName: new("d"), UDPConfigMapName: new("e")},
		}
	}
	assert.Empty(t, ClassUpdate(base(), base(), "nginx"))
	after := &crdv1.TCPIngressClassSpec{Namespace: "other"}
	assert.Equal(t, []string{
		`spec.namespace: Invalid value: "other": is immutable: a move would delete the Services and their addresses; set it back to "nginx", or make a new class`,
		`spec.service.tcpName: Invalid value: "nginx-stream-tcp": is immutable: a rename would delete the Service and its address; set it back to "a", or make a new class`,
		`spec.service.udpName: Invalid value: "nginx-stream-udp": is immutable: a rename would delete the Service and its address; set it back to "b", or make a new class`,
		`spec.service.loadBalancerClass: Invalid value: "": is immutable: a Service cannot change it; set it back to "c", or make a new class`,
		`spec.ingressNginx.tcpConfigMapName: Invalid value: "tcp-services": is immutable: a rename would delete the ConfigMap that nginx reads; set it back to "d", or make a new class`,
		`spec.ingressNginx.udpConfigMapName: Invalid value: "udp-services": is immutable: a rename would delete the ConfigMap that nginx reads; set it back to "e", or make a new class`,
	}, texts(ClassUpdate(base(), after, "nginx")))
	assert.Len(t, ClassUpdate(after, base(), "nginx"), 6)
	writtenOut := &crdv1.TCPIngressClassSpec{
		Namespace:    "other",
		Service:      &crdv1.ClassService{TCPName: "nginx-stream-tcp", UDPName: "nginx-stream-udp"},
		IngressNginx: &crdv1.IngressNginx{TCPConfigMapName: new("tcp-services"), UDPConfigMapName: new("udp-services")},
	}
	assert.Empty(t, ClassUpdate(after, writtenOut, "nginx"), "a default written out is no change")
}
