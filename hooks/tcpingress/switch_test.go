package tcpingress

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"pgregory.net/rapid"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// TestSwitchStepByStep goes to Nginx and back, and looks at each step.
func TestSwitchStepByStep(t *testing.T) {
	t.Parallel()
	w, err := newSwitchWorld()
	require.NoError(t, err)
	step := func(after time.Duration, want string) {
		t.Helper()
		require.NoError(t, w.pass(after))
		assert.Equal(t, want, w.programmed())
		assert.Empty(t, w.broken)
	}
	require.NoError(t, w.provider("IngressNginx"))
	require.NoError(t, w.rule(5000))
	require.NoError(t, w.rule(5001))
	step(0, "True/Programmed")
	w.ports = map[int]time.Time{5000: w.Now(), 5001: w.Now()}

	require.NoError(t, w.provider("Nginx"))
	step(time.Second, "False/Switching")
	step(time.Hour, "False/Switching")
	w.ready = true
	step(time.Second, "Unknown/Propagating")
	step(testPropagation-time.Second, "Unknown/Propagating")
	step(time.Second, "True/Draining")
	assert.Equal(t, "Nginx", w.led)
	step(testDrain-time.Second, "True/Draining")
	assert.True(t, w.carries("IngressNginx", 5000))
	step(time.Second, "True/Programmed")
	assert.Nil(t, w.Get("v1", "ConfigMap", "edge", "tcp-services"))

	require.NoError(t, w.provider("IngressNginx"))
	step(time.Second, "Unknown/Propagating")
	assert.Equal(t, "Nginx", w.led)
	step(testPropagation, "True/Draining")
	assert.Equal(t, "IngressNginx", w.led)
	step(testDrain, "True/Programmed")
	assert.Nil(t, w.Get("apps/v1", "Deployment", "edge", "c-stream"))
	assert.Nil(t, w.Get("policy/v1", "PodDisruptionBudget", "edge", "c-stream"))
	assert.Nil(t, w.Get("v1", "ConfigMap", "edge", "c-stream"))
	assert.Nil(t, w.Get("v1", "ConfigMap", "edge", "c-stream-00"))
}

// served is a class of IngressNginx with one port in use.
func served(t *testing.T, spec string) *switchWorld {
	t.Helper()
	w, err := newSwitchWorld()
	require.NoError(t, err)
	w.spec, w.ready = spec, true
	require.NoError(t, w.provider("IngressNginx"))
	require.NoError(t, w.rule(5000))
	require.NoError(t, w.pass(0))
	require.Equal(t, "True/Programmed", w.programmed())
	w.ports = map[int]time.Time{5000: w.Now()}
	return w
}

// Nobody else knows where the clients go, so the old side stays for both periods.
func TestSwitchWithoutServices(t *testing.T) {
	t.Parallel()
	w := served(t, ", service: {type: None}")
	require.NoError(t, w.provider("Nginx"))
	require.NoError(t, w.pass(0))
	assert.Equal(t, "Unknown/Propagating", w.programmed())
	assert.Equal(t, "True/Programmed", w.ingress("i5000", "Programmed"))
	require.NoError(t, w.pass(testPropagation))
	assert.Equal(t, "True/Draining", w.programmed())
	assert.Equal(t, "True/Programmed", w.ingress("i5000", "Programmed"))
	assert.True(t, w.carries("IngressNginx", 5000))
	require.NoError(t, w.pass(testDrain))
	assert.Equal(t, "True/Programmed", w.programmed())
	assert.False(t, w.carries("IngressNginx", 5000))
	assert.True(t, w.carries("Nginx", 5000))
}

// The first UDP rule comes in the middle: its Service leads where the other one does.
func TestServiceThatIsMadeDuringASwitch(t *testing.T) {
	t.Parallel()
	w := served(t, "")
	require.NoError(t, w.provider("Nginx"))
	require.NoError(t, w.pass(time.Second))
	require.NoError(t, w.put("{apiVersion: nginx-stream.dev/v1, kind: TCPIngress, metadata: {namespace: data, name: dns}, spec: {ingressClassName: c, rules: [{port: 53, protocol: UDP, backend: {service: {name: db, port: {number: 3306}}}}]}}"))
	require.NoError(t, w.pass(testPropagation-time.Second))
	assert.Equal(t, "ingress-nginx", w.selector("c-stream-udp"))
	assert.Equal(t, "ingress-nginx", w.selector("c-stream-tcp"), "a port that came later has its time too")
	require.NoError(t, w.pass(testPropagation))
	assert.Equal(t, "tcpingress-nginx", w.selector("c-stream-udp"))
	assert.Equal(t, "tcpingress-nginx", w.selector("c-stream-tcp"))
	assert.Empty(t, w.broken)
}

// What only the new side can do waits for the Services; what it cannot do is refused
// at once.
func TestRulesThatOneSideCannotDo(t *testing.T) {
	t.Parallel()
	w := served(t, "")
	require.NoError(t, w.provider("Nginx"))
	require.NoError(t, w.put("{apiVersion: nginx-stream.dev/v1, kind: TCPIngress, metadata: {namespace: data, name: tls}, spec: {ingressClassName: c, rules: [{name: a, port: 8443, hosts: [a.example.com], backend: {service: {name: db, port: {number: 3306}}}}]}}"))
	require.NoError(t, w.put("{apiVersion: nginx-stream.dev/v1, kind: TCPIngress, metadata: {namespace: data, name: high}, spec: {ingressClassName: c, rules: [{port: 40000, backend: {service: {name: db, port: {number: 3306}}}}]}}"))
	require.NoError(t, w.pass(0))
	assert.Equal(t, "True/Accepted", w.ingress("tls", "Accepted"))
	assert.Equal(t, "False/Pending", w.ingress("tls", "Programmed"))
	assert.Equal(t, "False/PortReserved", w.ingress("high", "Accepted"))
	require.NoError(t, w.pass(testPropagation))
	require.NoError(t, w.pass(testPropagation))
	assert.Equal(t, "True/Programmed", w.ingress("tls", "Programmed"))
	assert.Empty(t, w.broken)
}

// A switch that is taken back in the middle needs no time: the old side is whole.
func TestSwitchThatIsTakenBack(t *testing.T) {
	t.Parallel()
	w := served(t, "")
	require.NoError(t, w.provider("Nginx"))
	require.NoError(t, w.pass(0))
	require.NoError(t, w.pass(testPropagation))
	require.Equal(t, "Nginx", w.led)
	require.NoError(t, w.provider("IngressNginx"))
	require.NoError(t, w.pass(testPropagation))
	require.NoError(t, w.pass(testPropagation))
	assert.Equal(t, "IngressNginx", w.led)
	require.NoError(t, w.provider("Nginx"))
	require.NoError(t, w.pass(testDrain))
	require.NoError(t, w.pass(testDrain))
	require.NoError(t, w.pass(testDrain))
	assert.Equal(t, "Nginx", w.led)
	assert.Equal(t, "True/Programmed", w.programmed())
	assert.Empty(t, w.broken)
}

// HTTP on 80 would go to the wrong pods: nothing is changed while it is there, nor
// while labels of the selector are somebody else's.
func TestSwitchOfASharedServiceIsRefused(t *testing.T) {
	t.Parallel()
	w := served(t, "")
	svc := w.Get("v1", "Service", "edge", "c-stream-tcp")
	share := func(o *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedSlice(o.Object, append(nestedPorts(o), map[string]any{"name": "http", "port": int64(80), "targetPort": "http"}), "spec", "ports"))
	}
	relabel := func(o *unstructured.Unstructured) {
		require.NoError(t, unstructured.SetNestedField(o.Object, "b", "spec", "selector", "a"))
	}
	for name, change := range map[string]func(*unstructured.Unstructured){"a port": share, "a label of the selector": relabel} {
		changed := svc.DeepCopy()
		change(changed)
		require.NoError(t, w.Put(changed), name)
		require.NoError(t, w.provider("Nginx"))
		require.NoError(t, w.pass(testDrain))
		assert.Equal(t, "False/ServiceShared", w.programmed(), name)
		assert.Equal(t, "True/Programmed", w.ingress("i5000", "Programmed"), name)
		assert.Nil(t, w.Get("apps/v1", "Deployment", "edge", "c-stream"), name)
		assert.True(t, w.carries("IngressNginx", 5000), name)
		require.NoError(t, w.provider("IngressNginx"))
		require.NoError(t, w.Put(svc))
		require.NoError(t, w.pass(0))
		assert.Equal(t, "True/Programmed", w.programmed(), name)
	}
	assert.Empty(t, w.broken)
}

func nestedPorts(o *unstructured.Unstructured) []any {
	ports, _, _ := unstructured.NestedSlice(o.Object, "spec", "ports")
	return ports
}

// A neighbour's change takes no claim back, and a lost slice only makes it later.
func TestPropagationIsCountedForEachRule(t *testing.T) {
	t.Parallel()
	w, err := newSwitchWorld()
	require.NoError(t, err)
	w.ready = true
	require.NoError(t, w.provider("Nginx"))
	require.NoError(t, w.rule(5000))
	require.NoError(t, w.pass(0))
	assert.Equal(t, "Unknown/Propagating", w.ingress("i5000", "Programmed"))
	require.NoError(t, w.pass(testPropagation-time.Second))
	assert.Equal(t, "Unknown/Propagating", w.ingress("i5000", "Programmed"))
	require.NoError(t, w.rule(5001))
	require.NoError(t, w.pass(time.Second))
	assert.Equal(t, "True/Programmed", w.ingress("i5000", "Programmed"))
	assert.Equal(t, "Unknown/Propagating", w.ingress("i5001", "Programmed"))
	require.NoError(t, w.put("{apiVersion: nginx-stream.dev/v1, kind: TCPIngress, metadata: {namespace: data, name: i5000}, spec: {ingressClassName: c, rules: [{port: 5000, timeouts: {idle: 1h}, backend: {service: {name: db, port: {number: 3306}}}}]}}"))
	require.NoError(t, w.pass(testPropagation))
	assert.Equal(t, "Unknown/Propagating", w.ingress("i5000", "Programmed"), "an edited rule is a new one")
	assert.Equal(t, "True/Programmed", w.ingress("i5001", "Programmed"))
	require.NoError(t, w.pass(testPropagation))
	w.Delete(crdv1.APIVersion, crdv1.KindTCPIngressSlice, "", sliceName("c", page("data/i5000")))
	require.NoError(t, w.pass(0))
	assert.Equal(t, "Unknown/Propagating", w.ingress("i5000", "Programmed"))
	require.NoError(t, w.pass(testPropagation))
	assert.Equal(t, "True/Programmed", w.ingress("i5000", "Programmed"))
}

// TestSwitchNeverPointsToNothing changes the provider, the rules and the readiness of
// the pods at random times. At no call of a hook may a port that was served be served
// no more: neither by the side to which the Service leads, nor, for the time of
// draining, by the one to which it led.
func TestSwitchNeverPointsToNothing(t *testing.T) {
	t.Parallel()
	steps := 8
	if testing.Short() {
		steps = 2 // with the race detector
	}
	rapid.Check(t, func(t *rapid.T) {
		w, err := newSwitchWorld()
		require.NoError(t, err)
		w.ready = true
		require.NoError(t, w.provider(rapid.SampledFrom([]string{"IngressNginx", "Nginx"}).Draw(t, "first")))
		require.NoError(t, w.rule(5000))
		require.NoError(t, w.pass(0))
		require.NoError(t, w.pass(testPropagation))
		w.ports[5000] = w.Now()
		for range rapid.IntRange(1, steps).Draw(t, "steps") {
			switch rapid.IntRange(0, 5).Draw(t, "what") {
			case 0, 1:
				require.NoError(t, w.provider(rapid.SampledFrom([]string{"IngressNginx", "Nginx"}).Draw(t, "provider")))
			case 2:
				port := 5001 + rapid.IntRange(0, 3).Draw(t, "port")
				require.NoError(t, w.rule(port))
				require.NoError(t, w.pass(0))
				if _, ok := w.ports[port]; !ok {
					w.ports[port] = w.Now().Add(2 * testPropagation)
				}
			case 3:
				w.drop(5001 + rapid.IntRange(0, 3).Draw(t, "port"))
			case 4:
				w.ready = rapid.Bool().Draw(t, "ready")
				require.NoError(t, w.kubelet())
			}
			require.NoError(t, w.pass(time.Duration(rapid.SampledFrom([]int{0, 1, 30, 89, 90, 91, 150, 299, 300, 400}).Draw(t, "seconds"))*time.Second))
			require.Empty(t, w.broken)
		}
		// It always comes to an end.
		w.ready = true
		for range 3 {
			require.NoError(t, w.pass(testDrain))
		}
		assert.Equal(t, "True/Programmed", w.programmed())
	})
}
