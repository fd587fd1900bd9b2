package standin

import (
	"context"
	"maps"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/cache"
)

// watch makes changes of parents and children enqueue the parents. It must be
// called before the informers run, since a running one takes no shorter period.
func (c *controller) watch(ctx context.Context) {
	for _, p := range c.parents {
		handler := cache.ResourceEventHandlerFuncs{
			AddFunc: func(o any) { c.enqueue(p, lastState(o)) },
			UpdateFunc: func(old, cur any) {
				if !p.ignoreStatusChanges || !onlyStatusDiffers(lastState(old), lastState(cur)) {
					c.enqueue(p, lastState(cur))
				}
			},
			DeleteFunc: func(o any) {
				c.related.forget(lastState(o))
				c.enqueue(p, lastState(o))
			},
		}
		period := defaultResync
		if c.resync != 0 {
			period = c.resync
		}
		c.handle(p.informer, handler, cache.HandlerOptions{ResyncPeriod: &period})
	}
	for _, child := range c.children {
		c.handle(child.informer, cache.ResourceEventHandlerFuncs{
			AddFunc: func(o any) { c.childChanged(lastState(o)) },
			UpdateFunc: func(old, cur any) {
				if changed(old, cur) {
					c.childChanged(lastState(cur))
				}
			},
			DeleteFunc: func(o any) { c.childDeleted(lastState(o)) },
		}, cache.HandlerOptions{})
	}
	context.AfterFunc(ctx, c.queue.ShutDown)
}

func (c *controller) handle(i *informer, handler cache.ResourceEventHandler, options cache.HandlerOptions) {
	if _, err := i.AddEventHandlerWithOptions(handler, options); err != nil {
		// It means that the informer has ended, and so will we.
		c.log.Debug("watching", "resource", i.kind.Resource, "error", err)
	}
}

// changed is false for objects that are only shown again.
func changed(old, cur any) bool {
	return lastState(old).GetResourceVersion() != lastState(cur).GetResourceVersion()
}

// onlyStatusDiffers is false for an object that is only shown again: the periodic
// resync must reach the hook.
func onlyStatusDiffers(old, cur *unstructured.Unstructured) bool {
	return old != cur &&
		old.GetGeneration() == cur.GetGeneration() &&
		maps.Equal(old.GetLabels(), cur.GetLabels()) &&
		maps.Equal(old.GetAnnotations(), cur.GetAnnotations()) &&
		cur.GetDeletionTimestamp() == nil
}

func (c *controller) enqueue(p *parents, parent *unstructured.Unstructured) {
	if p.selector.Matches(parent) {
		c.queue.Add(key{p, parent.GetNamespace(), parent.GetName()})
	}
}

// childChanged enqueues the controller of the child or, of an orphan, the parent
// that may adopt it.
func (c *controller) childChanged(object *unstructured.Unstructured) {
	if object.GetDeletionTimestamp() != nil {
		c.childDeleted(object)
		return
	}
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		c.enqueueOwner(object, owner)
		return
	}
	if c.decorator || len(object.GetLabels()) == 0 {
		return
	}
	for _, p := range c.parents {
		namespace := ""
		if p.kind.Namespaced {
			namespace = object.GetNamespace()
		}
		for _, parent := range p.list(namespace) {
			if c.adoptable(parent, object) {
				c.enqueue(p, parent)
			}
		}
	}
}

func (c *controller) childDeleted(object *unstructured.Unstructured) {
	if owner := metav1.GetControllerOfNoCopy(object); owner != nil {
		c.enqueueOwner(object, owner)
	}
}

func (c *controller) enqueueOwner(object *unstructured.Unstructured, owner *metav1.OwnerReference) {
	gv, err := schema.ParseGroupVersion(owner.APIVersion)
	if err != nil {
		return
	}
	for _, p := range c.parents {
		if p.kind.gvr.Group != gv.Group || p.kind.Kind.Kind != owner.Kind {
			continue
		}
		namespace := ""
		if p.kind.Namespaced {
			namespace = object.GetNamespace()
		}
		if parent := p.get(namespace, owner.Name); parent != nil && parent.GetUID() == owner.UID {
			c.enqueue(p, parent)
		}
	}
}
