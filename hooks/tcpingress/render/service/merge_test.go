package service_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/service"
)

// sync plays one sync: what is rendered against the Service, merged into it. The
// result is nil where the Service would be deleted.
func sync(t testing.TB, s service.Settings, ports []int32, live map[string]any) map[string]any {
	t.Helper()
	child := service.Render(s, ports, typed(t, live))
	if child == nil {
		return nil
	}
	desired, err := simulate.JSONObject(child)
	require.NoError(t, err)
	if live == nil {
		created, err := simulate.Create(desired)
		require.NoError(t, err)
		return created
	}
	merged, err := simulate.Apply(live, desired)
	require.NoError(t, err)
	return merged
}

func typed(t testing.TB, live map[string]any) *corev1.Service {
	t.Helper()
	if live == nil {
		return nil
	}
	var svc corev1.Service
	require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(live, &svc))
	return &svc
}

func object(t *testing.T, text string) map[string]any {
	t.Helper()
	svc := observed(t, text)
	if svc == nil {
		return nil
	}
	live, err := simulate.JSONObject(svc)
	require.NoError(t, err)
	return live
}

func specOf(t *testing.T, live map[string]any) map[string]any {
	t.Helper()
	spec, ok := live["spec"].(map[string]any)
	require.True(t, ok)
	return spec
}

func portsOf(t *testing.T, live map[string]any) []map[string]any {
	t.Helper()
	list, ok := specOf(t, live)["ports"].([]any)
	require.True(t, ok)
	var ports []map[string]any
	for _, item := range list {
		port, ok := item.(map[string]any)
		require.True(t, ok)
		ports = append(ports, port)
	}
	return ports
}

// withDefaults adds what the API server adds to a Service.
func withDefaults(t *testing.T, live map[string]any) {
	t.Helper()
	spec := specOf(t, live)
	defaults := map[string]any{"sessionAffinity": "None", "clusterIP": "10.0.0.5", "internalTrafficPolicy": "Cluster"}
	if spec["type"] == "LoadBalancer" {
		defaults["allocateLoadBalancerNodePorts"], defaults["externalTrafficPolicy"] = true, "Cluster"
	}
	for field, value := range defaults {
		if _, ok := spec[field]; !ok {
			spec[field] = value
		}
	}
	for i, port := range portsOf(t, live) {
		if _, ok := port["nodePort"]; !ok {
			port["nodePort"] = int64(30000 + i)
		}
	}
}

func thousand() []int32 {
	ports := make([]int32, 1000)
	for i := range ports {
		ports[i] = int32(20000 + i)
	}
	return ports
}

func TestMergeSettles(t *testing.T) {
	tests := map[string]struct {
		settings service.Settings
		ports    []int32
		observed string
	}{
		"one listener":         {settings(nil), []int32{6379}, ""},
		"a thousand listeners": {settings(nil), thousand(), ""},
		"53/UDP, its twin being in the other Service (C04, C47)": {settings(udp), []int32{53, 5060}, ""},
		"the idle port": {settings(func(s *service.Settings) { s.IdlePort = 9 }), nil, ""},
		"every setting": {settings(func(s *service.Settings) {
			no := false
			s.Type, s.LoadBalancerClass, s.ExternalTrafficPolicy, s.IPFamilyPolicy = "LoadBalancer", "example.com/nlb", "Cluster", "SingleStack"
			s.LoadBalancerSourceRanges, s.AllocateNodePorts = []string{"10.0.0.0/8", "192.0.2.0/24"}, &no
			s.Annotations = map[string]string{"example.com/a": "b"}
		}), []int32{22}, ""},
		"an adopted Service":                 {settings(nil), []int32{6379, 8080}, chart},
		"an adopted Service without ports":   {settings(nil), nil, chart},
		"an adopted Service, type None":      {settings(func(s *service.Settings) { s.Type = service.None }), nil, chart},
		"an adopted Service, explicitly":     {settings(func(s *service.Settings) { s.Type, s.SelectorExplicit = "LoadBalancer", true }), []int32{22}, chart},
		"a Service that cannot be added to":  {settings(nil), []int32{22}, `{spec: {type: ClusterIP, ports: [{port: 80, protocol: TCP}]}}`},
		"a Service with a number twice":      {settings(nil), []int32{22}, `{spec: {type: ClusterIP, ports: [{name: a, port: 443, protocol: TCP}, {name: b, port: 443, protocol: UDP}]}}`},
		"ports of ours whose record is lost": {settings(nil), []int32{22, 23}, `{spec: {type: LoadBalancer, ports: [{name: tcp-22, port: 22, protocol: TCP, targetPort: 22}]}}`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			live := sync(t, tc.settings, tc.ports, object(t, tc.observed))
			withDefaults(t, live)
			again := sync(t, tc.settings, tc.ports, live)
			assert.Equal(t, live, again, "the second sync writes nothing")
		})
	}
}

func TestMergeOfNoListenerMakesNoService(t *testing.T) {
	assert.Nil(t, sync(t, settings(nil), nil, nil))
}

// ports gives name, number and node port of the merged ports.
func ports(t *testing.T, live map[string]any) []any {
	t.Helper()
	var list []any
	for _, port := range portsOf(t, live) {
		list = append(list, port["name"], port["port"], port["nodePort"])
	}
	return list
}

func TestMergeKeepsWhatIsNotOurs(t *testing.T) {
	live := object(t, chart)
	live = sync(t, settings(nil), []int32{8080}, live)
	withDefaults(t, live)
	portsOf(t, live)[2]["nodePort"] = int64(32808)

	for range 2 { // a pinned node port survives every sync (C38, C115)
		live = sync(t, settings(nil), []int32{8080, 9090}, live)
		withDefaults(t, live)
		assert.Equal(t, []any{"http", int64(80), int64(30080), "https", int64(443), int64(30443), "tcp-8080", int64(8080), int64(32808), "tcp-9090", int64(9090), int64(30003)}, ports(t, live))
	}
	assert.Equal(t, map[string]any{"chart": "nginx"}, specOf(t, live)["selector"])
	assert.Equal(t, "NodePort", specOf(t, live)["type"])

	live = sync(t, settings(nil), nil, live)
	assert.Equal(t, []any{"http", int64(80), int64(30080), "https", int64(443), int64(30443)}, ports(t, live))
}

func TestMergeRenamesAPortWithItsNumber(t *testing.T) {
	live := sync(t, settings(nil), []int32{6379}, nil)
	live = sync(t, settings(nil), []int32{6380}, live) // C48
	assert.Equal(t, []any{"tcp-6380", int64(6380), nil}, ports(t, live))
}

func TestMergeHealsWhatSomebodyChanged(t *testing.T) {
	live := sync(t, settings(nil), []int32{6379, 6380}, nil)
	first := portsOf(t, live)[0]
	first["name"], first["targetPort"] = "redis", int64(1)
	specOf(t, live)["type"] = "NodePort"
	healed := sync(t, settings(nil), []int32{6379, 6380}, live)
	assert.Equal(t, sync(t, settings(nil), []int32{6379, 6380}, nil), healed)
}

func TestTypeChangesWithTheClassBothWays(t *testing.T) {
	plain := settings(nil)
	explicit := settings(func(s *service.Settings) { s.Type, s.ExternalTrafficPolicy = "NodePort", "Local" })
	live := sync(t, plain, []int32{22}, nil)
	live = sync(t, explicit, []int32{22}, live)
	assert.Equal(t, "NodePort", specOf(t, live)["type"])
	live = sync(t, plain, []int32{22}, live)
	assert.Equal(t, "LoadBalancer", specOf(t, live)["type"], "left out, it would fall back to ClusterIP")
	assert.NotContains(t, live["spec"], "externalTrafficPolicy")
}
