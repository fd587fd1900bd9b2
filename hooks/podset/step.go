package podset

import (
	"slices"

	podsetv1alpha1 "github.com/nginx-stream/tcpingress/crd/podset/v1alpha1"
)

// step is the one change of a sync: a pod to add, a pod to remove, or neither.
type step struct {
	// reason is the reason of the condition Progressing.
	reason string
	// add and remove are names of pods; at most one is set.
	add, remove string
}

// next decides the step towards the number of live pods. Finished pods are cleaned
// away first: were they left for later, pods that end at once would pile up.
func next(set string, pods []pod, replicas int) step {
	pods = sortByOrdinal(pods, set)
	var live []pod
	deleted := false
	for i := range pods {
		p := &pods[i]
		switch {
		case p.finished():
			return step{reason: podsetv1alpha1.ReasonCleaningUp, remove: p.Name}
		case p.live():
			live = append(live, *p)
		default:
			deleted = true
		}
	}
	switch {
	case len(live) < replicas:
		return step{reason: podsetv1alpha1.ReasonScalingUp, add: lowestFree(set, pods)}
	case len(live) > replicas:
		least := slices.MinFunc(live, func(a, b pod) int { return compareUsefulness(&a, &b, set) })
		return step{reason: podsetv1alpha1.ReasonScalingDown, remove: least.Name}
	case deleted:
		return step{reason: podsetv1alpha1.ReasonTerminating}
	default:
		return step{reason: podsetv1alpha1.ReasonComplete}
	}
}

// lowestFree gives the name with the lowest number that no observed pod has, be it
// on its way out or not.
func lowestFree(set string, pods []pod) string {
	taken := make(map[string]bool, len(pods))
	for i := range pods {
		taken[pods[i].Name] = true
	}
	ordinal := 0
	for taken[podName(set, ordinal)] {
		ordinal++
	}
	return podName(set, ordinal)
}
