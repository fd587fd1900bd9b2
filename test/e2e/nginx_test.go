package e2e

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Classes of provider Nginx. There are no nodes: the tests play the Deployment's
// controller and the kubelet.

// quickly is a class whose periods a test can wait for.
const quickly = "nginx: {propagationSeconds: 3, switchDrainSeconds: 4}"

// available plays a Deployment controller: so many pods of the class are available.
func (s *scene) available(pods int) *scene {
	s.t.Helper()
	const key = "nginx/$class-stream"
	s.eventually(func() error {
		if s.get("Deployment", s.expand(key)) == nil {
			return errors.New("there is no Deployment")
		}
		return nil
	})
	generation := s.get("Deployment", s.expand(key)).GetGeneration()
	return s.patch("Deployment/status", s.expand(key), string(deploymentStatus(generation, int64(pods))))
}

// deploymentStatus is the status of a Deployment with so many available pods.
func deploymentStatus(generation, pods int64) []byte {
	status := "False"
	if pods > 0 {
		status = "True"
	}
	return fmt.Appendf(nil,
		`{"status":{"observedGeneration":%d,"replicas":%d,"readyReplicas":%d,"availableReplicas":%d,"conditions":[{"type":"Available","status":%q,"reason":"Test","message":"","lastTransitionTime":"2026-01-01T00:00:00Z","lastUpdateTime":"2026-01-01T00:00:00Z"}]}}`,
		generation, pods, pods, pods, status)
}

// leadsTo waits until the Service for TCP selects the pods of a provider.
func (s *scene) leadsTo(provider string) *scene {
	s.t.Helper()
	return s.eventually(func() error {
		if got := s.leads(); got != provider {
			return fmt.Errorf("the Service leads to %q, not to %s", got, provider)
		}
		return nil
	})
}

func (s *scene) leads() string {
	s.t.Helper()
	o := s.get("Service", "nginx/"+s.class+"-stream-tcp")
	if o == nil {
		return ""
	}
	selector, _, _ := unstructured.NestedStringMap(o.Object, "spec", "selector")
	switch selector["app.kubernetes.io/name"] {
	case "tcpingress-nginx":
		return "Nginx"
	case "ingress-nginx":
		return "IngressNginx"
	}
	return fmt.Sprint(selector)
}

// carried tells what is wrong if the ConfigMaps of a provider do not carry a port.
func (s *scene) carried(provider, port string) error {
	s.t.Helper()
	list, err := h.Dynamic.Resource(resource("ConfigMap")).Namespace(s.namespace("nginx")).List(s.t.Context(), metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, cm := range list.Items {
		data, _, _ := unstructured.NestedStringMap(cm.Object, "data")
		for key, value := range data {
			if provider == "IngressNginx" && cm.GetName() == "tcp-services" && key == port ||
				provider == "Nginx" && strings.Contains(value, "# "+port+"/TCP ") {
				return nil
			}
		}
	}
	return fmt.Errorf("the ConfigMaps of %s do not carry %s", provider, port)
}

func TestProviderNginx(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass("provider: Nginx", quickly, "service: {type: LoadBalancer}").backend("a/redis", "redis=6379")
	s.ingress("a/redis", "6379 -> redis:6379", "6380 -> redis:redis").
		condition("TCPIngress", "a/redis", "Programmed=False/Pending", "Deployment $nginx/$class-stream has no available pod").
		condition("TCPIngressClass", s.class, "Programmed=False/Pending", "has no available pod").
		ports("tcp", "tcp-6379:6379", "tcp-6380:6380").
		address("tcp", "192.0.2.10").
		available(1).
		condition("TCPIngress", "a/redis", "Programmed=Unknown/Propagating", "").
		condition("TCPIngressClass", s.class, "Programmed=Unknown/Propagating", "").
		ready("a/redis").
		condition("TCPIngressClass", s.class, "Programmed=True/Programmed", "").
		leadsTo("Nginx")
	require.NoError(t, s.carried("Nginx", "6379"))
	require.NoError(t, s.ruleHas("a/redis", "tcp-6380", "backendPort", int64(6379)))
	svc := s.get("Service", "nginx/"+s.class+"-stream-tcp")
	policy, _, _ := unstructured.NestedString(svc.Object, "spec", "externalTrafficPolicy")
	assert.Equal(t, "Local", policy)

	// A change of one rule is on its way, and takes no other claim back.
	since := s.settled().now()
	s.ingress("a/cache", "7000 -> redis:6379").
		condition("TCPIngress", "a/cache", "Programmed=Unknown/Propagating", "").
		ready("a/redis").ready("a/cache")
	for _, w := range s.writes(since) {
		assert.NotEqual(t, "redis", w.Name, "nothing is written of a neighbour: %v", w)
	}

	// An autoscaler has the replicas, and in steady state nothing is written.
	s.kubectl("scale", "deployment", "-n", "$nginx", "$class-stream", "--replicas=3")
	s.available(3).settled()
	since = s.now()
	s.syncs(5, "TCPIngressClass", s.class).syncs(2, "TCPIngress", "a/redis").settled()
	assert.Empty(t, s.writes(since))
	replicas, _, _ := unstructured.NestedInt64(s.get("Deployment", "nginx/"+s.class+"-stream").Object, "spec", "replicas")
	assert.EqualValues(t, 3, replicas)

	s.remove("TCPIngress", "a/redis").remove("TCPIngress", "a/cache").gone("Service", "nginx/"+s.class+"-stream-tcp")
	s.settled()
	since = s.now()
	s.syncs(3, "TCPIngressClass", s.class).settled()
	assert.Empty(t, s.writes(since), "also with no rules")
}

// All that the admin can set of the pods is as the API server keeps it: nothing is
// written twice. What was set and is left out again goes, but for the replicas.
func TestProviderNginxWithEverySetting(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.nginxClass("provider: Nginx", `nginx:
    image: registry.example.com/nginx:1
    replicas: 2
    resources: {requests: {cpu: "0.5", memory: 1024Mi}, limits: {cpu: 2000m, memory: "2147483648", ephemeral-storage: 1.5Gi}}
    nodeSelector: {disk: ssd}
    tolerations:
    - {key: edge, operator: Exists, effect: NoSchedule}
    - {key: team, value: a}
    - {operator: Exists, effect: NoExecute, tolerationSeconds: 30}
    priorityClassName: system-cluster-critical
    podAnnotations: {example.com/a: b, prometheus.io/scrape: "false"}
    ipLocalPortRange: {from: 40000, to: 49999}
    resolver: [10.96.0.10]
    clusterDomain: example.org`).
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379", "53/UDP -> redis:6379")
	s.available(2).settled()
	since := s.now()
	s.syncs(5, "TCPIngressClass", s.class).settled()
	assert.Empty(t, s.writes(since))

	// Pods of it pass the strictest Pod Security Standard.
	s.patch("Namespace", "$nginx", `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`)
	s.eventually(s.podAdmitted)

	s.nginxClass("provider: Nginx")
	s.eventually(func() error {
		o := s.get("Deployment", "nginx/"+s.class+"-stream")
		pod, _, _ := unstructured.NestedMap(o.Object, "spec", "template", "spec")
		if pod["nodeSelector"] != nil || pod["tolerations"] != nil || pod["priorityClassName"] != nil {
			return fmt.Errorf("settings stay: %v", pod)
		}
		return nil
	})
	s.settled()
	since = s.now()
	s.syncs(3, "TCPIngressClass", s.class).settled()
	assert.Empty(t, s.writes(since))
	replicas, _, _ := unstructured.NestedInt64(s.get("Deployment", "nginx/"+s.class+"-stream").Object, "spec", "replicas")
	assert.EqualValues(t, 2, replicas)
}

// podAdmitted asks the API server whether it would take a pod of the Deployment.
func (s *scene) podAdmitted() error {
	s.t.Helper()
	o := s.get("Deployment", "nginx/"+s.class+"-stream")
	template, _, err := unstructured.NestedMap(o.Object, "spec", "template")
	if err != nil {
		return err
	}
	pod := &unstructured.Unstructured{Object: template}
	pod.SetAPIVersion(corev1.SchemeGroupVersion.String())
	pod.SetKind("Pod")
	pod.SetGenerateName("probe-")
	// Nothing makes the account in a cluster without its controller.
	s.apply("{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: $nginx, name: default}}")
	_, err = h.Dynamic.Resource(resource("Pod")).Namespace(s.namespace("nginx")).
		Create(s.t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return err
}

// TestSwitchOfTheProvider goes from IngressNginx to Nginx and back on a living class.
// All the time a watcher looks whether the side to which the Service leads carries the
// port, and whether the Service is the same.
func TestSwitchOfTheProvider(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass("service: {type: LoadBalancer}", quickly).
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:redis").address("tcp", "192.0.2.10").ready("a/redis")
	uid := s.get("Service", "nginx/"+s.class+"-stream-tcp").GetUID()
	watching := s.watchPort("6379")

	s.nginxClass("provider: Nginx", "service: {type: LoadBalancer}", quickly).
		condition("TCPIngressClass", s.class, "Programmed=False/Switching", "has no available pod").
		ready("a/redis").leadsTo("IngressNginx")
	s.available(1).
		condition("TCPIngressClass", s.class, "Programmed=Unknown/Propagating", "the Services move").
		ready("a/redis")
	assert.Equal(t, "IngressNginx", s.leads())
	s.condition("TCPIngressClass", s.class, "Programmed=True/Draining", "").leadsTo("Nginx").ready("a/redis")
	require.NoError(t, s.carried("IngressNginx", "6379"))
	s.condition("TCPIngressClass", s.class, "Programmed=True/Programmed", "").
		gone("ConfigMap", "nginx/tcp-services").gone("ConfigMap", "nginx/udp-services").ready("a/redis")
	since := s.settled().now()
	s.syncs(3, "TCPIngressClass", s.class).settled()
	assert.Empty(t, s.writes(since))

	// And back, with a foreign key in the ConfigMap that the way there will leave.
	s.nginxClass("provider: IngressNginx", "service: {type: LoadBalancer}", quickly).
		condition("TCPIngressClass", s.class, "Programmed=Unknown/Propagating", "the Services move").
		condition("TCPIngressClass", s.class, "Programmed=True/Draining", "").leadsTo("IngressNginx").ready("a/redis")
	require.NoError(t, s.carried("Nginx", "6379"))
	s.condition("TCPIngressClass", s.class, "Programmed=True/Programmed", "").
		gone("Deployment", "nginx/"+s.class+"-stream").gone("PodDisruptionBudget", "nginx/"+s.class+"-stream").
		gone("ConfigMap", "nginx/"+s.class+"-stream").ready("a/redis")
	s.kubectl("patch", "configmap", "-n", "$nginx", "tcp-services", "--type=merge", "--patch", `{"data":{"9000":"old/app:80"}}`)

	s.nginxClass("provider: Nginx", "service: {type: LoadBalancer}", quickly)
	s.available(1).
		condition("TCPIngressClass", s.class, "Programmed=True/Programmed", "").leadsTo("Nginx").
		tcpServices(data{"9000": "old/app:80"}).
		condition("TCPIngressClass", s.class, "ForeignEntries=True/ForeignEntries", "9000")
	since = s.settled().now()
	s.syncs(3, "TCPIngressClass", s.class).settled()
	assert.Empty(t, s.writes(since))

	assert.Empty(t, watching())
	assert.Equal(t, uid, s.get("Service", "nginx/"+s.class+"-stream-tcp").GetUID())
}

// watchPort looks again and again, until its result is called, whether the side to
// which the Service leads carries the port.
func (s *scene) watchPort(port string) (stop func() []string) {
	done, ended := make(chan struct{}), make(chan struct{})
	var failed []string
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Millisecond):
				before := s.leads()
				if err := s.carried(before, port); err != nil && s.leads() == before {
					failed = append(failed, err.Error())
				}
			}
		}
	}()
	stop = sync.OnceValue(func() []string {
		close(done)
		<-ended
		return failed
	})
	s.t.Cleanup(func() { stop() })
	return stop
}

// A Service that others share cannot lead elsewhere: nothing is changed until it does
// not carry their ports any more.
func TestSwitchOfASharedService(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass(quickly, "ingressNginx: {selector: {app: chart}}").
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").ready("a/redis")
	key := "nginx/" + s.class + "-stream-tcp"
	s.kubectl("patch", "service", "-n", "$nginx", "$class-stream-tcp", "--type=strategic", "--patch",
		`{"spec":{"ports":[{"name":"http","port":80,"targetPort":"http"}]}}`)
	s.nginxClass("provider: Nginx", quickly, "ingressNginx: {selector: {app: chart}}").
		condition("TCPIngressClass", s.class, "Programmed=False/ServiceShared", "carries ports of others, http (80)").
		ready("a/redis").portsOf(key, "http:80", "tcp-6379:6379").
		gone("Deployment", "nginx/"+s.class+"-stream")
	since := s.settled().now()
	s.syncs(3, "TCPIngressClass", s.class).settled()
	assert.Empty(t, s.writes(since))

	s.kubectl("patch", "service", "-n", "$nginx", "$class-stream-tcp", "--type=json", "--patch",
		`[{"op":"replace","path":"/spec/ports","value":[{"name":"tcp-6379","port":6379,"targetPort":6379,"protocol":"TCP"}]}]`)
	s.available(1).leadsTo("Nginx").ready("a/redis").
		condition("TCPIngressClass", s.class, "Programmed=True/Programmed", "")
}
