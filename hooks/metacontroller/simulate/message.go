package simulate

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// ObjectMap is how objects are sent: by kind, then by "namespace/name".
type ObjectMap map[string]map[string]*unstructured.Unstructured

// Open makes the group exist, also if it stays empty.
func (m ObjectMap) Open(kind Kind) {
	if m[kind.WireGroup()] == nil {
		m[kind.WireGroup()] = map[string]*unstructured.Unstructured{}
	}
}

// Insert adds an object of that kind.
func (m ObjectMap) Insert(kind Kind, object *unstructured.Unstructured) {
	m.Open(kind)
	m[kind.WireGroup()][QualifiedName(object)] = object
}

// CustomizeRequest is the body of a customize call of hook version v2.
type CustomizeRequest struct {
	Controller *unstructured.Unstructured `json:"controller"`
	Parent     *unstructured.Unstructured `json:"parent"`
}

// CompositeRequest is the body of a CompositeController's sync call.
type CompositeRequest struct {
	Controller *unstructured.Unstructured `json:"controller"`
	Parent     *unstructured.Unstructured `json:"parent"`
	Children   ObjectMap                  `json:"children"`
	Related    ObjectMap                  `json:"related"`
	Finalizing bool                       `json:"finalizing"`
}

// DecoratorRequest is the body of a DecoratorController's sync call.
type DecoratorRequest struct {
	Controller  *unstructured.Unstructured `json:"controller"`
	Object      *unstructured.Unstructured `json:"object"`
	Attachments ObjectMap                  `json:"attachments"`
	Related     ObjectMap                  `json:"related"`
	Finalizing  bool                       `json:"finalizing"`
}

// CustomizeResponse is the answer to a CustomizeRequest; like the others it is to
// be decoded strictly, as Metacontroller does.
type CustomizeResponse struct {
	RelatedResources []metacontroller.RelatedResourceRule `json:"relatedResources"`
}

// CompositeResponse is the answer to a CompositeRequest.
type CompositeResponse struct {
	Status             json.RawMessage   `json:"status"`
	Children           []json.RawMessage `json:"children"`
	ResyncAfterSeconds float64           `json:"resyncAfterSeconds"`
	Finalized          bool              `json:"finalized"`
}

// DecoratorResponse is the answer to a DecoratorRequest.
type DecoratorResponse struct {
	Labels             map[string]*string `json:"labels"`
	Annotations        map[string]*string `json:"annotations"`
	Attachments        []json.RawMessage  `json:"attachments"`
	ResyncAfterSeconds float64            `json:"resyncAfterSeconds"`
	Finalized          bool               `json:"finalized"`
}
