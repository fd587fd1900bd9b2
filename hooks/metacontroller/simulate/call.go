package simulate

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
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
