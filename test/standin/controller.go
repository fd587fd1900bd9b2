package standin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/workqueue"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// controller is a CompositeController or a DecoratorController.
type controller struct {
	*StandIn
	name string
	// manifest goes into every request as it is.
	manifest  *unstructured.Unstructured
	decorator bool
	resync    time.Duration
	// generateSelector is for a composite; without it the parents say what they select.
	generateSelector bool
	parents          []*parents
	children         []child
	sync             *hook
	related          *related
	queue            workqueue.TypedRateLimitingInterface[key]
}

// parents are the parents of one kind.
type parents struct {
	*informer
	selector            simulate.ParentSelector
	ignoreStatusChanges bool
}

// child is a child resource with the method of its update.
type child struct {
	*informer
	method string
}

// key names a parent in the queue.
type key struct {
	parents         *parents
	namespace, name string
}

// readController reads a manifest. What is not played is an error.
func (s *StandIn) readController(ctx context.Context, manifest *unstructured.Unstructured) (*controller, error) {
	spec, err := simulate.ReadSpec(manifest)
	if err != nil {
		return nil, err
	}
	c := &controller{
		StandIn:          s,
		name:             manifest.GetName(),
		manifest:         manifest,
		decorator:        manifest.GetKind() == simulate.DecoratorKind,
		resync:           resyncPeriod(spec.ResyncPeriodSeconds, s.options.ResyncPeriod),
		generateSelector: spec.GenerateSelector,
	}
	switch {
	case !c.decorator && manifest.GetKind() != simulate.CompositeKind:
		return nil, fmt.Errorf("kind is neither %s nor %s", simulate.CompositeKind, simulate.DecoratorKind)
	case spec.Hooks.Finalize != nil:
		return nil, errors.New("a finalize hook is not played")
	case spec.Hooks.Sync == nil:
		return nil, errors.New("it has no sync hook")
	}
	if err := c.readResources(ctx, &spec); err != nil {
		return nil, err
	}
	if c.sync, err = readHook(spec.Hooks.Sync, s.options.HookURL); err != nil {
		return nil, fmt.Errorf("reading sync hook: %w", err)
	}
	customize, err := readHook(spec.Hooks.Customize, s.options.HookURL)
	if err != nil {
		return nil, fmt.Errorf("reading customize hook: %w", err)
	}
	c.related = newRelated(c, customize)
	c.queue = workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[key]())
	return c, nil
}

// resyncPeriod is 0 if the informer's default counts.
func resyncPeriod(seconds *int32, override time.Duration) time.Duration {
	switch {
	case override > 0:
		return max(override, time.Second)
	case seconds != nil:
		return max(time.Duration(*seconds)*time.Second, time.Second)
	default:
		return 0
	}
}

func (c *controller) readResources(ctx context.Context, spec *simulate.ControllerSpec) error {
	for _, resource := range spec.Parents() {
		k, err := c.kinds.await(ctx, resource.APIVersion, resource.Resource)
		if err != nil {
			return fmt.Errorf("reading parent resource: %w", err)
		}
		selector, err := resource.Selector()
		if err != nil {
			return fmt.Errorf("reading parent resource: %w", err)
		}
		c.parents = append(c.parents, &parents{c.informers.of(k), selector, resource.IgnoreStatusChanges})
	}
	for _, resource := range spec.Children() {
		k, err := c.kinds.await(ctx, resource.APIVersion, resource.Resource)
		if err != nil {
			return fmt.Errorf("reading child resource: %w", err)
		}
		switch method := resource.UpdateStrategy.Method; method {
		case "":
			c.children = append(c.children, child{c.informers.of(k), simulate.MethodOnDelete})
		case simulate.MethodOnDelete, simulate.MethodInPlace, simulate.MethodRecreate:
			c.children = append(c.children, child{c.informers.of(k), method})
		default:
			return fmt.Errorf("update method %s is not played", method)
		}
	}
	return nil
}

// childOf gives the child resource that the object is of.
func (c *controller) childOf(object *unstructured.Unstructured) (child, error) {
	for _, child := range c.children {
		if child.kind.is(object) {
			return child, nil
		}
	}
	return child{}, fmt.Errorf("%s is of no child resource of %s", simulate.Describe(object), c.name)
}
