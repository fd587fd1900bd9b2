package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The default class moves; what works stays where it is.
func TestDefaultClassMoves(t *testing.T) {
	t.Parallel()
	first, second := newScene(t), newScene(t)
	makeDefault := func(s *scene, value string) {
		s.patch("TCPIngressClass", s.class, `{"metadata":{"annotations":{"nginx-stream.dev/is-default-class":`+value+`}}}`)
	}
	first.nginxClass()
	makeDefault(first, `"true"`)
	first.backend("a/old", "x=1000").backend("a/new", "x=1000").
		classless("a/old", "4100 -> old:1000").
		tcpServices(data{"4100": "$a/old:1000"}).ready("a/old").
		status("TCPIngress", "a/old", first.class, "className")

	second.nginxClass()
	makeDefault(first, `null`)
	makeDefault(second, `"true"`)
	first.classless("a/new", "4200 -> new:1000").ready("a/new").
		status("TCPIngress", "a/new", second.class, "className").
		syncs(2, "TCPIngressClass", first.class)
	second.syncs(2, "TCPIngressClass", second.class).configMap("nginx/tcp-services", data{"4200": first.expand("$a/new:1000")})
	first.tcpServices(data{"4100": "$a/old:1000"}).
		status("TCPIngress", "a/old", first.class, "className")
	// Even if it is edited.
	first.classless("a/old", "4101 -> old:1000").
		tcpServices(data{"4101": "$a/old:1000"}).ready("a/old").
		status("TCPIngress", "a/old", first.class, "className")
	makeDefault(second, `null`)
	second.tcpServices(data{"4200": first.expand("$a/new:1000")})
}

func TestDeletedClassIsCollected(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass().
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").ready("a/redis").
		status("TCPIngressClass", "$class", "map[6379/TCP:$a/redis/tcp-6379]", "listeners").
		refuses("Class $class is in use: its book has 1 entry", "delete", "tcpingressclass", "$class").
		typed("kubectl annotate tcpingressclass $class nginx-stream.dev/allow-delete=true").
		remove("TCPIngressClass", "$class").
		gone("ConfigMap", "nginx/tcp-services").gone("ConfigMap", "nginx/udp-services")
	s.gone("Service", "nginx/"+s.class+"-stream-tcp").
		eventually(func() error {
			list, err := h.Dynamic.Resource(resource("TCPIngressSlice")).List(t.Context(), metav1.ListOptions{LabelSelector: "nginx-stream.dev/class=" + s.class})
			if err != nil {
				return err
			}
			if len(list.Items) > 0 {
				return fmt.Errorf("%d slices are left", len(list.Items))
			}
			return nil
		}).
		condition("TCPIngress", "a/redis", "Accepted=Unknown/Pending", "does it exist, and is it accepted?").
		// It comes again, and all is as before.
		nginxClass().
		tcpServices(data{"6379": "$a/redis:6379"}).ready("a/redis")
}

func TestDeletedNamespace(t *testing.T) {
	t.Parallel()
	s := newScene(t, "b").nginxClass().
		backend("a/redis", "redis=6379").backend("b/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").ready("a/redis").
		ingress("b/redis", "6379 -> redis:6379", "6380 -> redis:6379").
		condition("TCPIngress", "b/redis", "Accepted=False/PortConflict", "")
	// A team goes; its port is taken over.
	s.kubectl("delete", "namespace", "$a", "--wait=false")
	s.tcpServices(data{"6379": "$b/redis:6379", "6380": "$b/redis:6379"}).ready("b/redis").
		gone("Namespace", s.namespace("a"))
	// The namespace of nginx goes, and comes again.
	s.kubectl("delete", "namespace", "$nginx", "--timeout=60s")
	s.apply("{apiVersion: v1, kind: Namespace, metadata: {name: $nginx}}").
		syncs(1, "TCPIngressClass", s.class).
		tcpServices(data{"6379": "$b/redis:6379", "6380": "$b/redis:6379"}).ready("b/redis")
}

// What the API server refuses is told: shortly on the TCPIngress, with its own words
// in an event of the class.
func TestRefusedChildIsTold(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass("service: {type: ClusterIP, ipFamilyPolicy: RequireDualStack}").
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").
		condition("TCPIngress", "a/redis", "Programmed=False/Pending", "kubectl describe tcpingressclass $class").
		condition("TCPIngressClass", "$class", "Programmed=False/Pending", "kubectl describe tcpingressclass $class").
		tcpServices(data{"6379": "$a/redis:6379"})
	s.eventually(func() error {
		if text := s.kubectl("describe", "tcpingressclass", "$class"); !strings.Contains(text, "this cluster is not configured for dual-stack services") {
			return fmt.Errorf("no event with the refusal:\n%s", text)
		}
		return nil
	})
	// Corrected, it goes on.
	s.nginxClass().ports("tcp", "tcp-6379:6379").ready("a/redis")
}

func TestNamespacesThatMayUseTheClass(t *testing.T) {
	t.Parallel()
	s := newScene(t, "a").nginxClass("allowedNamespaces: {from: Selector, selector: {matchLabels: {team: a}}}").
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").
		condition("TCPIngress", "a/redis", "Accepted=False/NamespaceNotAllowed", "").
		patch("Namespace", "$a", `{"metadata":{"labels":{"team":"a"}}}`).
		tcpServices(data{"6379": "$a/redis:6379"}).ready("a/redis").
		patch("Namespace", "$a", `{"metadata":{"labels":{"team":null}}}`).
		tcpServices(data{}).
		condition("TCPIngress", "a/redis", "Accepted=False/NamespaceNotAllowed", "")
	// The Service keeps its address as long as somebody asks for a port.
	s.syncs(2, "TCPIngressClass", s.class).ports("tcp", "tcp-6379:6379").
		remove("TCPIngress", "a/redis").
		gone("Service", "nginx/"+s.class+"-stream-tcp")
}

// The namespace of the class is named while it is missing, and when it comes the
// children do so at once.
func TestNamespaceOfTheClassComesLater(t *testing.T) {
	t.Parallel()
	newScene(t).
		apply("{apiVersion: nginx-stream.dev/v1, kind: TCPIngressClass, metadata: {name: $class}, spec: {namespace: $class-later, service: {type: ClusterIP}}}").
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:6379").
		condition("TCPIngressClass", "$class", "Accepted=True/Accepted", "").
		condition("TCPIngressClass", "$class", "Programmed=False/NamespaceNotFound", "Namespace $class-later does not exist").
		condition("TCPIngress", "a/redis", "Accepted=True/Accepted", "").
		condition("TCPIngress", "a/redis", "Programmed=False/Pending", "Namespace $class-later of TCPIngressClass $class does not exist").
		typed("kubectl create namespace $class-later").
		configMap("later/tcp-services", data{"6379": "$a/redis:6379"}).ready("a/redis").
		condition("TCPIngressClass", "$class", "Programmed=True/Programmed", "")
}
