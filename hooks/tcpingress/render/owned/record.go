package owned

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// applied is a record that looks like the object itself.
type applied struct{ object *node }

func decodeApplied(text string) applied { return applied{&node{raw: jsontext.Value(text)}} }

func (a applied) has(path []string) bool { return len(path) > 0 && a.object.at(path) != nil }

func (a applied) hasPort(port int32, protocol corev1.Protocol) bool {
	list := a.object.at([]string{"spec", "ports"})
	if list == nil {
		return false
	}
	var ports []struct {
		Port     int32           `json:"port"`
		Protocol corev1.Protocol `json:"protocol"`
	}
	if json.Unmarshal(list.raw, &ports) != nil {
		return false
	}
	for _, p := range ports {
		if p.Protocol == "" {
			p.Protocol = corev1.ProtocolTCP
		}
		if p.Port == port && p.Protocol == protocol {
			return true
		}
	}
	return false
}

// managed is a record of field names, {"f:data":{"f:6379":{}}}.
type managed struct{ fields *node }

func decodeManaged(entry *metav1.ManagedFieldsEntry) managed {
	if entry.FieldsV1 == nil {
		return managed{&node{}}
	}
	return managed{&node{raw: entry.FieldsV1.GetRawBytes()}}
}

func (m managed) has(path []string) bool {
	names := make([]string, len(path))
	for i, field := range path {
		names[i] = "f:" + field
	}
	return len(path) > 0 && m.fields.at(names) != nil
}

func (m managed) hasPort(port int32, protocol corev1.Protocol) bool {
	return m.fields.at([]string{"f:spec", "f:ports", fmt.Sprintf(`k:{"port":%d,"protocol":%q}`, port, protocol)}) != nil
}

// node is a JSON value whose fields are decoded when they are asked for: most
// questions are about a few of them, beside a list of a thousand ports.
type node struct {
	raw     jsontext.Value
	decoded bool
	fields  map[string]*node
}

// at gives the value at the path, or nil.
func (n *node) at(path []string) *node {
	for _, name := range path {
		if n.decode(); n.fields[name] == nil {
			return nil
		}
		n = n.fields[name]
	}
	return n
}

func (n *node) decode() {
	if n.decoded {
		return
	}
	n.decoded = true
	var fields map[string]jsontext.Value
	if json.Unmarshal(n.raw, &fields) != nil {
		return
	}
	n.fields = make(map[string]*node, len(fields))
	for name, raw := range fields {
		n.fields[name] = &node{raw: raw}
	}
}
