package simulate

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// objectMap is how objects are sent: by kind, then by "namespace/name".
type objectMap map[string]map[string]*unstructured.Unstructured

// open makes the group exist, also if it stays empty.
func (m objectMap) open(kind Kind) {
	if m[kind.WireGroup()] == nil {
		m[kind.WireGroup()] = map[string]*unstructured.Unstructured{}
	}
}

func (m objectMap) insert(kind Kind, object *unstructured.Unstructured) {
	m.open(kind)
	m[kind.WireGroup()][qualifiedName(object)] = object
}

// The requests of hook version v2.
type (
	customizeRequest struct {
		Controller *unstructured.Unstructured `json:"controller"`
		Parent     *unstructured.Unstructured `json:"parent"`
	}
	compositeRequest struct {
		Controller *unstructured.Unstructured `json:"controller"`
		Parent     *unstructured.Unstructured `json:"parent"`
		Children   objectMap                  `json:"children"`
		Related    objectMap                  `json:"related"`
		Finalizing bool                       `json:"finalizing"`
	}
	decoratorRequest struct {
		Controller *unstructured.Unstructured `json:"controller"`
		Object     *unstructured.Unstructured `json:"object"`
		Attachment objectMap                  `json:"attachments"`
		Related    objectMap                  `json:"related"`
		Finalizing bool                       `json:"finalizing"`
	}
)

// The responses, as strictly as Metacontroller reads them.
type (
	customizeResponse struct {
		RelatedResources []metacontroller.RelatedResourceRule `json:"relatedResources"`
	}
	compositeResponse struct {
		Status             stdjson.RawMessage   `json:"status"`
		Children           []stdjson.RawMessage `json:"children"`
		ResyncAfterSeconds float64              `json:"resyncAfterSeconds"`
		Finalized          bool                 `json:"finalized"`
	}
	decoratorResponse struct {
		Labels             map[string]*string   `json:"labels"`
		Annotations        map[string]*string   `json:"annotations"`
		Attachments        []stdjson.RawMessage `json:"attachments"`
		ResyncAfterSeconds float64              `json:"resyncAfterSeconds"`
		Finalized          bool                 `json:"finalized"`
	}
)

// call asks a hook over JSON, as it would be asked over HTTP.
func (c *Cluster) call(hook *metacontroller.Hook, request, response any) error {
	body, err := stdjson.Marshal(request)
	if err != nil {
		return fmt.Errorf("encoding request of %s: %w", hook.Path, err)
	}
	answer, err := hook.Serve(body, c.options.Now)
	if err != nil {
		return fmt.Errorf("calling %s: %w", hook.Path, err)
	}
	encoded, err := metacontroller.Encode(answer)
	if err != nil {
		return fmt.Errorf("answering %s: %w", hook.Path, err)
	}
	if c.options.OnCall != nil {
		c.options.OnCall(hook.Path, body, encoded)
	}
	decoder := stdjson.NewDecoder(bytes.NewReader(encoded))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(response); err != nil {
		return fmt.Errorf("decoding response of %s: %w", hook.Path, err)
	}
	return nil
}

// decodeChildren gives the desired objects of a response by kind and name; a
// missing namespace becomes the parent's.
func (c *Cluster) decodeChildren(ctl *controller, parent *unstructured.Unstructured, list []stdjson.RawMessage) (desiredChildren, error) {
	desired := desiredChildren{}
	for _, encoded := range list {
		object := &unstructured.Unstructured{}
		if err := json.Unmarshal(encoded, &object.Object); err != nil {
			return nil, fmt.Errorf("decoding child: %w", err)
		}
		kind, err := c.kindOf(object)
		if err != nil {
			return nil, fmt.Errorf("reading child %s: %w", object.GetName(), err)
		}
		if _, err := ctl.method(kind); err != nil {
			return nil, err
		}
		if object.GetNamespace() == "" && parent.GetNamespace() != "" {
			object.SetNamespace(parent.GetNamespace())
		}
		desired.insert(kind, object)
	}
	return desired, nil
}
