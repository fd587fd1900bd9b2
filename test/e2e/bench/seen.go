package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// seen counts what is there, by watches: to ask again and again would be work for the
// API server that nobody has in practice.
type seen struct{ keys, ports, ready *counter }

// counter sums up what some objects count for.
type counter struct {
	mu    sync.Mutex
	of    map[string]int // by namespace and name
	value int
}

func newCounter() *counter { return &counter{of: map[string]int{}} }

func (c *counter) set(key string, n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.value += n - c.of[key]
	c.of[key] = n
}

func (c *counter) total() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.value
}

func (c *counter) objects() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.of)
}

// watch starts to count, until ctx ends.
func (r *round) watch(ctx context.Context) (*seen, error) {
	s := &seen{keys: newCounter(), ports: newCounter(), ready: newCounter()}
	factory := dynamicinformer.NewDynamicSharedInformerFactory(r.h.Dynamic, 0)
	for _, w := range []struct {
		resource schema.GroupVersionResource
		counter  *counter
		count    func(*unstructured.Unstructured) (int, bool)
	}{
		{schema.GroupVersionResource{Version: "v1", Resource: "configmaps"}, s.keys, keysOf},
		{schema.GroupVersionResource{Version: "v1", Resource: "services"}, s.ports, portsOf},
		{schema.GroupVersionResource{Group: "nginx-stream.dev", Version: "v1", Resource: "tcpingresses"}, s.ready, readyOf},
	} {
		note := func(object any) {
			if o, ok := object.(*unstructured.Unstructured); ok {
				if n, counts := w.count(o); counts {
					w.counter.set(o.GetNamespace()+"/"+o.GetName(), n)
				}
			}
		}
		_, err := factory.ForResource(w.resource).Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
			AddFunc:    note,
			UpdateFunc: func(_, object any) { note(object) },
		})
		if err != nil {
			return nil, fmt.Errorf("watching %s: %w", w.resource.Resource, err)
		}
	}
	factory.Start(ctx.Done())
	factory.WaitForCacheSync(ctx.Done())
	return s, nil
}

func keysOf(o *unstructured.Unstructured) (n int, counts bool) {
	data, _, _ := unstructured.NestedStringMap(o.Object, "data")
	return len(data), o.GetName() == "tcp-services"
}

func portsOf(o *unstructured.Unstructured) (n int, counts bool) {
	ports, _, _ := unstructured.NestedSlice(o.Object, "spec", "ports")
	return len(ports), strings.HasSuffix(o.GetName(), "-stream-tcp")
}

func readyOf(o *unstructured.Unstructured) (n int, counts bool) {
	conditions, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	for _, c := range conditions {
		if c, ok := c.(map[string]any); ok && c["type"] == "Ready" && c["status"] == "True" {
			return 1, true
		}
	}
	return 0, true
}
