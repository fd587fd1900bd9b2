package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"

	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

// Creators is how many TCPIngresses are created at a time, and namespaces is how many
// teams they belong to.
const (
	creators   = 16
	namespaces = 20
	limit      = 10 * time.Minute
)

// round is a number of TCPIngresses over some classes.
type round struct {
	h          *harness.Harness
	n, classes int
	seen       *seen
}

func (r *round) resource(group, name string) dynamic.NamespaceableResourceInterface {
	return r.h.Dynamic.Resource(schema.GroupVersionResource{Group: group, Version: "v1", Resource: name})
}

// prepare makes classes, namespaces, and a Service with an endpoint in each.
func (r *round) prepare(ctx context.Context) error {
	var text strings.Builder
	for c := range r.classes {
		fmt.Fprintf(&text, `---
{apiVersion: v1, kind: Namespace, metadata: {name: nginx-%[1]d}}
---
apiVersion: nginx-stream.dev/v1
kind: TCPIngressClass
metadata: {name: class-%[1]d}
spec: {namespace: nginx-%[1]d, service: {type: ClusterIP, maxPorts: 4000}}
`, c)
	}
	for i := range namespaces {
		fmt.Fprintf(&text, `---
{apiVersion: v1, kind: Namespace, metadata: {name: team-%[1]d}}
---
apiVersion: v1
kind: Service
metadata: {namespace: team-%[1]d, name: db}
spec: {selector: {app: db}, ports: [{name: sql, port: 5432}]}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {namespace: team-%[1]d, name: db, labels: {kubernetes.io/service-name: db}}
addressType: IPv4
endpoints: [{addresses: [10.1.2.3], conditions: {ready: true}}]
ports: [{name: sql, port: 5432, protocol: TCP}]
`, i)
	}
	objects, err := harness.Objects(text.String())
	if err != nil {
		return err
	}
	for _, o := range objects {
		if err := r.create(ctx, o); err != nil {
			return err
		}
	}
	if r.seen, err = r.watch(ctx); err != nil {
		return err
	}
	return r.until(ctx, "the ConfigMaps of the classes", func() bool { return r.seen.keys.objects() == r.classes })
}

func (r *round) create(ctx context.Context, o *unstructured.Unstructured) error {
	gvk := o.GroupVersionKind()
	names := map[string]string{
		"Namespace": "namespaces", "Service": "services", "EndpointSlice": "endpointslices",
		"TCPIngressClass": "tcpingressclasses", "TCPIngress": "tcpingresses",
	}
	client := r.resource(gvk.Group, names[gvk.Kind])
	if o.GetNamespace() == "" {
		_, err := client.Create(ctx, o, metav1.CreateOptions{})
		return err
	}
	_, err := client.Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{})
	return err
}

// ingress is number i of them.
func (r *round) ingress(i int) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "nginx-stream.dev/v1",
		"kind":       "TCPIngress",
		"metadata":   map[string]any{"namespace": fmt.Sprintf("team-%d", i%namespaces), "name": fmt.Sprintf("db-%d", i)},
		"spec": map[string]any{
			"ingressClassName": fmt.Sprintf("class-%d", i%r.classes),
			"rules": []any{map[string]any{
				"port":    int64(12000 + i),
				"backend": map[string]any{"service": map[string]any{"name": "db", "port": map[string]any{"number": int64(5432)}}},
			}},
		},
	}}
}

// play creates all, waits, and creates one more.
func (r *round) play(ctx context.Context) (line string, err error) {
	begin, before := time.Now(), r.cost(ctx)
	group, inner := errgroup.WithContext(ctx)
	var next atomic.Int64
	for range creators {
		group.Go(func() error {
			for i := int(next.Add(1)) - 1; i < r.n; i = int(next.Add(1)) - 1 {
				if err := r.create(inner, r.ingress(i)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return "", err
	}
	created := time.Now()
	times, err := r.settle(ctx, created, r.n)
	if err != nil {
		return "", err
	}
	all := r.cost(ctx).less(before)
	writes, err := r.writes(begin)
	if err != nil {
		return "", err
	}
	if err := r.quiet(ctx); err != nil {
		return "", err
	}
	before = r.cost(ctx)
	last := time.Now()
	if err := r.create(ctx, r.ingress(r.n)); err != nil {
		return "", err
	}
	one, err := r.settle(ctx, last, r.n+1)
	if err != nil {
		return "", err
	}
	if err := r.quiet(ctx); err != nil {
		return "", err
	}
	more := r.cost(ctx).less(before)
	return fmt.Sprintf("| %d | %d | %.1f s | %.1f s | %.1f s | %.1f s | %d (%d) | %.0f | %d | %.2f s | %d (%d) |%s",
		r.n, r.classes, created.Sub(begin).Seconds(), times.keys.Seconds(), times.ports.Seconds(), times.ready.Seconds(),
		all.calls, all.class, all.bytes/1e6, writes, one.ready.Seconds(), more.calls, more.class, r.processes()), nil
}

// moments are the times from the last create until all is there.
type moments struct{ keys, ports, ready time.Duration }

// settle waits for n TCPIngresses to be served. The three are waited for side by side.
func (r *round) settle(ctx context.Context, since time.Time, n int) (moments, error) {
	var m moments
	var waits sync.WaitGroup
	var errs [3]error
	for i, wait := range []struct {
		what string
		took *time.Duration
		done func() bool
	}{
		{"the keys", &m.keys, func() bool { return r.seen.keys.total() == n }},
		{"the ports", &m.ports, func() bool { return r.seen.ports.total() == n }},
		{"the conditions", &m.ready, func() bool { return r.seen.ready.total() == n }},
	} {
		waits.Go(func() {
			errs[i] = r.until(ctx, wait.what, wait.done)
			*wait.took = time.Since(since)
		})
	}
	waits.Wait()
	for _, err := range errs {
		if err != nil {
			return m, err
		}
	}
	return m, nil
}

func (r *round) until(ctx context.Context, what string, done func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	for {
		if done() {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for %s: %w", what, ctx.Err())
		case <-time.After(10 * time.Millisecond):
		}
	}
}
