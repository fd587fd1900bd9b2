package e2e

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/stretchr/testify/require"
)

// Short forms of the objects that most tests need.

// nginxClass makes the class of the scene. Its Services are of type ClusterIP, so
// that nothing waits for an address. Extra lines go below spec.
func (s *scene) nginxClass(spec ...string) *scene {
	s.t.Helper()
	text := "apiVersion: nginx-stream.dev/v1\nkind: TCPIngressClass\nmetadata: {name: $class}\nspec:\n  namespace: $nginx\n"
	service := "  service: {type: ClusterIP}\n"
	for _, line := range spec {
		if strings.HasPrefix(line, "service:") {
			service = ""
		}
		text += "  " + line + "\n"
	}
	return s.apply(text + service)
}

// ingress applies a TCPIngress of the scene's class. A rule reads
// "[name:] port[-end][/UDP] -> service[:port]", where the port may be "pool".
func (s *scene) ingress(key string, rules ...string) *scene {
	s.t.Helper()
	require.NoError(s.t, s.tryApply(s.ingressYAML(key, "  ingressClassName: $class\n", rules)))
	return s
}

// classless applies a TCPIngress that names no class.
func (s *scene) classless(key string, rules ...string) *scene {
	s.t.Helper()
	return s.apply(s.ingressYAML(key, "", rules))
}

func (s *scene) ingressYAML(key, class string, rules []string) string {
	namespace, name := s.split(key)
	text := fmt.Sprintf("apiVersion: nginx-stream.dev/v1\nkind: TCPIngress\nmetadata: {namespace: %s, name: %s}\nspec:\n%s  rules:\n", namespace, name, class)
	for _, rule := range rules {
		text += "  - " + ruleYAML(rule) + "\n"
	}
	return text
}

func ruleYAML(rule string) string {
	m := regexp.MustCompile(`^(?:([a-z0-9-]+): )?(pool|\d+)(?:-(\d+))?(?:/(UDP|TCP))? -> ([a-z0-9-]+)(?::([a-z0-9-]+))?$`).FindStringSubmatch(rule)
	if m == nil {
		panic("not a rule: " + rule)
	}
	var fields []string
	add := func(format, value string) {
		if value != "" {
			fields = append(fields, fmt.Sprintf(format, value))
		}
	}
	add("name: %s", m[1])
	if m[2] != "pool" {
		add("port: %s", m[2])
	}
	add("endPort: %s", m[3])
	add("protocol: %s", m[4])
	backend := "name: " + m[5]
	if _, err := strconv.Atoi(m[6]); err == nil {
		backend += ", port: {number: " + m[6] + "}"
	} else if m[6] != "" {
		backend += ", port: {name: " + m[6] + "}"
	}
	fields = append(fields, "backend: {service: {"+backend+"}}")
	return "{" + strings.Join(fields, ", ") + "}"
}

// backend applies a Service with ports like "redis=6379" or "dns=53/UDP", and one
// ready endpoint.
func (s *scene) backend(key string, ports ...string) *scene {
	s.t.Helper()
	return s.service(key, ports...).endpoint(key, true)
}

// service applies a Service without endpoints.
func (s *scene) service(key string, ports ...string) *scene {
	s.t.Helper()
	return s.apply(s.serviceYAML(key, "", ports))
}

// annotated applies a Service with an annotation nginx-stream.dev/expose.
func (s *scene) annotated(key, expose string, ports ...string) *scene {
	s.t.Helper()
	annotations := fmt.Sprintf("  annotations: {nginx-stream.dev/expose: %q, nginx-stream.dev/ingress-class: $class}\n", expose)
	return s.apply(s.serviceYAML(key, annotations, ports))
}

func (s *scene) serviceYAML(key, annotations string, ports []string) string {
	namespace, name := s.split(key)
	text := fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata:\n  namespace: %s\n  name: %s\n%sspec:\n  selector: {app: %s}\n  ports:\n",
		namespace, name, annotations, name)
	for _, port := range ports {
		name, number, _ := strings.Cut(port, "=")
		number, protocol, found := strings.Cut(number, "/")
		if !found {
			protocol = "TCP"
		}
		text += fmt.Sprintf("  - {name: %s, port: %s, protocol: %s}\n", name, number, protocol)
	}
	return text
}

// endpoint gives a Service of the scene one endpoint for all its ports.
func (s *scene) endpoint(key string, ready bool) *scene {
	s.t.Helper()
	namespace, name := s.split(key)
	ports, err := nestedSlice(s.get("Service", key).Object, "spec", "ports")
	require.NoError(s.t, err)
	text := fmt.Sprintf("apiVersion: discovery.k8s.io/v1\nkind: EndpointSlice\nmetadata: {namespace: %s, name: %s, labels: {kubernetes.io/service-name: %s}}\n"+
		"addressType: IPv4\nendpoints: [{addresses: [10.1.2.3], conditions: {ready: %t}}]\nports:\n", namespace, name, name, ready)
	for _, p := range ports {
		text += fmt.Sprintf("- {name: %v, port: %v, protocol: %v}\n", p["name"], p["port"], p["protocol"])
	}
	return s.apply(text)
}

// address gives a Service of the class an address, as a load balancer would.
func (s *scene) address(protocol, ip string) *scene {
	s.t.Helper()
	key := "nginx/" + s.class + "-stream-" + protocol
	s.eventually(func() error {
		if s.get("Service", key) == nil {
			return fmt.Errorf("there is no Service %s", key)
		}
		return nil
	})
	return s.patch("Service/status", key, `{"status":{"loadBalancer":{"ingress":[{"ip":"`+ip+`"}]}}}`)
}
