package podset

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	podsetv1alpha1 "github.com/nginx-stream/tcpingress/crd/podset/v1alpha1"
)

// statusOf tells what was observed, and what is done about it. It never runs ahead:
// a pod that this sync adds is counted when it is seen.
func statusOf(set *podsetv1alpha1.PodSet, pods []pod, progressing metav1.Condition, now time.Time) podsetv1alpha1.PodSetStatus {
	status := podsetv1alpha1.PodSetStatus{ObservedGeneration: set.Generation}
	for _, p := range sortByOrdinal(pods, set.Name) {
		if !p.live() {
			continue
		}
		status.Replicas++
		status.PodNames = append(status.PodNames, p.Name)
		if p.ready() {
			status.ReadyReplicas++
		}
	}
	if selector, err := set.Spec.Selector.Selector(); err == nil {
		status.Selector = selector.String()
	}
	for _, c := range []metav1.Condition{available(set, status.ReadyReplicas), progressing} {
		c.ObservedGeneration = set.Generation
		c.LastTransitionTime = transition(set.Status.Conditions, c, now)
		status.Conditions = append(status.Conditions, c)
	}
	return status
}

func available(set *podsetv1alpha1.PodSet, ready int32) metav1.Condition {
	c := metav1.Condition{
		Type:    podsetv1alpha1.ConditionAvailable,
		Status:  metav1.ConditionTrue,
		Reason:  podsetv1alpha1.ReasonPodsReady,
		Message: fmt.Sprintf("Pods that are ready: %d. Pods that there shall be: %d.", ready, replicas(set)),
	}
	if int(ready) < replicas(set) {
		c.Status, c.Reason = metav1.ConditionFalse, podsetv1alpha1.ReasonPodsNotReady
	}
	return c
}

// stopped tells why nothing is done.
func stopped(reason, message string) metav1.Condition {
	return metav1.Condition{
		Type:    podsetv1alpha1.ConditionProgressing,
		Status:  metav1.ConditionFalse,
		Reason:  reason,
		Message: message,
	}
}

// progress tells what the step is.
func progress(set *podsetv1alpha1.PodSet, s step) metav1.Condition {
	if s.reason == podsetv1alpha1.ReasonComplete {
		return stopped(s.reason, "There are as many pods as there shall be.")
	}
	c := metav1.Condition{
		Type:   podsetv1alpha1.ConditionProgressing,
		Status: metav1.ConditionTrue,
		Reason: s.reason,
	}
	switch s.reason {
	case podsetv1alpha1.ReasonScalingUp:
		c.Message = fmt.Sprintf("Pod %s is being added. If this stays so, `kubectl describe podset %s` shows why, or another pod has that name.", s.add, set.Name)
	case podsetv1alpha1.ReasonCleaningUp:
		c.Message = fmt.Sprintf("Pod %s has ended and is being removed.", s.remove)
	case podsetv1alpha1.ReasonTerminating:
		c.Message = "The number of pods is right, and removed ones are still ending."
	default:
		c.Message = fmt.Sprintf("Pod %s is being removed.", s.remove)
	}
	return c
}

// transition gives the time since when the condition has its status.
func transition(before []metav1.Condition, c metav1.Condition, now time.Time) metav1.Time {
	for _, b := range before {
		if b.Type == c.Type && b.Status == c.Status {
			return b.LastTransitionTime
		}
	}
	return metav1.NewTime(now)
}
