package standin

import (
	"context"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// dynamicApply merges on this side and writes whole objects. What was applied is
// remembered in an annotation.
type dynamicApply struct{ *StandIn }

func (a *dynamicApply) apply(ctx context.Context, o operation) error {
	if o.observed == nil {
		return a.create(ctx, o)
	}
	content, err := simulate.Apply(o.observed.Object, o.desired.Object)
	if err != nil {
		return err
	}
	if reflect.DeepEqual(content, o.observed.Object) || o.observed.GetDeletionTimestamp() != nil {
		return nil
	}
	switch o.child.method {
	case simulate.MethodInPlace:
		return a.replace(ctx, o, &unstructured.Unstructured{Object: content})
	case simulate.MethodRecreate:
		return a.delete(ctx, o.child.kind, o.observed)
	default:
		return nil
	}
}

// create does nothing where an object of that name is there already: nobody is told
// but the log.
func (a *dynamicApply) create(ctx context.Context, o operation) error {
	content, err := simulate.Create(o.desired.Object)
	if err != nil {
		return err
	}
	object := &unstructured.Unstructured{Object: content}
	addOwner(object, o.parent)
	a.log.Info("creating", "object", simulate.Describe(object))
	a.counters.wrote("create", o.child.kind.Resource)
	_, err = a.clientOf(o.child.kind, object).Create(ctx, object, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		a.log.Info("the object exists already", "object", simulate.Describe(object))
		return nil
	}
	return err
}

// replace swallows the error that somebody else was faster: the next event calls
// the hook again.
func (a *dynamicApply) replace(ctx context.Context, o operation, object *unstructured.Unstructured) error {
	a.log.Info("updating", "object", simulate.Describe(object))
	a.counters.wrote("update", o.child.kind.Resource)
	_, err := a.clientOf(o.child.kind, object).Update(ctx, object, metav1.UpdateOptions{})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		a.log.Info("the object has changed meanwhile", "object", simulate.Describe(object))
		return nil
	}
	return err
}

func (a *dynamicApply) forget(*kind, *unstructured.Unstructured) {}
