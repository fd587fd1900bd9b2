package podset

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	podsetv1alpha1 "github.com/nginx-stream/tcpingress/crd/podset/v1alpha1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// Hooks gives the hooks of the CompositeController for PodSets.
func Hooks() []metacontroller.Hook {
	return []metacontroller.Hook{{Path: "/podset/sync", Serve: serveSync}}
}

func serveSync(body []byte, now time.Time) (any, error) {
	var (
		set  podsetv1alpha1.PodSet
		pods []pod
	)
	_, err := metacontroller.DecodeComposite(body, &metacontroller.Sync{
		Parent:           metacontroller.TypedParent(&set),
		ParentAPIVersion: podsetv1alpha1.APIVersion,
		ParentKind:       podsetv1alpha1.Kind,
		Children:         []metacontroller.Group{metacontroller.Into(corev1.SchemeGroupVersion.String(), "Pod", &pods)},
	})
	if err != nil {
		return nil, err
	}
	return respond(&set, pods, now), nil
}

// respond decides what becomes of one PodSet.
func respond(set *podsetv1alpha1.PodSet, pods []pod, now time.Time) metacontroller.CompositeResponse {
	if set.DeletionTimestamp != nil {
		reason := stopped(podsetv1alpha1.ReasonDeleting, "The PodSet is being deleted, and its pods go with it.")
		return metacontroller.CompositeResponse{Status: statusOf(set, pods, reason, now), Children: children(set, pods, step{})}
	}
	if problem := check(set); problem != "" {
		reason := stopped(podsetv1alpha1.ReasonInvalidSpec, problem)
		return metacontroller.CompositeResponse{Status: statusOf(set, pods, reason, now), Children: children(set, pods, step{})}
	}
	s := next(set.Name, pods, replicas(set))
	return metacontroller.CompositeResponse{
		Status:   statusOf(set, pods, progress(set, s), now),
		Children: children(set, pods, s),
	}
}

// children gives the observed pods, changed by the step. Pods that are being
// deleted are left out; Metacontroller leaves them alone either way.
func children(set *podsetv1alpha1.PodSet, pods []pod, s step) []any {
	list := make([]any, 0, len(pods)+1)
	for _, p := range sortByOrdinal(pods, set.Name) {
		if !p.deleted() && p.Name != s.remove {
			list = append(list, keep(&p))
		}
	}
	if s.add != "" {
		list = append(list, create(set, s.add))
	}
	return list
}
