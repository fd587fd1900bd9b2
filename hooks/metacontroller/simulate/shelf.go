package simulate

import (
	"cmp"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// shelf holds the objects of one kind.
type shelf struct {
	entries map[name]*entry
	// sorted by namespace and name; nil while it has to be made again.
	sorted []*entry
}

type entry struct {
	object          *unstructured.Unstructured
	made, decorated bool
}

type name struct{ namespace, name string }

func (c *Cluster) shelf(kind Kind) *shelf {
	if c.shelves[kind] == nil {
		c.shelves[kind] = &shelf{entries: map[name]*entry{}}
	}
	return c.shelves[kind]
}

func (s *shelf) get(namespace, objectName string) *entry {
	return s.entries[name{namespace, objectName}]
}

// list gives the entries in order. Entries may be put while it is walked; they do
// not come up in that walk.
func (s *shelf) list() []*entry {
	if s.sorted == nil {
		names := slices.SortedFunc(maps.Keys(s.entries), func(a, b name) int {
			return cmp.Or(cmp.Compare(a.namespace, b.namespace), cmp.Compare(a.name, b.name))
		})
		s.sorted = make([]*entry, 0, len(names))
		for _, n := range names {
			s.sorted = append(s.sorted, s.entries[n])
		}
	}
	return s.sorted
}

func (s *shelf) put(object *unstructured.Unstructured) *entry {
	n := name{object.GetNamespace(), object.GetName()}
	if old := s.entries[n]; old != nil {
		old.object = object
		return old
	}
	s.entries[n] = &entry{object: object}
	s.sorted = nil
	return s.entries[n]
}

func (s *shelf) remove(namespace, objectName string) {
	delete(s.entries, name{namespace, objectName})
	s.sorted = nil
}
