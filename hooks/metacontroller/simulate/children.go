package simulate

import (
	"errors"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// desiredChildren are the children that a hook wants, by kind and qualified name;
// of two with one name the later counts.
type desiredChildren map[Kind]map[string]*unstructured.Unstructured

func (d desiredChildren) insert(kind Kind, object *unstructured.Unstructured) {
	if d[kind] == nil {
		d[kind] = map[string]*unstructured.Unstructured{}
	}
	d[kind][QualifiedName(object)] = object
}

// all calls the function with every desired object.
func (d desiredChildren) all(f func(*unstructured.Unstructured)) {
	for _, objects := range d {
		for _, object := range objects {
			f(object)
		}
	}
}

// manage deletes observed children that are not desired, and creates or updates
// those that are. A failure of one does not keep it from the others.
func (c *Cluster) manage(ctl *controller, parent *unstructured.Unstructured, observed ObjectMap, desired desiredChildren) error {
	var errs []error
	for _, rule := range ctl.children {
		have, want := observed[rule.kind.WireGroup()], desired[rule.kind]
		for _, name := range sortedNames(have) {
			if want[name] == nil && have[name].GetDeletionTimestamp() == nil {
				c.wrote("delete", have[name])
				c.Delete(rule.kind.APIVersion, rule.kind.Kind, have[name].GetNamespace(), have[name].GetName())
			}
		}
		for _, name := range sortedNames(want) {
			if err := c.apply(rule, parent, have[name], want[name]); err != nil {
				errs = append(errs, fmt.Errorf("applying %s: %w", Describe(want[name]), err))
			}
		}
	}
	return errors.Join(errs...)
}

func (c *Cluster) apply(rule childRule, parent, observed, desired *unstructured.Unstructured) error {
	if observed == nil {
		return c.create(rule.kind, parent, desired)
	}
	content, err := Apply(observed.Object, desired.Object)
	if err != nil {
		return err
	}
	if reflect.DeepEqual(content, observed.Object) || observed.GetDeletionTimestamp() != nil {
		return nil
	}
	switch rule.method {
	case MethodInPlace:
		updated := &unstructured.Unstructured{Object: content}
		c.wrote("update", updated)
		_, err := c.store(rule.kind, updated)
		return err
	case MethodRecreate:
		c.wrote("delete", observed)
		c.Delete(rule.kind.APIVersion, rule.kind.Kind, observed.GetNamespace(), observed.GetName())
	}
	return nil
}

// create does nothing where an object of that name is there already: that error
// of the API server is swallowed.
func (c *Cluster) create(kind Kind, parent, desired *unstructured.Unstructured) error {
	if c.shelf(kind).get(desired.GetNamespace(), desired.GetName()) != nil {
		return nil
	}
	content, err := Create(desired.Object)
	if err != nil {
		return err
	}
	if kind.custom() {
		delete(content, "status")
	}
	created := withController(&unstructured.Unstructured{Object: content}, parent)
	e, err := c.store(kind, created)
	if err != nil {
		return err
	}
	e.made = true
	c.wrote("create", created)
	return nil
}
