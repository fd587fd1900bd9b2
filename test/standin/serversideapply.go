package standin

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// serverSideApply lets the API server merge. It applies only if what is desired, or
// the object, is not as it was after the last time.
type serverSideApply struct {
	*StandIn
	mu   sync.Mutex
	last map[objectName]applied
}

type objectName struct {
	schema.GroupVersionResource
	namespace, name string
}

// applied is what was applied last, and the object that resulted.
type applied struct {
	desired         [sha256.Size]byte
	uid             types.UID
	generation      int64
	resourceVersion string
}

func newServerSideApply(s *StandIn) *serverSideApply {
	return &serverSideApply{StandIn: s, last: map[objectName]applied{}}
}

func nameOf(k *kind, object *unstructured.Unstructured) objectName {
	return objectName{k.gvr, object.GetNamespace(), object.GetName()}
}

func (a *serverSideApply) apply(ctx context.Context, o operation) error {
	if o.observed != nil && o.observed.GetDeletionTimestamp() != nil {
		return nil
	}
	addOwner(o.desired, o.parent)
	ours(o.desired)
	patch, err := json.Marshal(o.desired)
	if err != nil {
		return fmt.Errorf("encoding object: %w", err)
	}
	sum := sha256.Sum256(patch)
	if o.observed != nil {
		if a.same(o.child.kind, o.observed, sum) {
			return nil
		}
		goOn, err := a.beforeUpdate(ctx, o, sum)
		if err != nil || !goOn {
			return err
		}
	}
	a.log.Info("applying", "object", simulate.Describe(o.desired))
	result, err := a.patch(ctx, o, types.ApplyPatchType, patch, metav1.PatchOptions{FieldManager: fieldManager, Force: new(true)})
	if apierrors.IsConflict(err) {
		a.log.Info("the object has changed meanwhile", "object", simulate.Describe(o.desired))
		return nil
	}
	if err != nil {
		return err
	}
	a.remember(o.child.kind, result, sum)
	return nil
}

// beforeUpdate does what the method of the child asks for, and tells whether the
// observed object is to be updated.
func (a *serverSideApply) beforeUpdate(ctx context.Context, o operation, sum [sha256.Size]byte) (bool, error) {
	switch o.child.method {
	case simulate.MethodInPlace:
		return a.dropAnnotation(ctx, o)
	case simulate.MethodRecreate:
		return false, fmt.Errorf("update method %s is not played with %s", simulate.MethodRecreate, ServerSideApply)
	default:
		a.remember(o.child.kind, o.observed, sum)
		return false, nil
	}
}

// dropAnnotation removes what dynamic-apply left behind.
func (a *serverSideApply) dropAnnotation(ctx context.Context, o operation) (bool, error) {
	if _, has := o.observed.GetAnnotations()[simulate.LastAppliedAnnotation]; !has {
		return true, nil
	}
	path := "/metadata/annotations/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(simulate.LastAppliedAnnotation)
	patch, err := json.Marshal([]map[string]string{{"op": "remove", "path": path}})
	if err != nil {
		return false, fmt.Errorf("encoding patch: %w", err)
	}
	_, err = a.patch(ctx, o, types.JSONPatchType, patch, metav1.PatchOptions{})
	return err == nil, ignoreNotFound(err)
}

func (a *serverSideApply) patch(ctx context.Context, o operation, patchType types.PatchType, patch []byte, options metav1.PatchOptions) (*unstructured.Unstructured, error) {
	a.counters.wrote("patch", o.child.kind.Resource)
	return a.clientOf(o.child.kind, o.desired).Patch(ctx, o.desired.GetName(), patchType, patch, options)
}

// same tells whether nothing has to be applied. A kind whose generation is not
// counted changes its resourceVersion with every write of anybody.
func (a *serverSideApply) same(k *kind, observed *unstructured.Unstructured, sum [sha256.Size]byte) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	last, found := a.last[nameOf(k, observed)]
	return found && last.uid == observed.GetUID() && last.desired == sum &&
		last.generation == observed.GetGeneration() &&
		(observed.GetGeneration() != 0 || last.resourceVersion == observed.GetResourceVersion())
}

func (a *serverSideApply) remember(k *kind, result *unstructured.Unstructured, sum [sha256.Size]byte) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.last[nameOf(k, result)] = applied{sum, result.GetUID(), result.GetGeneration(), result.GetResourceVersion()}
}

func (a *serverSideApply) forget(k *kind, object *unstructured.Unstructured) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.last, nameOf(k, object))
}

// ours drops from a desired object what is not for a hook to say.
func ours(object *unstructured.Unstructured) {
	unstructured.RemoveNestedField(object.Object, "status")
	for _, field := range []string{
		"selfLink", "uid", "resourceVersion", "generation", "creationTimestamp",
		"deletionTimestamp", "deletionGracePeriodSeconds", "managedFields",
	} {
		unstructured.RemoveNestedField(object.Object, "metadata", field)
	}
	unstructured.RemoveNestedField(object.Object, "metadata", "annotations", simulate.LastAppliedAnnotation)
}
