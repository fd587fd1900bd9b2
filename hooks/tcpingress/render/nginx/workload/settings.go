// Package workload makes the Deployment and the PodDisruptionBudget of provider
// Nginx: stock nginx, and the agent beside it. Settings and the observed Deployment
// enter; what shall be applied leaves. It knows nothing of listeners, and nothing
// may leave that Metacontroller would write again on every sync: quantities are
// canonical, and lists that its merge replaces as a whole are as the API server
// keeps them.
package workload

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
)

// Settings say what the pods shall be like.
type Settings struct {
	Namespace, Name string
	// Labels of all objects.
	Labels map[string]string
	// Selector finds the pods. A Deployment cannot change it.
	Selector map[string]string
	// Image of stock nginx, in which the agent runs too.
	Image string
	// AgentImage brings the agent's binary.
	AgentImage string
	// Replicas; nil leaves the number to an autoscaler.
	Replicas *int32
	// Resources of each of the two containers of nginx; nil means modest requests.
	Resources *corev1.ResourceRequirements
	// NodeSelector, Tolerations, PriorityClassName and PodAnnotations go into the pods
	// as they are.
	NodeSelector      map[string]string
	Tolerations       []corev1.Toleration
	PriorityClassName string
	PodAnnotations    map[string]string
	// EphemeralFrom and EphemeralTo move the ports of outgoing connections; 0 leaves
	// them where Linux has them.
	EphemeralFrom, EphemeralTo int32
}

// Shards is the number of ConfigMaps with servers, beside the one with the index.
const Shards = 16

// ConfigMaps lists the names of the ConfigMaps that the pods mount.
func ConfigMaps(name string) []string {
	names := make([]string, 0, Shards+1)
	names = append(names, name)
	for i := range Shards {
		names = append(names, fmt.Sprintf("%s-%02d", name, i))
	}
	return names
}

// maxWorkers bounds the worker processes: each costs memory for its connections, and
// again as long as an old one lives.
const maxWorkers = 64

// defaultWorkers is the number where there is no CPU limit. nginx's own "auto" would
// count the CPUs of the node.
const defaultWorkers = 2

// Workers gives the number of nginx's worker processes: the CPU limit, rounded up.
func Workers(r *corev1.ResourceRequirements) int {
	if r == nil {
		return defaultWorkers
	}
	limit, ok := r.Limits[corev1.ResourceCPU]
	if !ok || limit.IsZero() {
		return defaultWorkers
	}
	const milli = 1000
	cores := (limit.MilliValue() + milli - 1) / milli
	return int(min(cores, maxWorkers))
}
