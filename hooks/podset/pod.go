package podset

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// pod is what the hook looks at in a pod.
type pod struct {
	metacontroller.LabeledMeta
	Spec struct {
		NodeName string `json:"nodeName"`
	} `json:"spec"`
	Status struct {
		Phase      corev1.PodPhase `json:"phase"`
		Conditions []struct {
			Type   corev1.PodConditionType `json:"type"`
			Status corev1.ConditionStatus  `json:"status"`
		} `json:"conditions"`
	} `json:"status"`
}

// deleted tells whether the pod is on its way out. It has its name until it is gone.
func (p *pod) deleted() bool { return p.DeletionTimestamp != nil }

// finished tells whether the pod has ended for good and is not being deleted yet.
func (p *pod) finished() bool {
	return !p.deleted() && (p.Status.Phase == corev1.PodSucceeded || p.Status.Phase == corev1.PodFailed)
}

// live tells whether the pod counts.
func (p *pod) live() bool { return !p.deleted() && !p.finished() }

func (p *pod) ready() bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// ordinal gives the number in the pod's name, -1 for a name that the PodSet did
// not give: an adopted pod may be called anything.
func (p *pod) ordinal(set string) int {
	text, found := strings.CutPrefix(p.Name, set+"-")
	if !found {
		return -1
	}
	number, err := strconv.Atoi(text)
	if err != nil || number < 0 || strconv.Itoa(number) != text {
		return -1
	}
	return number
}

// sortByOrdinal gives the pods in the order of their numbers, adopted ones first.
func sortByOrdinal(pods []pod, set string) []pod {
	sorted := slices.Clone(pods)
	slices.SortFunc(sorted, func(a, b pod) int {
		return cmp.Or(cmp.Compare(a.ordinal(set), b.ordinal(set)), cmp.Compare(a.Name, b.Name))
	})
	return sorted
}

// podName gives the name of a pod of the PodSet.
func podName(set string, ordinal int) string { return set + "-" + strconv.Itoa(ordinal) }
