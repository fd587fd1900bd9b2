package simulate

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Settle lets every controller sync each of its parents, in the order of namespace
// and name, and again until a whole round wrote nothing. It gives the number of
// rounds, the quiet one included. Calls that a hook asks for after some time
// (resyncAfterSeconds) are not made: no time passes here.
func (c *Cluster) Settle() (rounds int, err error) {
	for round := 1; ; round++ {
		before := len(c.writes)
		if err := c.round(); err != nil {
			return round, err
		}
		if len(c.writes) == before {
			return round, nil
		}
		if round == c.options.MaxRounds {
			return round, fmt.Errorf("the controllers do not settle; the last of %d rounds wrote: %s",
				round, strings.Join(c.writes[before:], ", "))
		}
	}
}

func (c *Cluster) round() error {
	for i := range c.controllers {
		ctl := &c.controllers[i]
		for _, parents := range ctl.parents {
			for _, parent := range slices.Clone(c.shelf(parents.kind).list()) {
				gone := c.shelf(parents.kind).get(parent.object.GetNamespace(), parent.object.GetName()) != parent
				if gone || !parents.selector.Matches(parent.object) {
					continue
				}
				if err := c.syncParent(ctl, parents.kind, parent.object); err != nil {
					return fmt.Errorf("syncing %s with %s: %w", Describe(parent.object), ctl.name, err)
				}
			}
		}
	}
	return nil
}

func (c *Cluster) syncParent(ctl *controller, kind Kind, parent *unstructured.Unstructured) error {
	if ctl.decorator {
		return c.syncDecorated(ctl, kind, parent)
	}
	return c.syncComposite(ctl, kind, parent)
}

// wrote notes a write of a controller.
func (c *Cluster) wrote(verb string, object *unstructured.Unstructured) {
	c.writes = append(c.writes, verb+" "+Describe(object))
}
