package v1

import corev1 "k8s.io/api/core/v1"

// Nginx holds the settings of provider Nginx: the Deployment that we run.
type Nginx struct {
	// Image of stock nginx with the stream module and its ssl_preread and realip
	// modules, PCRE, and a shell, as the official ones have them; a reference of at
	// most 512 characters without blanks. Left out, the official image in the version
	// that this release was tested with.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule="self.matches('^[A-Za-z0-9][-A-Za-z0-9._/:@]*$')",message="must be an image reference such as nginx:1.29-alpine, without blanks, at most 512 characters"
	Image string `json:"image,omitempty"`
	// Replicas of nginx, 0 to 1000. Left out, the number is left alone, so that an
	// autoscaler or `kubectl scale` can have it; a new Deployment has 1.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas *int32 `json:"replicas,omitempty"`
	// Resources of each of the two containers that run nginx, one for TCP and one
	// for UDP: cpu, memory and ephemeral-storage, as requests and limits. The number
	// of worker processes follows the CPU limit. An old worker lives as long as its
	// connections, so leave memory for some.
	// Left out, modest requests and no limits.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.claims)",message="nginx uses no devices; leave claims out",fieldPath=".claims",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="!has(self.limits) || self.limits.all(k, k in ['cpu', 'memory', 'ephemeral-storage'])",message="only cpu, memory and ephemeral-storage can be set",fieldPath=".limits",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="!has(self.requests) || self.requests.all(k, k in ['cpu', 'memory', 'ephemeral-storage'])",message="only cpu, memory and ephemeral-storage can be set",fieldPath=".requests",reason=FieldValueForbidden
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`
	// NodeSelector of the pods, at most 64 labels. Left out, any node.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	NodeSelector map[string]string `json:"nodeSelector,omitempty"`
	// Tolerations of the pods, at most 32. Operators are Exists and Equal.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	// +kubebuilder:validation:XValidation:rule=`self.all(t, !has(t.operator) || t.operator in ["", 'Exists', 'Equal'])`,message="the operator of a toleration is Exists or Equal"
	// +kubebuilder:validation:XValidation:rule=`self.all(t, !has(t.effect) || t.effect in ["", 'NoSchedule', 'PreferNoSchedule', 'NoExecute'])`,message="the effect of a toleration is NoSchedule, PreferNoSchedule or NoExecute"
	// +kubebuilder:validation:XValidation:rule=`self.all(t, has(t.key) && t.key != "" || has(t.operator) && t.operator == 'Exists')`,message="a toleration without key needs operator Exists"
	// +kubebuilder:validation:XValidation:rule=`self.all(t, !(has(t.operator) && t.operator == 'Exists') || !has(t.value) || t.value == "")`,message="a toleration with operator Exists has no value"
	// +kubebuilder:validation:XValidation:rule="self.all(t, !has(t.tolerationSeconds) || has(t.effect) && t.effect == 'NoExecute')",message="tolerationSeconds needs effect NoExecute"
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`
	// PriorityClassName of the pods. It must exist, else no pod is made. Left out,
	// the cluster's default.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$')",message="must be the name of a PriorityClass: lower-case letters, digits, '-' and '.', at most 253 characters"
	PriorityClassName string `json:"priorityClassName,omitempty"`
	// PodAnnotations of the pods, at most 64 with values of at most 4,096 bytes,
	// 64 KiB in all. A change rolls the pods. Keys of the controllers, and those
	// with which Kubernetes steers pods, are refused.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('nginx-stream.dev/') && !k.startsWith('metacontroller.k8s.io/') && !k.startsWith('kubectl.kubernetes.io/'))",message="keys of nginx-stream.dev, metacontroller.k8s.io and kubectl.kubernetes.io belong to the controllers; choose others",reason=FieldValueForbidden
	// +kubebuilder:validation:XValidation:rule="self.all(k, self[k].size() <= 4096)",message="a value has at most 4096 characters"
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`
	// ClusterDomain is the DNS suffix of the cluster, without a dot at its end.
	// Left out, cluster.local. With a wrong one no backend is found.
	//
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?([.][a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?)*$')",message="must be a DNS name in lower case without a dot at its end, such as cluster.local, at most 253 characters"
	ClusterDomain string `json:"clusterDomain,omitempty"`
	// Resolver holds the addresses of the DNS servers that nginx asks, at most 8,
	// in their usual form. Left out, those in the pod's /etc/resolv.conf.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=8
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=39
	// +kubebuilder:validation:items:XValidation:rule=`isIP(self)`,message="must be an IP address such as 10.96.0.10 or fd00::a"
	// +kubebuilder:validation:items:XValidation:rule=`!isIP(self) || string(ip(self)) == self`,message="must be an IP address in its usual form: fd00::a, not FD00:0::A"
	Resolver []string `json:"resolver,omitempty"`
	// ResolverTimeout is how long nginx waits for an answer of a DNS server, more
	// than 0 and at most 1m. Left out, 2s.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}(h|m|s|ms)){1,4}$') || duration(self) > duration('0s') && duration(self) <= duration('1m')",message="must be more than 0 and at most 1m"
	ResolverTimeout Duration `json:"resolverTimeout,omitempty"`
	// TrustedProxies are the CIDRs of the load balancers whose PROXY headers are
	// believed, at most 64, in their usual form ("10.0.0.0/8"). Without them
	// allowSources and limits of a rule with proxyProtocol.accept judge the
	// address of the load balancer, since anybody could forge the header.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:items:XValidation:rule=`isCIDR(self)`,message="must be a CIDR such as 10.0.0.0/8 or 2001:db8::/32"
	// +kubebuilder:validation:items:XValidation:rule=`!isCIDR(self) || string(cidr(self).masked()) == self`,message="must be a CIDR in its usual form, with no bits set behind the prefix: 10.0.0.0/8, not 10.0.0.1/8"
	TrustedProxies []string `json:"trustedProxies,omitempty"`
	// ReservedPorts are numbers that rules may not have (PortReserved), for TCP
	// and UDP alike, in addition to those that nginx's pod needs itself and to
	// ipLocalPortRange. Left out, none.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:Minimum=1
	// +kubebuilder:validation:items:Maximum=65535
	ReservedPorts []int32 `json:"reservedPorts,omitempty"`
	// IPLocalPortRange moves the ports from which nginx connects to backends, by
	// the pod's sysctl net.ipv4.ip_local_port_range. They are reserved, since a
	// listener there can clash with a connection. It begins at 1024 or above and
	// holds at least 1,024 ports. Left out, Linux' own: 32768 to 60999.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="self.from >= 1024 && self.to - self.from >= 1023",message="must begin at 1024 or above and hold at least 1024 ports, from which connections to backends are made"
	IPLocalPortRange *PortRange `json:"ipLocalPortRange,omitempty"`
	// AllowExternalName lets rules lead to Services of type ExternalName. That
	// lets every tenant reach any host that nginx can reach, so the default is
	// false: such rules are refused (UnsupportedService).
	//
	// +optional
	AllowExternalName bool `json:"allowExternalName,omitempty"`
	// ReloadInterval is the least time between two reloads of nginx, more than 0
	// and at most 10m; changes in between are gathered. Left out, 2s.
	//
	// +optional
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([0-9]{1,5}(h|m|s|ms)){1,4}$') || duration(self) > duration('0s') && duration(self) <= duration('10m')",message="must be more than 0 and at most 10m"
	ReloadInterval Duration `json:"reloadInterval,omitempty"`
	// MaxOldWorkers is how many workers of earlier configurations may live on for
	// their connections, 1 to 256 in each pod, for TCP and UDP each. Beyond that
	// the oldest is ended, and its connections with it. Left out, 16.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	MaxOldWorkers int32 `json:"maxOldWorkers,omitempty"`
	// PropagationSeconds is how long a changed ConfigMap may take to reach the
	// pods, 0 to 3600. Until then Programmed is Unknown with the reason
	// Propagating. Left out, 90.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=3600
	PropagationSeconds *int32 `json:"propagationSeconds,omitempty"`
	// SwitchDrainSeconds is how long the old side goes on serving after provider
	// was changed and the Services lead to the new one, 0 to 86400. Left out, 300.
	//
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=86400
	SwitchDrainSeconds *int32 `json:"switchDrainSeconds,omitempty"`
}
