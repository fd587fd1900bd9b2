package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	openapi "k8s.io/kube-openapi/pkg/validation/errors"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
	"sigs.k8s.io/yaml"

	"github.com/nginx-stream/tcpingress/crd"
)

// schemas hold, by kind, what the API server asks of each value by itself. They see
// what is gone once an object is decoded: a 0 or "" that was written, where nothing is
// meant if nothing is written.
type schemas map[string]*validate.SchemaValidator

// definition is what is read of a CustomResourceDefinition.
type definition struct {
	Spec struct {
		Names struct {
			Kind string `json:"kind"`
		} `json:"names"`
		Versions []struct {
			Schema struct {
				OpenAPIV3Schema spec.Schema `json:"openAPIV3Schema"`
			} `json:"schema"`
		} `json:"versions"`
	} `json:"spec"`
}

func newSchemas() (schemas, error) {
	all := schemas{}
	for _, manifest := range crd.Manifests() {
		var d definition
		if err := yaml.Unmarshal([]byte(manifest), &d); err != nil {
			return nil, fmt.Errorf("reading definition: %w", err)
		}
		if len(d.Spec.Versions) != 1 {
			return nil, fmt.Errorf("the definition of %s has %d versions", d.Spec.Names.Kind, len(d.Spec.Versions))
		}
		all[d.Spec.Names.Kind] = validate.NewSchemaValidator(&d.Spec.Versions[0].Schema.OpenAPIV3Schema, nil, "", strfmt.Default)
	}
	return all, nil
}

// problems gives what the API server would not take, in its order, none for a kind that
// is not ours.
func (s schemas) problems(o *unstructured.Unstructured) field.ErrorList {
	validator := s[o.GetKind()]
	if validator == nil {
		return nil
	}
	object := runtime.DeepCopyJSON(o.Object)
	delete(object, "status") // nobody writes it by hand
	dropNulls(object)
	var problems field.ErrorList
	for _, err := range validator.Validate(object).Errors {
		var v *openapi.Validation
		if !errors.As(err, &v) {
			problems = append(problems, field.Invalid(nil, "", err.Error()))
			continue
		}
		message := v.Error()
		if _, after, found := strings.Cut(message, " in "+v.In+" "); found {
			message = after
		}
		problems = append(problems, field.Invalid(field.NewPath(strings.TrimPrefix(v.Name, ".")), printable(v.Value), message))
	}
	return problems
}

// printable is a value as JSON has it.
func printable(value any) any {
	switch value.(type) {
	case map[string]any, []any:
		text, err := json.Marshal(value)
		if err != nil {
			return fmt.Sprint(value)
		}
		return string(text)
	default:
		return value
	}
}

// dropNulls does what the API server does to a null: it is as if nothing was written.
func dropNulls(value any) {
	switch value := value.(type) {
	case map[string]any:
		for key, inner := range value {
			if inner == nil {
				delete(value, key)
			} else {
				dropNulls(inner)
			}
		}
	case []any:
		for _, inner := range value {
			dropNulls(inner)
		}
	}
}
