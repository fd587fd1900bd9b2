package workload

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/yaml"
)

func settings() *Settings {
	return &Settings{
		Namespace: "edge", Name: "c-stream",
		Labels:   map[string]string{"class": "c"},
		Selector: map[string]string{"app": "nginx", "class": "c"},
		Image:    "nginx:1", AgentImage: "agent:1",
	}
}

// decoded gives the Deployment as the API server reads it; a field that it does not
// know fails.
func decoded(t *testing.T, s *Settings, observed *appsv1.Deployment) *appsv1.Deployment {
	t.Helper()
	data, err := json.Marshal(Deployment(s, observed))
	require.NoError(t, err)
	assert.False(t, strings.Contains(string(data), ":null"), "a field is null")
	assert.False(t, strings.Contains(string(data), `"ports"`), "Metacontroller would merge a list by containerPort")
	var d appsv1.Deployment
	require.NoError(t, yaml.UnmarshalStrict(data, &d))
	return &d
}

// The parts of the Pod Security Standard "restricted" that matter here; a test with
// the API server judges the whole.
func TestPodsAreRestricted(t *testing.T) {
	t.Parallel()
	pod := decoded(t, settings(), nil).Spec.Template.Spec
	assert.True(t, *pod.SecurityContext.RunAsNonRoot)
	assert.EqualValues(t, 101, *pod.SecurityContext.RunAsUser)
	assert.EqualValues(t, 101, *pod.SecurityContext.RunAsGroup)
	assert.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, pod.SecurityContext.SeccompProfile.Type)
	assert.Equal(t, []corev1.Sysctl{{Name: "net.ipv4.ip_unprivileged_port_start", Value: "0"}}, pod.SecurityContext.Sysctls)
	assert.True(t, *pod.ShareProcessNamespace)
	assert.False(t, *pod.AutomountServiceAccountToken)
	for _, c := range append(pod.InitContainers, pod.Containers...) {
		assert.False(t, *c.SecurityContext.AllowPrivilegeEscalation, c.Name)
		assert.True(t, *c.SecurityContext.ReadOnlyRootFilesystem, c.Name)
		assert.Equal(t, []corev1.Capability{"ALL"}, c.SecurityContext.Capabilities.Drop, c.Name)
		assert.Nil(t, c.SecurityContext.RunAsUser, "all have the uid of the pod, else a signal is refused")
	}
}

func TestNginxAndTheAgentRunInOneImage(t *testing.T) {
	t.Parallel()
	pod := decoded(t, settings(), nil).Spec.Template.Spec
	require.Len(t, pod.InitContainers, 1)
	require.Len(t, pod.Containers, 3)
	assert.Equal(t, "agent:1", pod.InitContainers[0].Image)
	assert.Equal(t, []string{"install", "/opt/tcpingress"}, pod.InitContainers[0].Args)
	for _, c := range pod.Containers {
		assert.Equal(t, "nginx:1", c.Image, c.Name)
	}
	assert.Equal(t, []string{"/opt/tcpingress/tcpingress", "nginx-udp"}, pod.Containers[1].Command)
	assert.Equal(t, []string{"/opt/tcpingress/tcpingress", "agent"}, pod.Containers[2].Command)
	script := pod.Containers[0].Command[2]
	assert.Less(t, strings.Index(script, "rm -f ./*.sock"), strings.Index(script, "exec nginx"))
}

// Every shard is mounted before it exists, so that no pod has to be made anew for it.
func TestEveryConfigMapIsMounted(t *testing.T) {
	t.Parallel()
	var names []string
	for _, v := range decoded(t, settings(), nil).Spec.Template.Spec.Volumes {
		if v.Projected == nil {
			continue
		}
		for _, source := range v.Projected.Sources {
			assert.True(t, *source.ConfigMap.Optional)
			names = append(names, source.ConfigMap.Name)
		}
	}
	assert.Equal(t, ConfigMaps("c-stream"), names)
	assert.Len(t, names, 17)
	assert.Equal(t, "c-stream", names[0])
	assert.Equal(t, "c-stream-00", names[1])
	assert.Equal(t, "c-stream-15", names[16])
}

func TestReplicas(t *testing.T) {
	t.Parallel()
	const ours = `{"spec":{"replicas":2}}`
	observed := func(replicas int32, lastApplied string) *appsv1.Deployment {
		d := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: &replicas}}
		d.Annotations = map[string]string{"metacontroller.k8s.io/last-applied-configuration": lastApplied}
		return d
	}
	for name, tc := range map[string]struct {
		want     *int32
		observed *appsv1.Deployment
		replicas *int32
	}{
		"said by the class":                        {want: new(int32(3)), observed: observed(5, ours), replicas: new(int32(3))},
		"never said":                               {},
		"never said, and observed":                 {observed: observed(5, `{"spec":{}}`)},
		"said once, so that leaving it out is 1":   {observed: observed(5, ours), replicas: new(int32(5))},
		"said to be none, and an autoscaler rests": {want: new(int32(0)), observed: observed(5, ours), replicas: new(int32(0))},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := settings()
			s.Replicas = tc.want
			assert.Equal(t, tc.replicas, decoded(t, s, tc.observed).Spec.Replicas)
		})
	}
}

func TestWorkersFollowTheCPULimit(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 2, Workers(nil))
	for limit, want := range map[string]int{"": 2, "0": 2, "100m": 1, "1": 1, "1001m": 2, "2500m": 3, "1k": 64} {
		r := &corev1.ResourceRequirements{}
		if limit != "" {
			r.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(limit)}
		}
		assert.Equal(t, want, Workers(r), "of %q", limit)
	}
}

// The merge of Metacontroller replaces the list, so it must be written as it is kept.
func TestTolerationsHaveNoEmptyFields(t *testing.T) {
	t.Parallel()
	s := settings()
	s.Tolerations = []corev1.Toleration{{Key: "a", Value: "b"}, {Operator: corev1.TolerationOpExists}}
	data, err := json.Marshal(Deployment(s, nil).Spec.Template.Spec.Tolerations)
	require.NoError(t, err)
	assert.JSONEq(t, `[{"key":"a","value":"b"},{"operator":"Exists"}]`, string(data))
}

func TestMovedPortsOfOutgoingConnections(t *testing.T) {
	t.Parallel()
	s := settings()
	s.EphemeralFrom, s.EphemeralTo = 40000, 49999
	assert.Contains(t, decoded(t, s, nil).Spec.Template.Spec.SecurityContext.Sysctls,
		corev1.Sysctl{Name: "net.ipv4.ip_local_port_range", Value: "40000 49999"})
}

func TestAvailability(t *testing.T) {
	t.Parallel()
	at := func(pods int32, condition corev1.ConditionStatus, observed int64) *appsv1.Deployment {
		d := &appsv1.Deployment{}
		d.Generation = 2
		d.Status.ObservedGeneration, d.Status.AvailableReplicas = observed, pods
		d.Status.Conditions = []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: condition}}
		return d
	}
	none := at(1, corev1.ConditionTrue, 2)
	none.Spec.Replicas = new(int32(0))
	for name, tc := range map[string]struct {
		deployment           *appsv1.Deployment
		available, rolledOut string
	}{
		"there is none":         {nil, "no Deployment edge/c-stream", "no Deployment edge/c-stream"},
		"available":             {at(1, corev1.ConditionTrue, 2), "", ""},
		"written a moment ago":  {at(1, corev1.ConditionTrue, 1), "", "being rolled out"},
		"no pod":                {at(0, corev1.ConditionTrue, 2), "-l app=nginx,class=c", "-l app=nginx,class=c"},
		"not enough pods":       {at(1, corev1.ConditionFalse, 2), "no available pod", "no available pod"},
		"scaled to none":        {none, "0 replicas", "0 replicas"},
		"no status of any kind": {&appsv1.Deployment{}, "no available pod", "no available pod"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ok, why := Available(settings(), tc.deployment)
			assert.Equal(t, tc.available == "", ok)
			assert.Contains(t, why, tc.available)
			ok, why = RolledOut(settings(), tc.deployment)
			assert.Equal(t, tc.rolledOut == "", ok)
			assert.Contains(t, why, tc.rolledOut)
		})
	}
}

func TestOnePodMayGoAtATime(t *testing.T) {
	t.Parallel()
	data, err := yaml.Marshal(Disruption(settings()))
	require.NoError(t, err)
	assert.YAMLEq(t, `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: c-stream, namespace: edge, labels: {class: c}}
spec:
  maxUnavailable: 1
  unhealthyPodEvictionPolicy: AlwaysAllow
  selector: {matchLabels: {app: nginx, class: c}}
`, string(data))
}
