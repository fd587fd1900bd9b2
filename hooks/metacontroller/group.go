package metacontroller

import (
	"cmp"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Group reads the objects of one kind out of a request. Make it with Into or
// IntoTyped, for one request each.
type Group struct {
	apiVersion, kind string
	// read decodes one more object and tells what it is.
	read func(*jsontext.Decoder) (Identity, error)
	// seen makes the group optional, and tells that it was there.
	seen *bool
	// sort puts the objects in order, and gives one that is there twice.
	sort func() (twice *Identity)
}

// Into makes a Group that appends the objects of that kind to list, in the order
// of namespace and name.
func Into[T any, P interface {
	*T
	Object
}](apiVersion, kind string, list *[]T) Group {
	return into(apiVersion, kind, list,
		func(dec *jsontext.Decoder, t *T) error { return json.UnmarshalDecode(dec, t) },
		func(t *T) Identity { return P(t).Identity() })
}

// Optional makes a group that a request may lack, for a hook that asks for it in
// some cases only. The hook must look at seen: an absent group does not mean that
// there are no such objects.
func Optional(g Group, seen *bool) Group {
	g.seen = seen
	return g
}

// IntoTyped is Into for the types of Kubernetes' own packages. Their objects are
// whole, less metadata.managedFields; a type that has only the fields that the
// hook looks at is read much faster.
func IntoTyped[T any, P interface {
	*T
	Typed
}](apiVersion, kind string, list *[]T) Group {
	return into(apiVersion, kind, list,
		func(dec *jsontext.Decoder, t *T) error { return decodeTyped(dec, t) },
		func(t *T) Identity { return identityOf(P(t)) })
}

func into[T any](
	apiVersion, kind string, list *[]T,
	decode func(*jsontext.Decoder, *T) error, identity func(*T) Identity,
) Group {
	compare := func(a, b T) int { return identity(&a).compare(identity(&b)) }
	return Group{
		apiVersion: apiVersion,
		kind:       kind,
		read: func(dec *jsontext.Decoder) (Identity, error) {
			var zero T
			*list = append(*list, zero)
			t := &(*list)[len(*list)-1]
			if err := decode(dec, t); err != nil {
				return Identity{}, err
			}
			return identity(t), nil
		},
		sort: func() *Identity {
			// Metacontroller's keys are sorted, so this is the usual case.
			if !slices.IsSortedFunc(*list, compare) {
				slices.SortFunc(*list, compare)
			}
			for i := 1; i < len(*list); i++ {
				if id := identity(&(*list)[i]); identity(&(*list)[i-1]).compare(id) == 0 {
					return &id
				}
			}
			return nil
		},
	}
}

// wireName gives the key of the group in a request.
func (g *Group) wireName() string { return g.kind + "." + g.apiVersion }

func (id Identity) compare(other Identity) int {
	return cmp.Or(cmp.Compare(id.Namespace, other.Namespace), cmp.Compare(id.Name, other.Name))
}
