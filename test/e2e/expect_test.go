package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// data is what a ConfigMap should hold.
type data map[string]string

// tcpServices waits until the ConfigMap for TCP holds exactly this.
func (s *scene) tcpServices(want data) *scene {
	s.t.Helper()
	return s.configMap("nginx/tcp-services", want)
}

// udpServices waits until the ConfigMap for UDP holds exactly this.
func (s *scene) udpServices(want data) *scene {
	s.t.Helper()
	return s.configMap("nginx/udp-services", want)
}

func (s *scene) configMap(key string, want data) *scene {
	s.t.Helper()
	expanded := map[string]string{}
	for k, v := range want {
		expanded[k] = s.expand(v)
	}
	return s.eventually(func() error {
		o := s.get("ConfigMap", key)
		if o == nil {
			return fmt.Errorf("there is no ConfigMap %s", key)
		}
		got, _, _ := unstructured.NestedStringMap(o.Object, "data")
		if got == nil {
			got = map[string]string{}
		}
		if diff := cmp.Diff(expanded, got); diff != "" {
			return fmt.Errorf("ConfigMap %s (- want, + got):\n%s", key, diff)
		}
		return nil
	})
}

// ports waits until a Service of the class has exactly these, as name:number.
func (s *scene) ports(protocol string, want ...string) *scene {
	s.t.Helper()
	return s.portsOf("nginx/"+s.class+"-stream-"+protocol, want...)
}

func (s *scene) portsOf(key string, want ...string) *scene {
	s.t.Helper()
	return s.eventually(func() error {
		o := s.get("Service", key)
		if o == nil {
			return fmt.Errorf("there is no Service %s", key)
		}
		ports, err := nestedSlice(o.Object, "spec", "ports")
		if err != nil {
			return err
		}
		var got []string
		for _, p := range ports {
			got = append(got, fmt.Sprintf("%v:%v", p["name"], p["port"]))
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("ports of Service %s (- want, + got):\n%s", key, diff)
		}
		return nil
	})
}

// gone waits until an object does not exist.
func (s *scene) gone(kind, key string) *scene {
	s.t.Helper()
	return s.eventually(func() error {
		if s.get(kind, key) != nil {
			return fmt.Errorf("%s %s is still there", kind, key)
		}
		return nil
	})
}

// ready waits until TCPIngresses are Ready in their current generation.
func (s *scene) ready(keys ...string) *scene {
	s.t.Helper()
	for _, key := range keys {
		s.condition("TCPIngress", key, "Ready=True/Ready", "")
	}
	return s
}

// condition waits until a condition is "Type=Status/Reason", for the current
// generation, and its message contains the text.
func (s *scene) condition(kind, key, want, message string) *scene {
	s.t.Helper()
	message = s.expand(message)
	typ, _, _ := strings.Cut(want, "=")
	return s.eventually(func() error {
		o := s.get(kind, key)
		if o == nil {
			return fmt.Errorf("there is no %s %s", kind, key)
		}
		c := conditionOf(o, typ)
		if c == nil {
			return fmt.Errorf("%s %s has no condition %s", kind, key, typ)
		}
		got := fmt.Sprintf("%s=%v/%v", typ, c["status"], c["reason"])
		switch {
		case got != want:
			return fmt.Errorf("%s %s is %s, not %s: %v", kind, key, got, want, c["message"])
		case c["observedGeneration"] != o.GetGeneration():
			return fmt.Errorf("%s %s is %s of generation %v, not %d", kind, key, got, c["observedGeneration"], o.GetGeneration())
		case !strings.Contains(fmt.Sprint(c["message"]), message):
			return fmt.Errorf("%s %s is %s with the message %q, which lacks %q", kind, key, got, c["message"], message)
		}
		return nil
	})
}

// message gives the message of a condition.
func (s *scene) message(kind, key, typ string) string {
	s.t.Helper()
	return fmt.Sprint(conditionOf(s.get(kind, key), typ)["message"])
}

func conditionOf(o *unstructured.Unstructured, typ string) map[string]any {
	conditions, _ := nestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c["type"] == typ {
			return c
		}
	}
	return nil
}

// status waits until a field of an object's status prints so.
func (s *scene) status(kind, key, want string, path ...string) *scene {
	s.t.Helper()
	want = s.expand(want)
	return s.eventually(func() error {
		got, _, err := unstructured.NestedFieldNoCopy(s.get(kind, key).Object, append([]string{"status"}, path...)...)
		if err != nil {
			return err
		}
		if fmt.Sprint(got) != want {
			return fmt.Errorf("status.%s of %s %s is %v, not %s", strings.Join(path, "."), kind, key, got, want)
		}
		return nil
	})
}

func nestedSlice(o map[string]any, path ...string) ([]map[string]any, error) {
	list, _, err := unstructured.NestedSlice(o, path...)
	var out []map[string]any
	for _, item := range list {
		if m, ok := item.(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out, err
}

// describe tells all that a reader of a failure wants to know.
func (s *scene) describe() string {
	var out strings.Builder
	fmt.Fprintf(&out, "scene %s, applied by %s\n", s.class, applierName())
	for _, args := range [][]string{
		{"get", "tcpingressclass", s.class, "-o", "yaml"},
		{"get", "tcpingressslices", "-l", "nginx-stream.dev/class=" + s.class, "-o", "yaml"},
		{"get", "tcpingresses", "-n", s.namespace("a"), "-o", "yaml"},
		{"get", "tcpingresses", "-n", s.namespace("b"), "-o", "yaml"},
		{"get", "configmaps,services", "-n", s.namespace("nginx"), "-o", "yaml"},
		{"get", "events", "-n", "default", "--field-selector=involvedObject.name=" + s.class},
	} {
		text, err := h.Cluster.Kubectl(context.Background(), args...).CombinedOutput()
		if len(text) > 12000 {
			text = append(text[:12000], "\n...\n"...)
		}
		fmt.Fprintf(&out, "$ kubectl %s\n%s", strings.Join(args, " "), text)
		if err != nil {
			fmt.Fprintln(&out, err)
		}
	}
	calls := h.Door.Calls(s.mine)
	fmt.Fprintf(&out, "%d hook calls, the last of them:\n", len(calls))
	for _, c := range calls[max(0, len(calls)-20):] {
		fmt.Fprintf(&out, "%s %s %s/%s: %d in %s\n", c.Begin.Format("15:04:05.000"), c.Path, c.Namespace, c.Name, c.Code, c.Took)
	}
	return out.String()
}

// list reads all objects of a kind in a namespace.
func (s *scene) list(kind, short string) []unstructured.Unstructured {
	s.t.Helper()
	list, err := s.client(kind, short+"/").List(context.Background(), metav1.ListOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return list.Items
}

// ruleStatus gives the status of one rule, nil if there is none.
func (s *scene) ruleStatus(key, rule string) map[string]any {
	s.t.Helper()
	rules, err := nestedSlice(s.get("TCPIngress", key).Object, "status", "rules")
	if err != nil {
		s.t.Fatal(err)
	}
	for _, r := range rules {
		if r["name"] == rule {
			return r
		}
	}
	return nil
}

// ruleHas tells what is wrong if a field of a rule's status is not so.
func (s *scene) ruleHas(key, rule, field string, want any) error {
	s.t.Helper()
	if got := s.ruleStatus(key, rule)[field]; got != want {
		return fmt.Errorf("%s of rule %s of %s is %v, not %v", field, rule, key, got, want)
	}
	return nil
}
