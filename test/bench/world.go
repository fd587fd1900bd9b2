// Package bench measures the hooks on requests as large as a real cluster makes
// them, beside what merely scanning the same bytes costs.
package bench

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// object is a Kubernetes object as it stands in a request.
type object = map[string]any

const created = "2026-01-02T03:04:05Z"

// World is a cluster with a number of TCPIngresses spread over some classes, the
// way it looks when it has come to rest.
type World struct {
	Ingresses, Classes int
}

func className(i int) string { return fmt.Sprintf("nginx-%02d", i) }

// Class is the body of a sync request for the first class, its children empty, as
// it is when Metacontroller calls for the first time.
func (w World) Class() []byte {
	ingresses, classes := object{}, object{}
	for i := range w.Ingresses {
		o := w.ingress(i)
		ingresses[key(o)] = o
	}
	for i := range w.Classes {
		o := class(i)
		classes[className(i)] = o
	}
	return encode(object{
		"controller": object{"kind": "CompositeController", "apiVersion": "metacontroller.k8s.io/v1alpha1"},
		"parent":     class(0),
		"children": object{
			"ConfigMap.v1": object{}, "Service.v1": object{}, "TCPIngressSlice.nginx-stream.dev/v1": object{},
		},
		"related": object{
			"TCPIngress.nginx-stream.dev/v1": ingresses, "TCPIngressClass.nginx-stream.dev/v1": classes,
			"ConfigMap.v1": object{}, "Service.v1": object{},
		},
		"finalizing": false,
	})
}

// Settled is the body of a sync request for the first class once its children are
// as a first answer wants them.
func (w World) Settled(answer []byte) ([]byte, error) {
	var request object
	if err := json.Unmarshal(w.Class(), &request); err != nil {
		return nil, fmt.Errorf("decoding the request: %w", err)
	}
	var response struct {
		Status   object   `json:"status"`
		Children []object `json:"children"`
	}
	if err := json.Unmarshal(answer, &response); err != nil {
		return nil, fmt.Errorf("decoding the answer: %w", err)
	}
	request["parent"].(object)["status"] = response.Status
	for _, child := range response.Children {
		group := child["kind"].(string) + "." + child["apiVersion"].(string)
		applied := string(encode(child))
		metadata := child["metadata"].(object)
		metadata["annotations"] = object{"metacontroller.k8s.io/last-applied-configuration": applied}
		metadata["uid"], metadata["creationTimestamp"] = "uid-"+metadata["name"].(string), created
		if child["kind"] == "Service" {
			child["status"] = object{"loadBalancer": object{"ingress": []any{object{"ip": "203.0.113.10"}}}}
		}
		request["children"].(object)[group].(object)[key(child)] = child
	}
	return encode(request), nil
}

// Ingress is the body of a sync request for the first TCPIngress, with the slice
// that the class's answer has for it.
func (w World) Ingress(classAnswer []byte) ([]byte, error) {
	var response struct {
		Children []object `json:"children"`
	}
	if err := json.Unmarshal(classAnswer, &response); err != nil {
		return nil, fmt.Errorf("decoding the answer: %w", err)
	}
	parent := w.ingress(0)
	slices := object{}
	for _, child := range response.Children {
		entries, _ := child["entries"].(object)
		if _, ok := entries[key(parent)]; ok {
			slices[key(child)] = child
		}
	}
	namespace := parent["metadata"].(object)["namespace"]
	service := object{
		"apiVersion": "v1", "kind": "Service",
		"metadata": object{"namespace": namespace, "name": "redis", "creationTimestamp": created, "managedFields": managedFields()},
		"spec":     object{"ports": []any{object{"name": "redis", "port": 6379, "protocol": "TCP", "targetPort": 6379}}},
	}
	endpoints := object{
		"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
		"metadata":  object{"namespace": namespace, "name": "redis-abcde", "labels": object{"kubernetes.io/service-name": "redis"}},
		"ports":     []any{object{"name": "redis", "port": 6379, "protocol": "TCP"}},
		"endpoints": []any{object{"addresses": []any{"10.0.0.7"}, "conditions": object{"ready": true}}},
	}
	return encode(object{
		"parent":   parent,
		"children": object{},
		"related": object{
			"TCPIngressSlice.nginx-stream.dev/v1": slices,
			"Service.v1":                          object{key(service): service},
			"EndpointSlice.discovery.k8s.io/v1":   object{key(endpoints): endpoints},
		},
		"finalizing": false,
	}), nil
}

func key(o object) string {
	metadata := o["metadata"].(object)
	if namespace, ok := metadata["namespace"].(string); ok && namespace != "" {
		return namespace + "/" + metadata["name"].(string)
	}
	return metadata["name"].(string)
}

func class(i int) object {
	return object{
		"apiVersion": "nginx-stream.dev/v1", "kind": "TCPIngressClass",
		"metadata": object{"name": className(i), "uid": fmt.Sprintf("class-%02d", i), "generation": 1, "creationTimestamp": created, "managedFields": managedFields()},
		"spec":     object{"namespace": "ingress-nginx", "service": object{"maxPorts": 2000}},
	}
}

// ingress is a TCPIngress of about 2 KB, as kubectl apply and Metacontroller leave it.
func (w World) ingress(i int) object {
	namespace, name := fmt.Sprintf("team-%03d", i%100), fmt.Sprintf("redis-%05d", i)
	port := 20000 + i/w.Classes
	condition := func(kind, reason, message string) object {
		return object{"type": kind, "status": "True", "reason": reason, "message": message, "observedGeneration": 1, "lastTransitionTime": created}
	}
	accepted := condition("Accepted", "Accepted", "TCPIngressClass nginx-00 gave the port.")
	resolved := condition("ResolvedRefs", "ResolvedRefs", "Service redis has the port.")
	return object{
		"apiVersion": "nginx-stream.dev/v1", "kind": "TCPIngress",
		"metadata": object{
			"namespace": namespace, "name": name, "uid": fmt.Sprintf("3b1f7c52-9a43-4c55-9d2e-%012d", i),
			"resourceVersion": fmt.Sprint(100000 + i), "generation": 1, "creationTimestamp": created,
			"labels":        object{"app.kubernetes.io/name": name, "app.kubernetes.io/part-of": "shop"},
			"annotations":   object{"kubectl.kubernetes.io/last-applied-configuration": `{"apiVersion":"nginx-stream.dev/v1","kind":"TCPIngress","metadata":{"namespace":"` + namespace + `","name":"` + name + `"}}`},
			"managedFields": managedFields(),
		},
		"spec": object{
			"ingressClassName": className(i % w.Classes),
			"rules": []any{object{
				"port": port, "protocol": "TCP",
				"backend": object{"service": object{"name": "redis", "port": object{"number": 6379}}},
			}},
		},
		"status": object{
			"observedGeneration": 1, "className": className(i % w.Classes), "ports": fmt.Sprint(port),
			"conditions": []any{condition("Ready", "Ready", "All rules are accepted, resolved and programmed."), accepted, resolved},
			"rules": []any{object{
				"name": fmt.Sprintf("tcp-%d", port), "port": port, "protocol": "TCP", "serviceName": "redis",
				"conditions": []any{accepted, resolved},
			}},
		},
	}
}

func managedFields() []any {
	entry := func(manager, operation string) object {
		return object{
			"apiVersion": "nginx-stream.dev/v1", "fieldsType": "FieldsV1", "manager": manager, "operation": operation, "time": created,
			"fieldsV1": object{"f:spec": object{".": object{}, "f:ingressClassName": object{}, "f:rules": object{}}, "f:metadata": object{"f:annotations": object{".": object{}, "f:kubectl.kubernetes.io/last-applied-configuration": object{}}}},
		}
	}
	return []any{entry("kubectl-client-side-apply", "Update"), entry("metacontroller", "Update")}
}

func encode(v any) []byte {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // maps of strings and numbers always marshal
	}
	return data
}

// Serve calls the hook of that path without a server.
func Serve(hooks []metacontroller.Hook, path string, body []byte) ([]byte, error) {
	for _, hook := range hooks {
		if hook.Path == path {
			response, err := hook.Serve(body, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
			if err != nil {
				return nil, fmt.Errorf("calling %s: %w", path, err)
			}
			return metacontroller.Encode(response)
		}
	}
	return nil, fmt.Errorf("no hook at %s", path)
}
