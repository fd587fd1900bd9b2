package workload

import (
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/owned"
)

// Sessions of a pod end when their clients end them, or when this many seconds have
// passed since the pod was asked to go.
const graceSeconds = 300

// Deployment gives the Deployment that shall exist; observed is nil if there is none.
func Deployment(s *Settings, observed *appsv1.Deployment) *appsv1ac.DeploymentApplyConfiguration {
	spec := appsv1ac.DeploymentSpec().
		WithRevisionHistoryLimit(3).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(s.Selector)).
		WithStrategy(appsv1ac.DeploymentStrategy().
			WithType(appsv1.RollingUpdateDeploymentStrategyType).
			WithRollingUpdate(appsv1ac.RollingUpdateDeployment().
				WithMaxUnavailable(intstr.FromInt32(0)).
				WithMaxSurge(intstr.FromInt32(1)))).
		WithTemplate(template(s))
	spec.Replicas = replicas(s, observed)
	return appsv1ac.Deployment(s.Name, s.Namespace).WithLabels(s.Labels).WithSpec(spec)
}

// replicas is what the class says. Where it says nothing, the field is left alone; but
// if we wrote it once, to leave it out would set it back to 1.
func replicas(s *Settings, observed *appsv1.Deployment) *int32 {
	switch {
	case s.Replicas != nil:
		return s.Replicas
	case observed != nil && observed.Spec.Replicas != nil && owned.Of(&observed.ObjectMeta).Has("spec", "replicas"):
		return observed.Spec.Replicas
	default:
		return nil
	}
}

// Disruption gives the PodDisruptionBudget: one pod may go at a time. It counts from
// above, so that a single replica does not hold up the drain of its node.
func Disruption(s *Settings) *policyv1ac.PodDisruptionBudgetApplyConfiguration {
	return policyv1ac.PodDisruptionBudget(s.Name, s.Namespace).WithLabels(s.Labels).
		WithSpec(policyv1ac.PodDisruptionBudgetSpec().
			WithMaxUnavailable(intstr.FromInt32(1)).
			WithUnhealthyPodEvictionPolicy(policyv1.AlwaysAllow).
			WithSelector(metav1ac.LabelSelector().WithMatchLabels(s.Selector)))
}

func template(s *Settings) *corev1ac.PodTemplateSpecApplyConfiguration {
	labels := maps.Clone(s.Labels)
	if labels == nil {
		labels = make(map[string]string, len(s.Selector))
	}
	maps.Copy(labels, s.Selector)
	return corev1ac.PodTemplateSpec().
		WithLabels(labels).
		WithAnnotations(annotations(s)).
		WithSpec(pod(s))
}

// annotations are those of the class; it may set the ones for Prometheus otherwise.
func annotations(s *Settings) map[string]string {
	all := map[string]string{
		"kubectl.kubernetes.io/default-container": nginxContainer,
		"prometheus.io/scrape":                    "true",
		"prometheus.io/port":                      strconv.Itoa(bundle.AgentPort),
		"prometheus.io/path":                      "/metrics",
	}
	maps.Copy(all, s.PodAnnotations)
	return all
}

func pod(s *Settings) *corev1ac.PodSpecApplyConfiguration {
	spec := corev1ac.PodSpec().
		WithAutomountServiceAccountToken(false).
		WithEnableServiceLinks(false).
		// The agent signals nginx.
		WithShareProcessNamespace(true).
		WithTerminationGracePeriodSeconds(graceSeconds).
		WithSecurityContext(podSecurity(s)).
		WithTopologySpreadConstraints(spread(s, corev1.LabelHostname), spread(s, corev1.LabelTopologyZone)).
		WithInitContainers(installer(s)).
		WithContainers(nginx(s), nginxUDP(s), agent(s)).
		WithVolumes(volumes(s)...).
		WithNodeSelector(s.NodeSelector).
		WithTolerations(tolerations(s.Tolerations)...)
	if s.PriorityClassName != "" {
		spec.WithPriorityClassName(s.PriorityClassName)
	}
	return spec
}

func spread(s *Settings, key string) *corev1ac.TopologySpreadConstraintApplyConfiguration {
	return corev1ac.TopologySpreadConstraint().
		WithMaxSkew(1).
		WithTopologyKey(key).
		WithWhenUnsatisfiable(corev1.ScheduleAnyway).
		WithLabelSelector(metav1ac.LabelSelector().WithMatchLabels(s.Selector))
}

// tolerations are written without empty fields: the list is replaced as a whole, so
// that it must be as the API server keeps it.
func tolerations(list []corev1.Toleration) []*corev1ac.TolerationApplyConfiguration {
	var out []*corev1ac.TolerationApplyConfiguration
	for i := range list {
		t := &list[i]
		c := corev1ac.Toleration()
		if t.Key != "" {
			c.WithKey(t.Key)
		}
		if t.Operator != "" {
			c.WithOperator(t.Operator)
		}
		if t.Value != "" {
			c.WithValue(t.Value)
		}
		if t.Effect != "" {
			c.WithEffect(t.Effect)
		}
		c.TolerationSeconds = t.TolerationSeconds
		out = append(out, c)
	}
	return out
}
