package standin

import (
	"context"
	"errors"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/cache"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// run works on the queue until ctx ends.
func (c *controller) run(ctx context.Context) {
	var synced []cache.InformerSynced
	for _, p := range c.parents {
		synced = append(synced, p.HasSynced)
	}
	for _, child := range c.children {
		synced = append(synced, child.HasSynced)
	}
	if !cache.WaitForCacheSync(ctx.Done(), synced...) {
		return
	}
	var workers sync.WaitGroup
	for range c.options.Workers {
		workers.Go(func() {
			for c.next(ctx) {
			}
		})
	}
	workers.Wait()
}

// next works on one parent; it gives false when there is nothing more to do.
func (c *controller) next(ctx context.Context) bool {
	k, shutdown := c.queue.Get()
	if shutdown {
		return false
	}
	defer c.queue.Done(k)
	parent := k.parents.get(k.namespace, k.name)
	if parent == nil || !k.parents.selector.Matches(parent) {
		c.queue.Forget(k)
		return true
	}
	err := c.syncParent(ctx, k, parent)
	var busy *tooManyRequests
	switch {
	case err == nil:
		c.queue.Forget(k)
	case ctx.Err() != nil:
	case errors.As(err, &busy):
		c.log.Info("the hook is busy", "controller", c.name, "parent", simulate.Describe(parent), "after", busy.after)
		c.queue.AddAfter(k, busy.after)
	case errors.Is(err, errNotSynced):
		c.queue.AddRateLimited(k)
	default:
		c.log.Warn("sync", "controller", c.name, "parent", simulate.Describe(parent), "error", err)
		c.events.syncError(parent, err)
		c.queue.AddRateLimited(k)
	}
	return true
}

func (c *controller) syncParent(ctx context.Context, k key, parent *unstructured.Unstructured) error {
	if c.decorator {
		return c.syncDecorated(ctx, k, parent)
	}
	return c.syncComposite(ctx, k, parent)
}

// resyncAfter enqueues the parent once more, if the hook asked for it.
func (c *controller) resyncAfter(k key, seconds float64) {
	if seconds > 0 {
		c.queue.AddAfter(k, time.Duration(seconds*float64(time.Second)))
	}
}
