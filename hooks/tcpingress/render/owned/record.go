package owned

import (
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// applied is a record that looks like the object itself.
type applied struct{ object map[string]any }

func decodeApplied(text string) applied {
	var object map[string]any
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		return applied{}
	}
	return applied{object}
}

func (a applied) has(path []string) bool { return has(a.object, path) }

func (a applied) hasPort(port int32, protocol corev1.Protocol) bool {
	spec, _ := a.object["spec"].(map[string]any)
	ports, _ := spec["ports"].([]any)
	for _, p := range ports {
		fields, _ := p.(map[string]any)
		name, ok := fields["protocol"].(string)
		if !ok {
			name = string(corev1.ProtocolTCP)
		}
		if number, ok := fields["port"].(float64); ok && number == float64(port) && name == string(protocol) {
			return true
		}
	}
	return false
}

// managed is a record of field names, {"f:data":{"f:6379":{}}}.
type managed struct{ fields map[string]any }

func decodeManaged(entry *metav1.ManagedFieldsEntry) managed {
	if entry.FieldsV1 == nil {
		return managed{}
	}
	var fields map[string]any
	if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields); err != nil {
		return managed{}
	}
	return managed{fields}
}

func (m managed) has(path []string) bool {
	names := make([]string, len(path))
	for i, field := range path {
		names[i] = "f:" + field
	}
	return has(m.fields, names)
}

func (m managed) hasPort(port int32, protocol corev1.Protocol) bool {
	return has(m.fields, []string{"f:spec", "f:ports", fmt.Sprintf(`k:{"port":%d,"protocol":%q}`, port, protocol)})
}

func has(fields map[string]any, path []string) bool {
	for i, name := range path {
		value, ok := fields[name]
		if !ok {
			return false
		}
		if i == len(path)-1 {
			return true
		}
		if fields, ok = value.(map[string]any); !ok {
			return false
		}
	}
	return false
}
