package metacontroller

// Identity is what an object says of itself.
type Identity struct {
	APIVersion, Kind, Namespace, Name string
}

// Object is anything that a hook reads.
type Object interface {
	Identity() Identity
}

// Group reads the objects of one kind out of a request. Make it with Into.
type Group struct{}

// Into makes a Group that appends the objects of that kind to list, in the order
// of namespace and name.
func Into[T any, P interface {
	*T
	Object
}](apiVersion, kind string, list *[]T) Group {
	panic("TODO")
}

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
func DecodeComposite(body []byte, s *Sync) (finalizing bool, err error) { panic("TODO") }

// DecodeDecorator reads a sync or finalize request of a DecoratorController into s.
func DecodeDecorator(body []byte, s *Sync) (finalizing bool, err error) { panic("TODO") }

// DecodeCustomize reads a customize request into parent.
func DecodeCustomize(body []byte, parent Object, apiVersion, kind string) error { panic("TODO") }
