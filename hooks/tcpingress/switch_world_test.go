package tcpingress

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
	"github.com/nginx-stream/tcpingress/manifests"
)

const (
	testPropagation = 90 * time.Second
	testDrain       = 300 * time.Second
)

// switchWorld is a class whose provider is changed, with the kubelet, a load balancer
// and clients that know the Services of some time ago.
type switchWorld struct {
	*simulate.Cluster
	// ports that are used, with the time from which they must not fail.
	ports map[int]time.Time
	// carried is since when a side carries a port; led since when a Service leads, or
	// until when it led, to a side.
	carried map[string]time.Time
	ledTill map[string]time.Time
	led     string
	ready   bool
	uid     string
	broken  []string
	// spec is more of the class's spec: ", service: {...}".
	spec string
}

func newSwitchWorld() (*switchWorld, error) {
	w := &switchWorld{ports: map[int]time.Time{}, carried: map[string]time.Time{}, ledTill: map[string]time.Time{}}
	controllers, err := classControllers()
	if err != nil {
		return nil, err
	}
	w.Cluster, err = simulate.New(simulate.Options{
		Kinds: []simulate.Kind{
			{APIVersion: crdv1.APIVersion, Kind: crdv1.KindTCPIngressClass, Resource: "tcpingressclasses"},
			{APIVersion: crdv1.APIVersion, Kind: crdv1.KindTCPIngressSlice, Resource: "tcpingressslices"},
			{APIVersion: crdv1.APIVersion, Kind: crdv1.KindTCPIngress, Resource: "tcpingresses", Namespaced: true},
		},
		Controllers: controllers,
		Hooks:       Hooks(),
		Now:         clock(),
		OnCall:      func(string, []byte, []byte) { w.look() },
	})
	if err != nil {
		return nil, err
	}
	return w, w.put("{apiVersion: v1, kind: Service, metadata: {namespace: data, name: db}, spec: {ports: [{name: sql, port: 3306}]}}")
}

func classControllers() ([]*unstructured.Unstructured, error) {
	var controllers []*unstructured.Unstructured
	for _, file := range []string{"controller-tcpingressclass.yaml", "controller-tcpingress.yaml"} {
		text, err := fs.ReadFile(manifests.Base, "base/"+file)
		if err != nil {
			return nil, err
		}
		found, err := simulate.ReadManifests(text)
		if err != nil {
			return nil, err
		}
		controllers = append(controllers, found...)
	}
	return controllers, nil
}

func (w *switchWorld) put(text string) error {
	o := &unstructured.Unstructured{}
	if err := yaml.Unmarshal([]byte(text), &o.Object); err != nil {
		return err
	}
	return w.Put(o)
}

func (w *switchWorld) provider(provider string) error {
	return w.put("{apiVersion: nginx-stream.dev/v1, kind: TCPIngressClass, metadata: {name: c}, spec: {namespace: edge, provider: " + provider + w.spec + "}}")
}

// rule asks for a port, by the number or by the name of the backend's port.
func (w *switchWorld) rule(port int) error {
	backend := "number: 3306"
	if port%2 == 1 {
		backend = "name: sql"
	}
	return w.put(fmt.Sprintf("{apiVersion: nginx-stream.dev/v1, kind: TCPIngress, metadata: {namespace: data, name: i%d}, "+
		"spec: {ingressClassName: c, rules: [{port: %d, backend: {service: {name: db, port: {%s}}}}]}}", port, port, backend))
}

func (w *switchWorld) drop(port int) {
	w.Delete(crdv1.APIVersion, crdv1.KindTCPIngress, "data", fmt.Sprintf("i%d", port))
	delete(w.ports, port)
}

// pass lets time pass, and then everybody act until nothing changes.
func (w *switchWorld) pass(d time.Duration) error {
	w.Advance(d)
	for range 2 {
		if _, err := w.Settle(); err != nil {
			return err
		}
		if err := errors.Join(w.kubelet(), w.balancer()); err != nil {
			return err
		}
	}
	_, err := w.Settle()
	w.look()
	return err
}

func (w *switchWorld) kubelet() error {
	d := w.Get("apps/v1", "Deployment", "edge", "c-stream")
	if d == nil {
		return nil
	}
	available, status := int64(0), "False"
	if w.ready {
		available, status = 1, "True"
	}
	d.Object["status"] = map[string]any{
		"observedGeneration": d.GetGeneration(), "availableReplicas": available,
		"conditions": []any{map[string]any{"type": "Available", "status": status}},
	}
	return w.Put(d)
}

func (w *switchWorld) balancer() error {
	svc := w.Get("v1", "Service", "edge", "c-stream-tcp")
	if svc == nil {
		return nil
	}
	svc.Object["status"] = map[string]any{"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": "192.0.2.1"}}}}
	return w.Put(svc)
}

// look notes what is there, and what fails of it.
func (w *switchWorld) look() {
	now := w.Now()
	w.noteCarried("IngressNginx", now)
	w.noteCarried("Nginx", now)
	svc := w.Get("v1", "Service", "edge", "c-stream-tcp")
	if svc == nil {
		return
	}
	switch uid := string(svc.GetUID()); {
	case w.uid != "" && w.uid != uid:
		w.fail("the Service is another one")
	default:
		w.uid = uid
	}
	leads := "IngressNginx"
	selector, _, _ := unstructured.NestedStringMap(svc.Object, "spec", "selector")
	if selector["app.kubernetes.io/name"] == "tcpingress-nginx" {
		leads = "Nginx"
	}
	if w.led != leads {
		if leads == "Nginx" && w.led != "" && !w.ready {
			w.fail("the Service leads to pods that are not ready")
		}
		w.ledTill[w.led], w.led = now, leads
	}
	w.judge(leads, now)
}

func (w *switchWorld) judge(leads string, now time.Time) {
	for port, from := range w.ports {
		if now.Before(from) {
			continue
		}
		since, ok := w.carried[fmt.Sprint(leads, port)]
		if !ok || leads == "Nginx" && now.Sub(since) < testPropagation {
			w.fail(fmt.Sprintf("%s, to which the Service leads, does not carry %d", leads, port))
		}
		for side, till := range w.ledTill {
			if _, ok := w.carried[fmt.Sprint(side, port)]; side != "" && side != leads && now.Sub(till) < testDrain && !ok {
				w.fail(fmt.Sprintf("%s, to which the Service led until %s, does not carry %d", side, till, port))
			}
		}
	}
}

func (w *switchWorld) fail(text string) {
	w.broken = append(w.broken, w.Now().Format(time.TimeOnly)+" "+text)
}

func (w *switchWorld) noteCarried(side string, now time.Time) {
	for port := 5000; port < 5010; port++ {
		key := fmt.Sprint(side, port)
		if !w.carries(side, port) {
			delete(w.carried, key)
		} else if _, ok := w.carried[key]; !ok {
			w.carried[key] = now
		}
	}
}

func (w *switchWorld) carries(side string, port int) bool {
	names := []string{"tcp-services"}
	if side == "Nginx" {
		names = nil
		for i := range 16 {
			names = append(names, fmt.Sprintf("c-stream-%02d", i))
		}
	}
	for _, name := range names {
		cm := w.Get("v1", "ConfigMap", "edge", name)
		if cm == nil {
			continue
		}
		data, _, _ := unstructured.NestedStringMap(cm.Object, "data")
		for key, value := range data {
			if side == "IngressNginx" && key == fmt.Sprint(port) || strings.Contains(value, fmt.Sprintf("# %d/TCP ", port)) {
				return true
			}
		}
	}
	return false
}

// ingress gives a condition of a TCPIngress as "False/Pending".
func (w *switchWorld) ingress(name, kind string) string {
	return conditionText(w.Get(crdv1.APIVersion, crdv1.KindTCPIngress, "data", name), kind)
}

// selector tells to whom a Service leads.
func (w *switchWorld) selector(name string) string {
	svc := w.Get("v1", "Service", "edge", name)
	if svc == nil {
		return ""
	}
	value, _, _ := unstructured.NestedString(svc.Object, "spec", "selector", "app.kubernetes.io/name")
	return value
}

// programmed gives the class's condition as "False/Switching".
func (w *switchWorld) programmed() string {
	return conditionText(w.Get(crdv1.APIVersion, crdv1.KindTCPIngressClass, "", "c"), crdv1.ConditionProgrammed)
}

func conditionText(o *unstructured.Unstructured, kind string) string {
	if o == nil {
		return ""
	}
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, item := range list {
		if c, ok := item.(map[string]any); ok && c["type"] == kind {
			return fmt.Sprintf("%s/%s", c["status"], c["reason"])
		}
	}
	return ""
}
