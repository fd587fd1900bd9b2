package podset

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"pgregory.net/rapid"

	podsetv1alpha1 "github.com/nginx-stream/tcpingress/crd/podset/v1alpha1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

func newPodSet(replicas int32) *podsetv1alpha1.PodSet {
	set := &podsetv1alpha1.PodSet{}
	set.Namespace, set.Name, set.Generation = "shop", "web", 1
	set.Spec.Replicas = &replicas
	set.Spec.Selector.MatchLabels = map[string]podsetv1alpha1.LabelValue{"app": "web"}
	return set
}

// anyPod draws a pod as it may be observed: of any age and state, ours or adopted.
func anyPod() *rapid.Generator[pod] {
	return rapid.Custom(func(t *rapid.T) pod {
		var p pod
		p.Namespace, p.Labels = "shop", map[string]string{"app": "web"}
		p.Name = podName("web", rapid.IntRange(0, 12).Draw(t, "ordinal"))
		if rapid.IntRange(0, 5).Draw(t, "adopted") == 0 {
			p.Name = rapid.SampledFrom([]string{"other", "web", "web-", "web-01", "web-x", "web-1-2"}).Draw(t, "name")
		}
		p.CreationTimestamp = noon().Add(time.Duration(rapid.IntRange(0, 3).Draw(t, "age")) * time.Second)
		if rapid.IntRange(0, 4).Draw(t, "deleted") == 0 {
			at := noon()
			p.DeletionTimestamp = &at
		}
		p.Spec.NodeName = rapid.SampledFrom([]string{"", "node-1"}).Draw(t, "node")
		p.Status.Phase = rapid.SampledFrom([]corev1.PodPhase{
			"", corev1.PodPending, corev1.PodRunning, corev1.PodUnknown, corev1.PodSucceeded, corev1.PodFailed,
		}).Draw(t, "phase")
		if rapid.Bool().Draw(t, "ready") {
			setReady(&p)
		}
		return p
	})
}

func setReady(p *pod) {
	p.Status.Conditions = append(p.Status.Conditions, struct {
		Type   corev1.PodConditionType `json:"type"`
		Status corev1.ConditionStatus  `json:"status"`
	}{corev1.PodReady, corev1.ConditionTrue})
}

func anyPods() *rapid.Generator[[]pod] {
	return rapid.SliceOfNDistinct(anyPod(), 0, 20, func(p pod) string { return p.Name })
}

// world is what Metacontroller, the API server and the kubelet make of the answers.
type world struct {
	set  *podsetv1alpha1.PodSet
	pods []pod
	now  time.Time
}

// sync asks the hook once, does what it says, and tells how many pods changed.
func (w *world) sync(t require.TestingT) (changes int) {
	w.now = w.now.Add(time.Second)
	response := respond(w.set, w.pods, w.now)
	selector, err := w.set.Spec.Selector.Selector()
	require.NoError(t, err)
	wanted := map[string]bool{}
	for _, c := range response.Children {
		wish, ok := c.(child)
		require.True(t, ok)
		meta := wish.Metadata
		wanted[meta.Name] = true
		require.True(t, selector.Matches(labels.Set(meta.Labels)), "Metacontroller refuses the whole answer otherwise")
	}
	for i := range w.pods {
		p := &w.pods[i]
		if !wanted[p.Name] && !p.deleted() {
			at := w.now
			p.DeletionTimestamp = &at
			changes++
		}
		delete(wanted, p.Name)
	}
	for name := range wanted {
		p := pod{}
		p.Namespace, p.Name, p.Labels, p.CreationTimestamp = "shop", name, map[string]string{"app": "web"}, w.now
		w.pods = append(w.pods, p)
		changes++
	}
	status, ok := response.Status.(podsetv1alpha1.PodSetStatus)
	require.True(t, ok)
	w.set.Status = status
	return changes
}

// kubelet lets some time pass: deleted pods are gone, the others come up.
func (w *world) kubelet() {
	w.pods = slices.DeleteFunc(w.pods, func(p pod) bool { return p.deleted() })
	for i := range w.pods {
		p := &w.pods[i]
		if p.live() && !p.ready() {
			p.Spec.NodeName, p.Status.Phase = "node-1", corev1.PodRunning
			p.Status.Conditions = nil
			setReady(p)
		}
	}
}

func (w *world) live() (n int) {
	for i := range w.pods {
		if w.pods[i].live() {
			n++
		}
	}
	return n
}

// TestReachesTheNumberAndRests: from any observed pods, with a kubelet as slow as
// it likes, the number is reached with one change per sync; then nothing changes.
func TestReachesTheNumberAndRests(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		replicas := rapid.IntRange(0, 12).Draw(t, "replicas")
		w := &world{set: newPodSet(int32(replicas)), pods: anyPods().Draw(t, "pods"), now: noon()}
		finished := 0
		for i := range w.pods {
			if w.pods[i].finished() {
				finished++
			}
		}
		need := finished + max(replicas-w.live(), w.live()-replicas)
		for range need {
			if rapid.IntRange(0, 2).Draw(t, "kubelet") == 0 {
				w.kubelet()
			}
			require.Equal(t, 1, w.sync(t), "one change per sync until the number is reached")
		}
		require.Equal(t, replicas, w.live())

		w.kubelet()
		require.Zero(t, w.sync(t))
		status := w.set.Status
		require.Zero(t, w.sync(t))
		require.Equal(t, status, w.set.Status, "nothing is written in steady state")
		require.EqualValues(t, replicas, status.ReadyReplicas)
		require.Len(t, status.PodNames, replicas)
	})
}

// TestNeverMoreThanOneChange: whatever happens between two syncs.
func TestNeverMoreThanOneChange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{set: newPodSet(int32(rapid.IntRange(0, 12).Draw(t, "replicas"))), pods: anyPods().Draw(t, "pods"), now: noon()}
		for range rapid.IntRange(1, 10).Draw(t, "syncs") {
			switch rapid.IntRange(0, 3).Draw(t, "event") {
			case 0:
				w.kubelet()
			case 1:
				*w.set.Spec.Replicas = int32(rapid.IntRange(0, 12).Draw(t, "replicas"))
			case 2:
				w.pods = anyPods().Draw(t, "pods")
			}
			require.LessOrEqual(t, w.sync(t), 1)
		}
	})
}

// TestOrderNeverMatters: the same pods in any order give the same bytes.
func TestOrderNeverMatters(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pods := anyPods().Draw(t, "pods")
		set := newPodSet(int32(rapid.IntRange(0, 12).Draw(t, "replicas")))
		want := encode(t, respond(set, pods, noon()))
		shuffled := rapid.Permutation(pods).Draw(t, "shuffled")
		require.Equal(t, want, encode(t, respond(set, shuffled, noon())))
	})
}

func encode(t require.TestingT, response any) string {
	encoded, err := metacontroller.Encode(response)
	require.NoError(t, err)
	return string(encoded)
}

// TestUsefulnessIsAnOrder: exactly one of two pods is less useful, and three agree.
func TestUsefulnessIsAnOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pods := rapid.SliceOfNDistinct(anyPod(), 3, 3, func(p pod) string { return p.Name }).Draw(t, "pods")
		compare := func(i, j int) int { return compareUsefulness(&pods[i], &pods[j], "web") }
		require.Zero(t, compare(0, 0))
		require.NotZero(t, compare(0, 1))
		require.Equal(t, compare(0, 1), -compare(1, 0))
		if compare(0, 1) < 0 && compare(1, 2) < 0 {
			require.Negative(t, compare(0, 2))
		}
	})
}

func TestOrdinal(t *testing.T) {
	for name, want := range map[string]int{
		"web-0": 0, "web-10": 10, "web-999": 999,
		"web": -1, "web-": -1, "web-01": -1, "web-+1": -1, "web--1": -1, "web-x": -1, "web-1-2": -1, "other-1": -1,
		"web-99999999999999999999": -1,
	} {
		p := pod{}
		p.Name = name
		require.Equal(t, want, p.ordinal("web"), name)
	}
}

// TestTimesOfConditions: a time changes with the status of its condition only.
func TestTimesOfConditions(t *testing.T) {
	w := &world{set: newPodSet(1), now: noon()}
	times := func() string {
		var text string
		for _, c := range w.set.Status.Conditions {
			text += fmt.Sprintf("%s=%s/%s since %ds; ", c.Type, c.Status, c.Reason, int(c.LastTransitionTime.Sub(noon()).Seconds()))
		}
		return text
	}
	var got []string
	step := func() { w.sync(t); got = append(got, times()) }
	step()
	step()
	w.kubelet()
	step()
	*w.set.Spec.Replicas = 0
	step()
	step()
	w.kubelet()
	step()
	require.Equal(t, []string{
		"Available=False/PodsNotReady since 1s; Progressing=True/ScalingUp since 1s; ",
		"Available=False/PodsNotReady since 1s; Progressing=False/Complete since 2s; ",
		"Available=True/PodsReady since 3s; Progressing=False/Complete since 2s; ",
		"Available=True/PodsReady since 3s; Progressing=True/ScalingDown since 4s; ",
		"Available=True/PodsReady since 3s; Progressing=True/Terminating since 4s; ",
		"Available=True/PodsReady since 3s; Progressing=False/Complete since 6s; ",
	}, got)
}

// TestTheTemplateIsHandedOverAsItIsWritten: no default is added, nothing is lost.
func TestTheTemplateIsHandedOverAsItIsWritten(t *testing.T) {
	const spec = `{"containers":[{"name":"a","image":"b","ports":[{"containerPort":53,"protocol":"UDP"},{"containerPort":53}],"x-unknown":0.5}],"priority":9007199254740993}`
	set := newPodSet(1)
	set.Spec.Template = &podsetv1alpha1.PodTemplate{}
	set.Spec.Template.Metadata.Labels = set.Spec.Selector.MatchLabels
	set.Spec.Template.Spec.Raw = []byte(spec)
	var got struct {
		Children []struct {
			Spec json.RawMessage `json:"spec"`
		} `json:"children"`
	}
	require.NoError(t, json.Unmarshal([]byte(encode(t, respond(set, nil, noon()))), &got))
	require.Len(t, got.Children, 1)
	require.Equal(t, spec, string(got.Children[0].Spec))
}
