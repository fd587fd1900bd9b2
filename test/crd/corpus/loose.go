package corpus

import (
	"fmt"

	"sigs.k8s.io/yaml"
)

// Loosen gives a CustomResourceDefinition without its CEL rules and, if bounds too,
// without everything that its schema says besides the types: what is stored then is
// what a cluster without our admission would store.
func Loosen(manifest string, bounds bool) (string, error) {
	var definition map[string]any
	if err := yaml.Unmarshal([]byte(manifest), &definition); err != nil {
		return "", fmt.Errorf("reading a definition: %w", err)
	}
	l := loosener{keywords: []string{"x-kubernetes-validations"}}
	if bounds {
		l.keywords = append(l.keywords, "minimum", "maximum", "minLength", "maxLength", "pattern", "enum",
			"minItems", "maxItems", "minProperties", "maxProperties", "required")
		l.sets = true
	}
	spec, _ := definition["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	for _, v := range versions {
		version, _ := v.(map[string]any)
		schema, _ := version["schema"].(map[string]any)
		root, _ := schema["openAPIV3Schema"].(map[string]any)
		// The status is evidence: nobody pushes it past anything.
		l.loosen(root)
	}
	loose, err := yaml.Marshal(definition)
	return string(loose), err
}

// loosener takes keywords away from schemas.
type loosener struct {
	keywords []string
	sets     bool
}

func (l *loosener) loosen(schema map[string]any) {
	isMap := schema["x-kubernetes-list-type"] == "map"
	for _, keyword := range l.keywords {
		delete(schema, keyword)
	}
	if l.sets && schema["x-kubernetes-list-type"] == "set" {
		schema["x-kubernetes-list-type"] = "atomic"
	}
	properties, _ := schema["properties"].(map[string]any)
	for _, p := range properties {
		if property, ok := p.(map[string]any); ok {
			l.loosen(property)
		}
	}
	for _, key := range []string{"items", "additionalProperties"} {
		below, ok := schema[key].(map[string]any)
		if !ok {
			continue
		}
		required := below["required"]
		l.loosen(below)
		if isMap && required != nil {
			below["required"] = required // the keys of the list
		}
	}
}
