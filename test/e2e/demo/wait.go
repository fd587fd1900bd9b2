package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// patience is for what should happen at once. It is long, for a busy machine.
const patience = 60 * time.Second

// until waits for check to find nothing to complain about.
func until(ctx context.Context, check func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var last error
	for {
		err := check(ctx)
		if err == nil {
			return nil
		}
		if ctx.Err() == nil {
			last = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", patience, errors.Join(context.Cause(ctx), last))
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func (d *demo) get(ctx context.Context, group, resource, namespace, name string) (*unstructured.Unstructured, error) {
	client := d.h.Dynamic.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: resource})
	if namespace == "" {
		return client.Get(ctx, name, metav1.GetOptions{})
	}
	return client.Namespace(namespace).Get(ctx, name, metav1.GetOptions{})
}

// condition waits until a condition of a TCPIngress is "Type=Status/Reason".
func (d *demo) condition(ctx context.Context, key, want string) error {
	namespace, name, _ := strings.Cut(key, "/")
	return until(ctx, func(ctx context.Context) error {
		o, err := d.get(ctx, "nginx-stream.dev", "tcpingresses", namespace, name)
		if err != nil {
			return err
		}
		var all []string
		list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
		for _, item := range list {
			c, _ := item.(map[string]any)
			got := fmt.Sprintf("%v=%v/%v", c["type"], c["status"], c["reason"])
			if got == want && c["observedGeneration"] == o.GetGeneration() {
				return nil
			}
			all = append(all, got)
		}
		return fmt.Errorf("%s of %s is not among %v", want, key, all)
	})
}

// exists waits for a Service of the class.
func (d *demo) exists(ctx context.Context, service string) error {
	return until(ctx, func(ctx context.Context) error {
		_, err := d.get(ctx, "", "services", "ingress-nginx", service)
		return err
	})
}

// handedOn waits until demo/redis does not hold the port any more.
func (d *demo) handedOn(ctx context.Context, port string) error {
	return until(ctx, func(ctx context.Context) error {
		o, err := d.get(ctx, "nginx-stream.dev", "tcpingressclasses", "", "nginx")
		if err != nil {
			return err
		}
		holder, _, err := unstructured.NestedString(o.Object, "status", "listeners", port)
		if err == nil && strings.HasPrefix(holder, "demo/redis/") {
			err = fmt.Errorf("%s holds %s", holder, port)
		}
		return err
	})
}
