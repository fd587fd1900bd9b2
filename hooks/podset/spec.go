package podset

import (
	"encoding/json"
	"fmt"

	podsetv1alpha1 "github.com/nginx-stream/tcpingress/crd/podset/v1alpha1"
)

// replicas gives how many live pods there shall be.
func replicas(set *podsetv1alpha1.PodSet) int {
	if set.Spec.Replicas == nil {
		return 1
	}
	return int(*set.Spec.Replicas)
}

// check finds what the CustomResourceDefinition refuses, since a PodSet may be
// older than its rules, and a template without containers. The problem is a
// sentence; a PodSet that has one is left as it is.
func check(set *podsetv1alpha1.PodSet) (problem string) {
	const mostReplicas = 1000
	if n := replicas(set); n < 0 || n > mostReplicas {
		return fmt.Sprintf("spec.replicas is %d: write a number from 0 to %d.", n, mostReplicas)
	}
	selector, err := set.Spec.Selector.Selector()
	if err != nil {
		return fmt.Sprintf("spec.selector cannot be used, %s: make another PodSet with a selector that can.", err)
	}
	if !selector.Matches(set.Spec.PodLabels()) {
		if set.Spec.Template == nil {
			return "spec.selector does not match its own matchLabels: add a template with labels that it matches."
		}
		return fmt.Sprintf("spec.template.metadata.labels do not match spec.selector, which is %s: give the template labels that it matches.", selector)
	}
	if set.Spec.Template == nil {
		return ""
	}
	var spec struct {
		Containers []json.RawMessage `json:"containers"`
	}
	if err := json.Unmarshal(set.Spec.Template.Spec.Raw, &spec); err != nil || len(spec.Containers) == 0 {
		return "spec.template.spec has no list of containers: write at least one container with a name and an image."
	}
	return ""
}
