package standin

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/dynamic/dynamicinformer"
	"k8s.io/client-go/tools/cache"
)

// byController is the index of objects by the uid of their controller; those
// without one are under the empty uid.
const byController = "controller"

// defaultResync is how often Metacontroller shows all objects to its handlers.
const defaultResync = 30 * time.Minute

// informer holds all objects of a kind and watches for changes. The objects are
// shared and must not be changed.
type informer struct {
	cache.SharedIndexInformer
	kind *kind
}

// informers are the informers of all controllers, one for each kind.
type informers struct {
	ctx     context.Context // of all watches
	client  dynamic.Interface
	log     *slog.Logger
	running sync.WaitGroup

	mu      sync.Mutex
	known   map[schema.GroupVersionResource]*informer
	started bool
}

func newInformers(ctx context.Context, client dynamic.Interface, log *slog.Logger) *informers {
	return &informers{ctx: ctx, client: client, log: log, known: map[schema.GroupVersionResource]*informer{}}
}

// of gives the informer of the kind. It runs at once if the others do.
func (s *informers) of(k *kind) *informer {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.known[k.gvr]; known != nil {
		return known
	}
	indexers := cache.Indexers{
		cache.NamespaceIndex: cache.MetaNamespaceIndexFunc,
		byController:         controllerUID,
	}
	shared := dynamicinformer.NewFilteredDynamicInformer(s.client, k.gvr, metav1.NamespaceAll, defaultResync, indexers, nil).Informer()
	// The error means that it runs already, which it does not.
	_ = shared.SetWatchErrorHandlerWithContext(func(_ context.Context, _ *cache.Reflector, err error) {
		s.log.Debug("watching broke off", "resource", k.Resource, "error", err)
	})
	i := &informer{shared, k}
	s.known[k.gvr] = i
	if s.started {
		s.run(i)
	}
	return i
}

// start runs all informers that were asked for so far.
func (s *informers) start() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.started = true
	for _, i := range s.known {
		s.run(i)
	}
}

func (s *informers) run(i *informer) {
	s.running.Go(func() { i.RunWithContext(s.ctx) })
}

// wait returns when all informers have ended, after their context has.
func (s *informers) wait() { s.running.Wait() }

// get gives an object, or nil.
func (i *informer) get(namespace, name string) *unstructured.Unstructured {
	object, found, err := i.GetStore().GetByKey(cache.NewObjectName(namespace, name).String())
	if err != nil || !found {
		return nil
	}
	return object.(*unstructured.Unstructured)
}

// list gives all objects, or those of a namespace.
func (i *informer) list(namespace string) []*unstructured.Unstructured {
	if namespace == "" {
		return asObjects(i.GetStore().List())
	}
	// The error means that there is no such index, which there is.
	objects, _ := i.GetIndexer().ByIndex(cache.NamespaceIndex, namespace)
	return asObjects(objects)
}

// claimable gives the objects that the parent is the controller of, and those that
// have no controller.
func (i *informer) claimable(parent *unstructured.Unstructured) []*unstructured.Unstructured {
	owned, _ := i.GetIndexer().ByIndex(byController, string(parent.GetUID()))
	orphans, _ := i.GetIndexer().ByIndex(byController, "")
	objects := asObjects(append(owned, orphans...))
	return slices.DeleteFunc(objects, func(o *unstructured.Unstructured) bool {
		return parent.GetNamespace() != "" && o.GetNamespace() != parent.GetNamespace()
	})
}

func controllerUID(object any) ([]string, error) {
	owner := metav1.GetControllerOfNoCopy(object.(*unstructured.Unstructured))
	if owner == nil {
		return []string{""}, nil
	}
	return []string{string(owner.UID)}, nil
}

func asObjects(list []any) []*unstructured.Unstructured {
	objects := make([]*unstructured.Unstructured, 0, len(list))
	for _, item := range list {
		objects = append(objects, item.(*unstructured.Unstructured))
	}
	return objects
}

// lastState gives the object of an event; of a deletion that was missed it is the
// last state that was seen.
func lastState(event any) *unstructured.Unstructured {
	if tombstone, missed := event.(cache.DeletedFinalStateUnknown); missed {
		event = tombstone.Obj
	}
	object, _ := event.(*unstructured.Unstructured)
	return object
}
