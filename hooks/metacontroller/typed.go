package metacontroller

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Typed is implemented by the types of Kubernetes' own packages and those made
// like them, such as *corev1.Service.
type Typed interface {
	GetObjectKind() schema.ObjectKind
	GetNamespace() string
	GetName() string
}

// TypedParent makes an Object of a Typed one, for Sync.Parent and DecodeCustomize:
// TypedParent(&service).
func TypedParent(object Typed) Object { return &typedParent{object} }

type typedParent struct{ object Typed }

// Identity implements Object.
func (p *typedParent) Identity() Identity { return identityOf(p.object) }

// UnmarshalJSONFrom implements json.UnmarshalerFrom.
func (p *typedParent) UnmarshalJSONFrom(dec *jsontext.Decoder) error {
	return decodeTyped(dec, p.object)
}

func identityOf(object Typed) Identity {
	apiVersion, kind := object.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	return Identity{APIVersion: apiVersion, Kind: kind, Namespace: object.GetNamespace(), Name: object.GetName()}
}

func decodeTyped(dec *jsontext.Decoder, object any) error {
	return json.UnmarshalDecode(dec, object, json.WithUnmarshalers(
		json.UnmarshalFromFunc(func(dec *jsontext.Decoder, _ *[]metav1.ManagedFieldsEntry) error {
			return dec.SkipValue()
		})))
}
