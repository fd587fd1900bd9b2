package e2e

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/nginx-stream/tcpingress/manifests"
	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

// PodSets, the second controller of the hooks. There are no nodes: the tests play the
// kubelet.
func TestPodSets(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	require.NoError(t, h.Grant(t.Context(), manifests.PodSet))
	s.eventually(func() error {
		if !s.may(harness.User, "update podsets.app.example.com/finalizers") {
			return errors.New("the applier may not run the controller yet")
		}
		return nil
	})
	end, err := h.Further(t.Context(), manifests.PodSet)
	require.NoError(t, err)
	t.Cleanup(end)
	for name, play := range map[string]func(*testing.T){
		"scales one by one":                  playPodSetScales,
		"replaces pods":                      playPodSetReplaces,
		"adopts a pod, and has one too many": playPodSetAdopts,
		"needs no template":                  playPodSetWithoutTemplate,
		"keeps the pods that run":            playPodSetKeepsRunning,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			play(t)
		})
	}
}

// From 0 to 50 to 3, and away.
func playPodSetScales(t *testing.T) {
	s := newScene(t).kubelet()
	since := s.now()
	s.podSet(0, "web:1").complete("a/web", 0)
	assert.Empty(t, s.podWrites(since, "create"))

	s.kubectl("scale", "podset", "-n", "$a", "web", "--replicas=50")
	s.complete("a/web", 50).pods(ordinals(50)...)
	assert.Len(t, s.podWrites(since, "create"), 50)
	assert.Empty(t, s.podWrites(since, "delete"))
	assert.LessOrEqual(t, s.mostChangesOfASync(since, "a/web"), 1)
	assert.Regexp(t, `^NAME\s+DESIRED\s+CURRENT\s+READY\s+AVAILABLE\s+AGE\nweb\s+50\s+50\s+50\s+True\s`, s.kubectl("get", "podset", "-n", "$a", "web"))
	s.rests("a/web")

	since = s.now()
	s.kubectl("scale", "podset", "-n", "$a", "web", "--current-replicas=50", "--replicas=3")
	s.complete("a/web", 3)
	assert.Empty(t, s.podWrites(since, "create"))
	assert.Len(t, s.podWrites(since, "delete"), 47)
	assert.LessOrEqual(t, s.mostChangesOfASync(since, "a/web"), 1)
	s.pods(ordinals(3)...).rests("a/web")

	s.remove("PodSet", "a/web").gone("PodSet", "a/web").pods()
}

// A pod deleted by hand, one that failed and one that succeeded are replaced, by pods
// of the template of the day.
func playPodSetReplaces(t *testing.T) {
	s := newScene(t).kubelet().podSet(3, "web:1").complete("a/web", 3)
	first := s.uids()
	since := s.now()
	s.podSet(3, "web:2").complete("a/web", 3)
	assert.Empty(t, s.podWrites(since, "create"), "a new template reaches new pods only")
	assert.Equal(t, first, s.uids())
	s.rests("a/web")

	lost := map[string]func(){
		"web-1": func() { s.kubectl("delete", "pod", "-n", "$a", "web-1", "--wait=false") },
		"web-0": func() { s.patch("Pod/status", "a/web-0", `{"status":{"phase":"Failed","reason":"Evicted"}}`) },
		"web-2": func() { s.patch("Pod/status", "a/web-2", `{"status":{"phase":"Succeeded"}}`) },
	}
	for name, lose := range lost {
		uid := s.get("Pod", "a/"+name).GetUID()
		lose()
		s.eventually(func() error {
			if slices.Contains(s.uids(), string(uid)) {
				return fmt.Errorf("%s is still there", name)
			}
			return nil
		}).complete("a/web", 3)
	}
	assert.Len(t, s.podWrites(since, "create"), 3)
	assert.LessOrEqual(t, s.mostChangesOfASync(since, "a/web"), 1)
	for _, pod := range s.list("Pod", "a") {
		containers, err := nestedSlice(pod.Object, "spec", "containers")
		require.NoError(t, err)
		assert.Equal(t, "web:2", containers[0]["image"], pod.GetName())
	}
	s.rests("a/web").remove("PodSet", "a/web").pods()
}

// A pod that the selector selects is one of ours. It is the least useful then.
func playPodSetAdopts(t *testing.T) {
	s := newScene(t).podSet(2, "web:1").pods(ordinals(2)...)
	s.runs("a/web-0").runs("a/web-1").complete("a/web", 2)
	since := s.now()
	s.apply("{apiVersion: v1, kind: Pod, metadata: {namespace: $a, name: stray, labels: {app: web}}, spec: {containers: [{name: web, image: stray}]}}").
		pods(ordinals(2)...).complete("a/web", 2)
	assert.Len(t, s.podWrites(since, "delete"), 1)
	assert.Empty(t, s.podWrites(since, "create"))
	// One that it does not select is nobody's.
	s.apply("{apiVersion: v1, kind: Pod, metadata: {namespace: $a, name: other, labels: {app: db}}, spec: {containers: [{name: db, image: db}]}}").
		rests("a/web").
		pods(append(ordinals(2), "other")...).
		// And it is not collected.
		kubelet().remove("PodSet", "a/web").pods("other")
}

func playPodSetWithoutTemplate(t *testing.T) {
	s := newScene(t).kubelet()
	s.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: $a, name: default}}").
		apply("{apiVersion: app.example.com/v1alpha1, kind: PodSet, metadata: {namespace: $a, name: idle}, spec: {selector: {matchLabels: {app: idle}}}}").
		complete("a/idle", 1).pods("idle-0").rests("a/idle").
		remove("PodSet", "a/idle").pods()
}

// Nothing ever runs, and yet the number is right.
func playPodSetKeepsRunning(t *testing.T) {
	s := newScene(t).podSet(5, "web:1").pods(ordinals(5)...).
		condition("PodSet", "a/web", "Progressing=False/Complete", "").
		condition("PodSet", "a/web", "Available=False/PodsNotReady", "Pods that are ready: 0. Pods that there shall be: 5.").
		rests("a/web").
		// The one that runs is the one that stays.
		runs("a/web-3")
	s.kubectl("scale", "podset", "-n", "$a", "web", "--replicas=1")
	s.pods("web-3").complete("a/web", 1).rests("a/web").
		kubelet().remove("PodSet", "a/web").pods()
}

// podSet applies the PodSet a/web, in a namespace that can have pods.
func (s *scene) podSet(replicas int, image string) *scene {
	s.t.Helper()
	namespace, name := s.split("a/web")
	return s.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: " + namespace + ", name: default}}").
		apply(fmt.Sprintf(`
apiVersion: app.example.com/v1alpha1
kind: PodSet
metadata: {namespace: %[1]s, name: %[2]s}
spec:
  replicas: %[3]d
  selector: {matchLabels: {app: %[2]s}}
  template:
    metadata: {labels: {app: %[2]s}, annotations: {example.com/note: of the template}}
    spec:
      containers:
      - {name: web, image: "%[4]s", ports: [{containerPort: 8080}], resources: {requests: {cpu: 0.5}}}
`, namespace, name, replicas, image))
}

// complete waits until a PodSet rests with so many pods, all of them ready.
func (s *scene) complete(key string, replicas int) *scene {
	s.t.Helper()
	return s.condition("PodSet", key, "Progressing=False/Complete", "").
		condition("PodSet", key, "Available=True/PodsReady", fmt.Sprintf("Pods that are ready: %d.", replicas)).
		status("PodSet", key, fmt.Sprint(replicas), "replicas").
		status("PodSet", key, fmt.Sprint(s.get("PodSet", key).GetGeneration()), "observedGeneration")
}

// pods waits until the first team has pods of these names, and no others.
func (s *scene) pods(want ...string) *scene {
	s.t.Helper()
	slices.Sort(want)
	return s.eventually(func() error {
		var got []string
		for _, pod := range s.list("Pod", "a") {
			got = append(got, pod.GetName())
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("pods (- want, + got):\n%s", diff)
		}
		return nil
	})
}

// ordinals gives the names of the first n pods of a/web.
func ordinals(n int) []string {
	var names []string
	for i := range n {
		names = append(names, fmt.Sprintf("web-%d", i))
	}
	return names
}

// uids are those of the pods of the first team, sorted.
func (s *scene) uids() []string {
	s.t.Helper()
	var uids []string
	for _, pod := range s.list("Pod", "a") {
		uids = append(uids, string(pod.GetUID()))
	}
	slices.Sort(uids)
	return uids
}

// rests checks that the hook is called for a PodSet, and nothing is written for it.
func (s *scene) rests(key string) *scene {
	s.t.Helper()
	since := s.now()
	s.syncs(5, "PodSet", key)
	assert.Empty(s.t, s.writes(since), "written at rest")
	return s
}

// podWrites gives when the applier created or deleted pods of the scene.
func (s *scene) podWrites(since time.Time, verbs ...string) []time.Time {
	s.t.Helper()
	var times []time.Time
	for _, w := range s.writes(since) {
		if w.Resource != "pods" || w.Subresource != "" || w.Code >= 300 {
			continue
		}
		verb := w.Verb
		if verb == "patch" { // server-side apply creates so
			verb = map[int]string{201: "create"}[w.Code]
		}
		if slices.Contains(verbs, verb) {
			times = append(times, w.Time)
		}
	}
	return times
}

// mostChangesOfASync gives how many pods were added or removed between one call of
// the hook for a PodSet and the next, at most.
func (s *scene) mostChangesOfASync(since time.Time, key string) int {
	s.t.Helper()
	namespace, name := s.split(key)
	calls := h.Door.Calls(func(c harness.Call) bool {
		return c.Path == "/podset/sync" && c.Namespace == namespace && c.Name == name
	})
	changes := s.podWrites(since, "create", "delete")
	require.NotEmpty(s.t, changes)
	slices.SortFunc(changes, time.Time.Compare)
	counts := map[int]int{}
	for _, at := range changes {
		before := 0
		for _, c := range calls {
			if c.Begin.Before(at) {
				before++
			}
		}
		counts[before]++
	}
	most := 0
	for _, n := range counts {
		most = max(most, n)
	}
	return most
}

// runs plays the kubelet for one pod: it is put on a node, and is ready.
func (s *scene) runs(key string) *scene {
	s.t.Helper()
	_, name := s.split(key)
	require.NoError(s.t, s.run(s.split(key)))
	s.eventually(func() error {
		if phase, _, _ := unstructured.NestedString(s.get("Pod", key).Object, "status", "phase"); phase != "Running" {
			return fmt.Errorf("%s is %s", name, phase)
		}
		return nil
	})
	return s
}

// kubelet runs all pods of the first team from now on, and ends those that are deleted.
func (s *scene) kubelet() *scene {
	s.t.Helper()
	watching, err := s.client("Pod", "a/").Watch(s.t.Context(), metav1.ListOptions{})
	require.NoError(s.t, err)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for event := range watching.ResultChan() {
			pod, ok := event.Object.(*unstructured.Unstructured)
			if !ok || event.Type == watch.Error || event.Type == watch.Deleted {
				continue
			}
			phase, _, _ := unstructured.NestedString(pod.Object, "status", "phase")
			switch {
			case pod.GetDeletionTimestamp() != nil:
				err = s.kill(pod)
			case phase == "Pending":
				err = s.run(pod.GetNamespace(), pod.GetName())
			}
			if err != nil && s.t.Context().Err() == nil {
				s.t.Errorf("kubelet: %v", err)
			}
		}
	}()
	s.t.Cleanup(func() {
		watching.Stop()
		<-done
	})
	return s
}

// run puts a pod on a node, unless it is there, and makes it ready. One that is gone
// meanwhile is left alone.
func (s *scene) run(namespace, name string) error {
	pods := h.Dynamic.Resource(resource("Pod")).Namespace(namespace)
	binding := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1",
		"kind":       "Binding",
		"metadata":   map[string]any{"name": name},
		"target":     map[string]any{"apiVersion": "v1", "kind": "Node", "name": "node-1"},
	}}
	if _, err := pods.Create(s.t.Context(), binding, metav1.CreateOptions{}, "binding"); err != nil {
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil
		}
		return err
	}
	_, err := pods.Patch(s.t.Context(), name, types.MergePatchType, []byte(
		`{"status":{"phase":"Running","conditions":[{"type":"Ready","status":"True"}]}}`), metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// kill ends a pod that is being deleted.
func (s *scene) kill(pod *unstructured.Unstructured) error {
	err := h.Dynamic.Resource(resource("Pod")).Namespace(pod.GetNamespace()).Delete(s.t.Context(), pod.GetName(), metav1.DeleteOptions{
		GracePeriodSeconds: new(int64(0)),
		Preconditions:      &metav1.Preconditions{UID: new(pod.GetUID())},
	})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}
