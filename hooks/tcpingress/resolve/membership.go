package resolve

import (
	"slices"
	"strings"
)

// gatherMembers finds the TCPIngresses of the class. One that is being deleted
// holds nothing.
func gatherMembers(r *run) {
	homes := newHomes(r.world)
	r.members = make([]member, 0, len(r.world.Ingresses))
	for i := range r.world.Ingresses {
		in := &r.world.Ingresses[i]
		if in.Deleting || in.Spec == nil || homes.of(in) != r.class {
			continue
		}
		r.members = append(r.members, member{Ingress: in, key: in.Namespace + "/" + in.Name})
	}
	slices.SortFunc(r.members, func(a, b member) int { return compareAge(a.Ingress, b.Ingress) })
	for i := range r.members {
		r.members[i].id = int32(i)
	}
}

// homes tells to which class a TCPIngress belongs.
type homes struct {
	classes map[string]*Class
	// holders are the classes whose book holds a TCPIngress without a class name.
	holders map[string][]*Class
	// fallback is the default class, or "".
	fallback string
}

func newHomes(w *World) *homes {
	h := &homes{classes: make(map[string]*Class, len(w.Classes)), holders: map[string][]*Class{}}
	var first *Class
	for i := range w.Classes {
		c := &w.Classes[i]
		h.classes[c.Name] = c
		if c.Default && !c.Deleting && (first == nil || olderClass(c, first)) {
			first = c
		}
	}
	if first != nil {
		h.fallback = first.Name
	}
	for i := range w.Ingresses {
		if in := &w.Ingresses[i]; in.Spec != nil && in.Spec.IngressClassName == "" {
			h.holders[in.Namespace+"/"+in.Name] = nil
		}
	}
	if len(h.holders) > 0 {
		h.readBooks(w)
	}
	return h
}

func (h *homes) readBooks(w *World) {
	for i := range w.Classes {
		c := &w.Classes[i]
		for _, holder := range c.Listeners {
			h.note(ingressOfHolder(holder), c)
		}
		for j := range c.Ranges {
			h.note(ingressOfHolder(c.Ranges[j].Holder), c)
		}
	}
}

func (h *homes) note(key string, c *Class) {
	seen, classless := h.holders[key]
	if classless && !slices.Contains(seen, c) {
		h.holders[key] = append(seen, c)
	}
}

// of gives the class of a TCPIngress. One that names none stays where it holds
// ports, else where it was; the default decides only for new ones.
func (h *homes) of(in *Ingress) string {
	if in.Spec.IngressClassName != "" {
		return in.Spec.IngressClassName
	}
	if held := h.holders[in.Namespace+"/"+in.Name]; len(held) > 0 {
		oldest := held[0]
		for _, c := range held {
			if c.Name == in.StatusClass {
				return c.Name
			}
			if olderClass(c, oldest) {
				oldest = c
			}
		}
		return oldest.Name
	}
	if c := h.classes[in.StatusClass]; c != nil && !c.Deleting {
		return c.Name
	}
	return h.fallback
}

// olderClass puts classes in the order in which they count as the default.
func olderClass(a, b *Class) bool {
	if d := a.Created.Compare(b.Created); d != 0 {
		return d < 0
	}
	return strings.Compare(a.Name, b.Name) < 0
}
