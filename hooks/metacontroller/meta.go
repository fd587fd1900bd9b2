package metacontroller

import "time"

// Identity is what an object says of itself.
type Identity struct {
	APIVersion, Kind, Namespace, Name string
}

// String gives the object as a message names it: "v1 Service data/redis".
func (id Identity) String() string {
	name := id.Name
	if id.Namespace != "" {
		name = id.Namespace + "/" + name
	}
	return plain(id.APIVersion + " " + id.Kind + " " + name)
}

// Object is anything that a hook reads.
type Object interface {
	Identity() Identity
}

// Meta makes a struct that embeds it an Object. A hook declares only what it looks at:
//
//	type service struct {
//		metacontroller.Meta
//		Spec struct{ Ports []corev1.ServicePort `json:"ports"` } `json:"spec"`
//	}
type Meta struct {
	TypeMeta
	ObjectMeta `json:"metadata"`
}

// Identity implements Object.
func (m *Meta) Identity() Identity { return identity(&m.TypeMeta, &m.BareObjectMeta) }

// LabeledMeta is Meta without annotations, which are often larger than the rest.
type LabeledMeta struct {
	TypeMeta
	LabeledObjectMeta `json:"metadata"`
}

// Identity implements Object.
func (m *LabeledMeta) Identity() Identity { return identity(&m.TypeMeta, &m.BareObjectMeta) }

// BareMeta is Meta without labels and annotations.
type BareMeta struct {
	TypeMeta
	BareObjectMeta `json:"metadata"`
}

// Identity implements Object.
func (m *BareMeta) Identity() Identity { return identity(&m.TypeMeta, &m.BareObjectMeta) }

// TypeMeta is the kind of an object.
type TypeMeta struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
}

// BareObjectMeta is what of an object's metadata every hook may need. Owner
// references and managed fields are left out, so that they cost next to nothing.
type BareObjectMeta struct {
	Namespace         string     `json:"namespace"`
	Name              string     `json:"name"`
	UID               string     `json:"uid"`
	Generation        int64      `json:"generation"`
	CreationTimestamp time.Time  `json:"creationTimestamp"`
	DeletionTimestamp *time.Time `json:"deletionTimestamp"`
}

// LabeledObjectMeta is BareObjectMeta with labels.
type LabeledObjectMeta struct {
	BareObjectMeta
	Labels map[string]string `json:"labels"`
}

// ObjectMeta is BareObjectMeta with labels and annotations.
type ObjectMeta struct {
	BareObjectMeta
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
}

func identity(t *TypeMeta, m *BareObjectMeta) Identity {
	return Identity{APIVersion: t.APIVersion, Kind: t.Kind, Namespace: m.Namespace, Name: m.Name}
}
