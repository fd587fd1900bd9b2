package standin

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/cache"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// errNotSynced means that related objects are not all known yet. It is no error of
// anybody: the parent is tried again soon.
var errNotSynced = errors.New("related objects are not all known yet")

// related asks the customize hook, and finds and watches what it asks for.
type related struct {
	*controller
	customize *hook // nil if there is none

	mu      sync.Mutex
	answers map[types.UID]answer
	watched map[*informer]bool
}

// answer is what the customize hook said for one generation of a parent.
type answer struct {
	generation int64
	rules      []rule
}

// rule selects related objects of one kind.
type rule struct {
	metacontroller.RelatedResourceRule
	*informer
	matches func(*unstructured.Unstructured) bool
}

func newRelated(c *controller, customize *hook) *related {
	return &related{controller: c, customize: customize, answers: map[types.UID]answer{}, watched: map[*informer]bool{}}
}

// objects gives the related objects of the parent. Groups that were asked for are
// there, also if they are empty.
func (r *related) objects(ctx context.Context, parent *unstructured.Unstructured) (simulate.ObjectMap, error) {
	objects := simulate.ObjectMap{}
	rules, err := r.rules(ctx, parent)
	if err != nil {
		return nil, err
	}
	for _, rule := range rules {
		r.watchRelated(ctx, rule.informer)
	}
	for _, rule := range rules {
		if err := r.ready(&rule); err != nil {
			return nil, err
		}
		objects.Open(rule.kind.Kind)
		for _, object := range rule.candidates() {
			if rule.matches(object) {
				objects.Insert(rule.kind.Kind, object)
			}
		}
	}
	return objects, nil
}

// rules asks the hook, once for each generation of the parent.
func (r *related) rules(ctx context.Context, parent *unstructured.Unstructured) ([]rule, error) {
	if r.customize == nil {
		return nil, nil
	}
	r.mu.Lock()
	known, found := r.answers[parent.GetUID()]
	r.mu.Unlock()
	if found && known.generation == parent.GetGeneration() {
		return known.rules, nil
	}
	var response simulate.CustomizeResponse
	request := simulate.CustomizeRequest{Controller: r.manifest, Parent: parent}
	if err := r.call(ctx, r.customize, request, &response); err != nil {
		return nil, err
	}
	asked := answer{generation: parent.GetGeneration()}
	for _, wire := range response.RelatedResources {
		rule, err := r.readRule(wire)
		if err != nil {
			return nil, fmt.Errorf("reading rule for related %s: %w", wire.Resource, err)
		}
		asked.rules = append(asked.rules, rule)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.answers[parent.GetUID()] = asked
	return asked.rules, nil
}

func (r *related) forget(parent *unstructured.Unstructured) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.answers, parent.GetUID())
}

func (r *related) readRule(wire metacontroller.RelatedResourceRule) (rule, error) {
	k, err := r.kinds.find(wire.APIVersion, wire.Resource)
	if err != nil {
		return rule{}, err
	}
	matches, err := simulate.Selection(k.Kind, wire, r.inNamespace)
	return rule{wire, r.informers.of(k), matches}, err
}

// ready tells whether all is known that the rule looks at.
func (r *related) ready(rule *rule) error {
	if !rule.HasSynced() {
		return errNotSynced
	}
	if rule.NamespaceSelector == nil {
		return nil
	}
	namespaces, err := r.kinds.find("v1", "namespaces")
	if err != nil {
		return err
	}
	if !r.informers.of(namespaces).HasSynced() {
		return errNotSynced
	}
	return nil
}

// inNamespace is false for a namespace that is not there. That a namespace changes
// is no event, unless the hook asks for namespaces too.
func (r *related) inNamespace(selector labels.Selector, namespace string) bool {
	namespaces, err := r.kinds.find("v1", "namespaces")
	if err != nil {
		return false
	}
	object := r.informers.of(namespaces).get("", namespace)
	return object != nil && selector.Matches(labels.Set(object.GetLabels()))
}

// candidates are the objects among which the rule selects.
func (r *rule) candidates() []*unstructured.Unstructured {
	if r.kind.Namespaced {
		return r.list(r.Namespace)
	}
	return r.list("")
}

// watchRelated makes changes of related objects enqueue the parents that they are
// related to, as they were and as they are.
func (r *related) watchRelated(ctx context.Context, i *informer) {
	r.mu.Lock()
	watched := r.watched[i]
	r.watched[i] = true
	r.mu.Unlock()
	if watched {
		return
	}
	r.handle(i, cache.ResourceEventHandlerFuncs{
		AddFunc: func(o any) { r.changed(ctx, i, lastState(o)) },
		UpdateFunc: func(old, cur any) {
			if changed(old, cur) {
				r.changed(ctx, i, lastState(old), lastState(cur))
			}
		},
		DeleteFunc: func(o any) { r.changed(ctx, i, lastState(o)) },
	}, cache.HandlerOptions{})
}

// changed enqueues the parents that a state of the object is related to. A parent
// whose customize hook does not answer misses the event.
func (r *related) changed(ctx context.Context, i *informer, states ...*unstructured.Unstructured) {
	for _, p := range r.parents {
		for _, parent := range p.list("") {
			rules, err := r.rules(ctx, parent)
			if err != nil {
				r.log.Debug("a parent misses an event", "controller", r.name, "parent", simulate.Describe(parent), "error", err)
				continue
			}
			if isRelated(rules, i, states) {
				r.enqueue(p, parent)
			}
		}
	}
}

func isRelated(rules []rule, i *informer, states []*unstructured.Unstructured) bool {
	return slices.ContainsFunc(rules, func(r rule) bool {
		return r.informer == i && slices.ContainsFunc(states, r.matches)
	})
}
