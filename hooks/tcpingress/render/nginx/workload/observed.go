package workload

import (
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Available tells whether a pod of the observed Deployment serves, and if not, why;
// observed is nil if there is none.
func Available(s *Settings, observed *appsv1.Deployment) (ok bool, why string) {
	switch {
	case observed == nil || observed.DeletionTimestamp != nil:
		return false, fmt.Sprintf("There is no Deployment %s/%s yet.", s.Namespace, s.Name)
	case observed.Spec.Replicas != nil && *observed.Spec.Replicas == 0:
		return false, fmt.Sprintf("Deployment %s/%s has 0 replicas; raise nginx.replicas of the class, or scale it.", s.Namespace, s.Name)
	case observed.Status.AvailableReplicas < 1 || !hasCondition(observed, appsv1.DeploymentAvailable):
		return false, fmt.Sprintf("Deployment %s/%s has no available pod; look at its pods: kubectl describe pods -n %s -l %s",
			s.Namespace, s.Name, s.Namespace, labels.Set(s.Selector))
	}
	return true, ""
}

// RolledOut tells whether the Deployment is available as it was last written.
func RolledOut(s *Settings, observed *appsv1.Deployment) (ok bool, why string) {
	if ok, why := Available(s, observed); !ok {
		return false, why
	}
	if observed.Status.ObservedGeneration < observed.Generation {
		return false, fmt.Sprintf("Deployment %s/%s is being rolled out.", s.Namespace, s.Name)
	}
	return true, ""
}

func hasCondition(d *appsv1.Deployment, kind appsv1.DeploymentConditionType) bool {
	for i := range d.Status.Conditions {
		if c := &d.Status.Conditions[i]; c.Type == kind {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
