package standin

import (
	"cmp"
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// fieldManager is the name that Metacontroller writes under.
const fieldManager = "metacontroller"

// applier creates and updates children.
type applier interface {
	// apply makes the object as desired; observed is nil if it is not a child yet.
	// It may change desired.
	apply(ctx context.Context, operation operation) error
	// forget is told that the object is deleted.
	forget(k *kind, object *unstructured.Unstructured)
}

type operation struct {
	child                     child
	parent, observed, desired *unstructured.Unstructured
}

// decodeChildren gives the desired objects of a response by kind and name; a
// missing namespace becomes the parent's. Of two with one name the later counts.
func (c *controller) decodeChildren(parent *unstructured.Unstructured, list []stdjson.RawMessage) (simulate.ObjectMap, error) {
	desired := simulate.ObjectMap{}
	for _, encoded := range list {
		object := &unstructured.Unstructured{}
		if err := json.Unmarshal(encoded, &object.Object); err != nil {
			return nil, fmt.Errorf("decoding child: %w", err)
		}
		child, err := c.childOf(object)
		if err != nil {
			return nil, err
		}
		if object.GetNamespace() == "" && parent.GetNamespace() != "" {
			object.SetNamespace(parent.GetNamespace())
		}
		desired.Insert(child.kind.Kind, object)
	}
	return desired, nil
}

// manage deletes observed children that are not desired, and creates or updates
// those that are. A failure of one does not keep it from the others. Children of a
// parent that is being deleted are left to the garbage collector.
func (c *controller) manage(ctx context.Context, parent *unstructured.Unstructured, observed, desired simulate.ObjectMap) error {
	if parent.GetDeletionTimestamp() != nil {
		return nil
	}
	children := slices.SortedFunc(slices.Values(c.children), func(a, b child) int {
		return cmp.Or(cmp.Compare(a.kind.APIVersion, b.kind.APIVersion), cmp.Compare(a.kind.Kind.Kind, b.kind.Kind.Kind))
	})
	var errs []error
	for _, child := range children {
		want := desired[child.kind.WireGroup()]
		for name, object := range ordered(observed[child.kind.WireGroup()]) {
			if want[name] == nil && object.GetDeletionTimestamp() == nil {
				if err := c.delete(ctx, child.kind, object); err != nil {
					errs = append(errs, fmt.Errorf("deleting %s: %w", simulate.Describe(object), err))
				}
			}
		}
	}
	for _, child := range children {
		have := observed[child.kind.WireGroup()]
		for name, object := range ordered(desired[child.kind.WireGroup()]) {
			if err := c.applier.apply(ctx, operation{child, parent, have[name], object}); err != nil {
				errs = append(errs, fmt.Errorf("applying %s: %w", simulate.Describe(object), err))
			}
		}
	}
	return errors.Join(errs...)
}

// ordered goes over the objects by name, so that every run does the same.
func ordered(objects map[string]*unstructured.Unstructured) func(yield func(string, *unstructured.Unstructured) bool) {
	return func(yield func(string, *unstructured.Unstructured) bool) {
		for _, name := range slices.Sorted(maps.Keys(objects)) {
			if !yield(name, objects[name]) {
				return
			}
		}
	}
}

// delete deletes the very object that was observed, and what it owns later.
func (s *StandIn) delete(ctx context.Context, k *kind, object *unstructured.Unstructured) error {
	s.log.Info("deleting", "object", simulate.Describe(object))
	s.counters.wrote("delete", k.Resource)
	err := s.clientOf(k, object).Delete(ctx, object.GetName(), metav1.DeleteOptions{
		Preconditions:     &metav1.Preconditions{UID: new(object.GetUID())},
		PropagationPolicy: new(metav1.DeletePropagationBackground),
	})
	if err := ignoreNotFound(err); err != nil {
		return err
	}
	s.applier.forget(k, object)
	return nil
}
