package metacontroller

import (
	"bytes"
	"errors"
	"io"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Sync is a request as a hook wants it decoded.
type Sync struct {
	// Parent is decoded into; its kind must be ParentKind of ParentAPIVersion.
	Parent                       Object
	ParentAPIVersion, ParentKind string
	// Children (attachments) and Related list the groups that must be there. A
	// group of another kind with at least one object is a BadRequest.
	Children, Related []Group
}

// DecodeComposite reads a sync or finalize request of a CompositeController into s.
func DecodeComposite(body []byte, s *Sync) (finalizing bool, err error) {
	return decode(body, s, wireNames{parent: "parent", children: "children", related: "related"})
}

// DecodeDecorator reads a sync or finalize request of a DecoratorController into s.
func DecodeDecorator(body []byte, s *Sync) (finalizing bool, err error) {
	return decode(body, s, wireNames{parent: "object", children: "attachments", related: "related"})
}

// DecodeCustomize reads a customize request into parent.
func DecodeCustomize(body []byte, parent Object, apiVersion, kind string) error {
	s := Sync{Parent: parent, ParentAPIVersion: apiVersion, ParentKind: kind}
	_, err := decode(body, &s, wireNames{parent: "parent"})
	return err
}

// wireNames are the members of the body that are read; the others are skipped.
type wireNames struct{ parent, children, related string }

func decode(body []byte, s *Sync, names wireNames) (finalizing bool, err error) {
	// Given a bytes.Buffer, the decoder works on the body itself without a copy.
	r := reader{dec: jsontext.NewDecoder(bytes.NewBuffer(body)), sync: s, names: names}
	if err := r.read(); err != nil {
		return false, explain(err)
	}
	if err := r.check(); err != nil {
		return false, err
	}
	return r.finalizing, nil
}

// reader goes over a body once.
type reader struct {
	dec                       *jsontext.Decoder
	sync                      *Sync
	names                     wireNames
	finalizing, parentSeen    bool
	childrenSeen, relatedSeen []bool
}

func (r *reader) read() error {
	if r.dec.PeekKind() == jsontext.KindInvalid {
		_, err := r.dec.ReadToken()
		return err
	}
	err := r.members("the body", r.member)
	if err != nil {
		return err
	}
	end := r.dec.InputOffset()
	switch _, err := r.dec.ReadToken(); {
	case errors.Is(err, io.EOF):
		return nil
	case err == nil:
		return badRequest("the body goes on after its JSON object, at byte %d", end)
	default:
		return err
	}
}

// members reads an object and calls read at the value of each member.
func (r *reader) members(what string, read func(name string) error) error {
	tok, err := r.dec.ReadToken()
	if err != nil {
		return err
	}
	if tok.Kind() != jsontext.KindBeginObject {
		return badRequest("%s is no JSON object but %s", what, jsonWord(tok.Kind()))
	}
	for {
		tok, err := r.dec.ReadToken()
		if err != nil {
			return err
		}
		if tok.Kind() == jsontext.KindEndObject {
			return nil
		}
		if err := read(tok.String()); err != nil {
			return err
		}
	}
}

func (r *reader) member(name string) (err error) {
	switch name {
	case "":
		return r.dec.SkipValue()
	case r.names.parent:
		return r.parent()
	case r.names.children:
		r.childrenSeen, err = r.groups(name, r.sync.Children)
		return err
	case r.names.related:
		r.relatedSeen, err = r.groups(name, r.sync.Related)
		return err
	case "finalizing":
		return json.UnmarshalDecode(r.dec, &r.finalizing)
	default:
		return r.dec.SkipValue()
	}
}

func (r *reader) parent() error {
	if r.dec.PeekKind() == jsontext.KindNull {
		return r.dec.SkipValue()
	}
	r.parentSeen = true
	return json.UnmarshalDecode(r.dec, r.sync.Parent)
}

// groups reads the objects of all groups, and tells which ones were there.
func (r *reader) groups(where string, groups []Group) (seen []bool, err error) {
	if r.dec.PeekKind() == jsontext.KindNull {
		return nil, r.dec.SkipValue()
	}
	seen = make([]bool, len(groups))
	err = r.members(where, func(name string) error {
		if r.dec.PeekKind() == jsontext.KindNull {
			return r.dec.SkipValue()
		}
		for i := range groups {
			if groups[i].wireName() == name {
				seen[i] = true
				return r.group(where, &groups[i])
			}
		}
		return r.unknownGroup(where, name)
	})
	return seen, err
}

// group reads the objects of one group. What the keys say is ignored: they differ
// between the versions of the protocol.
func (r *reader) group(where string, g *Group) error {
	tok, err := r.dec.ReadToken()
	if err != nil {
		return err
	}
	if tok.Kind() != jsontext.KindBeginObject {
		return badRequest("the group %s of %s is no JSON object but %s", g.wireName(), where, jsonWord(tok.Kind()))
	}
	for {
		tok, err := r.dec.ReadToken()
		if err != nil {
			return err
		}
		if tok.Kind() == jsontext.KindEndObject {
			return nil
		}
		if r.dec.PeekKind() == jsontext.KindNull {
			return badRequest("the object %s is null", pointer(r.dec.StackPointer()))
		}
		id, err := g.read(r.dec)
		if err != nil {
			return err
		}
		if id.APIVersion != g.apiVersion || id.Kind != g.kind {
			return badRequest("the group %s of %s holds an object of another kind: %s", g.wireName(), where, id)
		}
		if id.Name == "" {
			return badRequest("the group %s of %s holds an object without metadata.name", g.wireName(), where)
		}
	}
}

func (r *reader) unknownGroup(where, name string) error {
	return r.members("the group "+quote(name)+" of "+where, func(string) error {
		return badRequest("%s has objects in the group %s, which this hook does not read", where, quote(name))
	})
}

// check judges the request as a whole.
func (r *reader) check() error {
	if !r.parentSeen {
		return badRequest("the request has no %s", r.names.parent)
	}
	s := r.sync
	id := s.Parent.Identity()
	if id.APIVersion != s.ParentAPIVersion || id.Kind != s.ParentKind {
		return badRequest("the %s is of another kind than %s %s: %s", r.names.parent, s.ParentAPIVersion, s.ParentKind, id)
	}
	if id.Name == "" {
		return badRequest("the %s has no metadata.name", r.names.parent)
	}
	if err := checkGroups(r.names.children, s.Children, r.childrenSeen); err != nil {
		return err
	}
	return checkGroups(r.names.related, s.Related, r.relatedSeen)
}

func checkGroups(where string, groups []Group, seen []bool) error {
	for i := range groups {
		g := &groups[i]
		present := seen != nil && seen[i]
		if g.seen != nil {
			*g.seen = present
		} else if !present {
			return &MissingGroup{Where: where, Group: g.wireName()}
		}
		if twice := g.sort(); twice != nil {
			return badRequest("%s has two objects of one name: %s", where, *twice)
		}
	}
	return nil
}
