package simulate

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// Options say what a Cluster consists of.
type Options struct {
	// Kinds exist besides CoreKinds.
	Kinds []Kind
	// Controllers are CompositeControllers and DecoratorControllers, as in their
	// manifests. DecoratorControllers are asked first, else they keep their order.
	Controllers []*unstructured.Unstructured
	// Hooks answer the paths that the controllers name.
	Hooks []metacontroller.Hook
	// Now is the time of every call and of every object that is made.
	Now time.Time
	// OnCall, if set, is told every call with its request and response.
	OnCall func(path string, request, response []byte)
	// MaxRounds is the number of rounds after which Settle gives up, default 20.
	MaxRounds int
}

// Cluster holds objects and controllers. It is not safe for concurrent use.
type Cluster struct {
	options     Options
	kinds       []Kind
	controllers []controller
	shelves     map[Kind]*shelf
	customized  map[customizeKey][]metacontroller.RelatedResourceRule
	writes      []string
}

// Entry is an object of a Cluster and what was done to it.
type Entry struct {
	Object *unstructured.Unstructured
	// Made tells that a controller created it.
	Made bool
	// Owned tells that it is a child or an attachment of a parent.
	Owned bool
	// Decorated tells that a DecoratorController changed its labels or annotations.
	Decorated bool
}

// New makes a Cluster without objects.
func New(options Options) (*Cluster, error) {
	if options.MaxRounds == 0 {
		options.MaxRounds = 20
	}
	c := &Cluster{
		options:    options,
		kinds:      slices.Concat(CoreKinds(), options.Kinds),
		shelves:    map[Kind]*shelf{},
		customized: map[customizeKey][]metacontroller.RelatedResourceRule{},
	}
	for _, manifest := range options.Controllers {
		controller, err := c.readController(manifest)
		if err != nil {
			return nil, fmt.Errorf("reading %s %s: %w", manifest.GetKind(), manifest.GetName(), err)
		}
		c.controllers = append(c.controllers, controller)
	}
	slices.SortStableFunc(c.controllers, func(a, b controller) int {
		return cmp.Compare(a.rank(), b.rank())
	})
	return c, nil
}

// Advance lets time pass. Calls that a hook asked for after some time are made by the
// next Settle only.
func (c *Cluster) Advance(d time.Duration) { c.options.Now = c.options.Now.Add(d) }

// Now is the time of the next call.
func (c *Cluster) Now() time.Time { return c.options.Now }

// Put creates objects or replaces those of the same name, as a user would. What an
// API server fills in and the object lacks is filled in: a uid made from kind,
// namespace and name, the generation, and Now as creationTimestamp.
func (c *Cluster) Put(objects ...*unstructured.Unstructured) error {
	for _, object := range objects {
		if err := c.put(object); err != nil {
			return fmt.Errorf("putting %s: %w", Describe(object), err)
		}
	}
	return nil
}

func (c *Cluster) put(object *unstructured.Unstructured) error {
	kind, err := c.kindOf(object)
	if err != nil {
		return err
	}
	content, err := JSONObject(object.Object)
	if err != nil {
		return err
	}
	object = &unstructured.Unstructured{Object: content}
	if old := c.shelf(kind).get(object.GetNamespace(), object.GetName()); old != nil {
		keepSystemFields(old.object, object)
	}
	_, err = c.store(kind, object)
	return err
}

// Delete removes an object, and with it all that it is the controller of.
func (c *Cluster) Delete(apiVersion, kind, namespace, name string) {
	for _, k := range c.kinds {
		if k.APIVersion != apiVersion || k.Kind != kind {
			continue
		}
		if old := c.shelf(k).get(namespace, name); old != nil {
			c.shelf(k).remove(namespace, name)
			c.collectGarbage(old.object)
		}
	}
}

func (c *Cluster) collectGarbage(owner *unstructured.Unstructured) {
	for _, kind := range c.kinds {
		for _, e := range slices.Clone(c.shelf(kind).list()) {
			if isControlledBy(e.object, owner) {
				c.shelf(kind).remove(e.object.GetNamespace(), e.object.GetName())
				c.collectGarbage(e.object)
			}
		}
	}
}

// Get gives a copy of an object, or nil.
func (c *Cluster) Get(apiVersion, kind, namespace, name string) *unstructured.Unstructured {
	for _, k := range c.kinds {
		if k.APIVersion != apiVersion || k.Kind != kind {
			continue
		}
		if e := c.shelf(k).get(namespace, name); e != nil {
			return e.object.DeepCopy()
		}
	}
	return nil
}

// Writes gives the writes of the controllers so far, one line each, in order:
// "create v1 Service ingress-nginx/nginx-stream-tcp".
func (c *Cluster) Writes() []string { return slices.Clone(c.writes) }

// Entries gives copies of all objects in the order of kinds as they were given,
// then namespace and name.
func (c *Cluster) Entries() []Entry {
	parents := c.parentUIDs()
	var entries []Entry
	for _, kind := range c.kinds {
		for _, e := range c.shelf(kind).list() {
			owner := metav1.GetControllerOfNoCopy(e.object)
			entries = append(entries, Entry{
				Object:    e.object.DeepCopy(),
				Made:      e.made,
				Owned:     owner != nil && parents[owner.UID],
				Decorated: e.decorated,
			})
		}
	}
	return entries
}

// parentUIDs are the uids of the objects that may own children.
func (c *Cluster) parentUIDs() map[types.UID]bool {
	uids := map[types.UID]bool{}
	for _, ctl := range c.controllers {
		for _, parents := range ctl.parents {
			for _, e := range c.shelf(parents.kind).list() {
				uids[e.object.GetUID()] = true
			}
		}
	}
	return uids
}

// Describe names an object for a message: "v1 Service data/redis".
func Describe(o *unstructured.Unstructured) string {
	return fmt.Sprintf("%s %s %s", o.GetAPIVersion(), o.GetKind(), QualifiedName(o))
}

// QualifiedName is the key of an object in a request of version v2.
func QualifiedName(o *unstructured.Unstructured) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}
