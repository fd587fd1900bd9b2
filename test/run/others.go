package main

import "k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

// address is from a range for documentation.
const address = "203.0.113.7"

// readyEndpoint is what the EndpointSlice controller would write for demo/redis.
func readyEndpoint() *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "discovery.k8s.io/v1",
		"kind":       "EndpointSlice",
		"metadata": map[string]any{
			"namespace": "demo",
			"name":      "redis-x7k2p",
			"labels":    map[string]any{"kubernetes.io/service-name": "redis"},
		},
		"addressType": "IPv4",
		"ports":       []any{map[string]any{"name": "redis", "port": int64(6379), "protocol": "TCP"}},
		"endpoints": []any{map[string]any{
			"addresses":  []any{"10.0.0.5"},
			"conditions": map[string]any{"ready": true},
		}},
	}}
}

// withAddress is what a cloud's controller would write into a Service.
func withAddress(service *unstructured.Unstructured) *unstructured.Unstructured {
	service.Object["status"] = map[string]any{
		"loadBalancer": map[string]any{"ingress": []any{map[string]any{"ip": address}}},
	}
	return service
}
