// Package apiserver judges custom resources as the Kubernetes API server does,
// with its own code: strict decoding, defaults, pruning, schema, lists, CEL.
// Definitions and objects enter, the API server's errors leave. For tests only.
package apiserver

import (
	"context"
	"fmt"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	definitions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/yaml"
)

// Judge knows the definitions of some kinds.
type Judge struct {
	kinds map[runtimeschema.GroupVersionKind]*kind
}

type kind struct {
	definition *apiextensions.CustomResourceDefinition
	structural *schema.Structural
	strategy   strategy
}

// strategy is what the API server's registry asks of a kind.
type strategy interface {
	PrepareForCreate(ctx context.Context, obj runtime.Object)
	Validate(ctx context.Context, obj runtime.Object) field.ErrorList
	PrepareForUpdate(ctx context.Context, obj, old runtime.Object)
	ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList
}

// New reads definitions, one YAML document each.
func New(manifests []string) (*Judge, error) {
	j := &Judge{kinds: map[runtimeschema.GroupVersionKind]*kind{}}
	for _, manifest := range manifests {
		gvk, k, err := read(manifest)
		if err != nil {
			return nil, fmt.Errorf("reading definition: %w", err)
		}
		j.kinds[gvk] = k
	}
	return j, nil
}

func read(manifest string) (runtimeschema.GroupVersionKind, *kind, error) {
	var gvk runtimeschema.GroupVersionKind
	var external apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict([]byte(manifest), &external); err != nil {
		return gvk, nil, err
	}
	apiextensionsv1.SetDefaults_CustomResourceDefinition(&external)
	apiextensionsv1.SetDefaults_CustomResourceDefinitionSpec(&external.Spec)
	definition := &apiextensions.CustomResourceDefinition{}
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&external, definition, nil); err != nil {
		return gvk, nil, fmt.Errorf("converting %s: %w", external.Name, err)
	}
	definition.Status.StoredVersions = []string{definition.Spec.Versions[0].Name}
	gvk = runtimeschema.GroupVersionKind{
		Group: definition.Spec.Group, Version: definition.Spec.Versions[0].Name, Kind: definition.Spec.Names.Kind,
	}
	openAPI, err := apiextensions.GetSchemaForVersion(definition, gvk.Version)
	if err != nil {
		return gvk, nil, fmt.Errorf("finding the schema of %s: %w", gvk, err)
	}
	structural, err := schema.NewStructural(openAPI.OpenAPIV3Schema)
	if err != nil {
		return gvk, nil, fmt.Errorf("reading the schema of %s: %w", gvk, err)
	}
	validator, _, err := validation.NewSchemaValidator(openAPI.OpenAPIV3Schema)
	if err != nil {
		return gvk, nil, fmt.Errorf("compiling the schema of %s: %w", gvk, err)
	}
	subresources, err := apiextensions.GetSubresourcesForVersion(definition, gvk.Version)
	if err != nil {
		return gvk, nil, fmt.Errorf("finding the subresources of %s: %w", gvk, err)
	}
	var status *apiextensions.CustomResourceSubresourceStatus
	if subresources != nil {
		status = subresources.Status
	}
	namespaced := definition.Spec.Scope == apiextensions.NamespaceScoped
	return gvk, &kind{
		definition: definition,
		structural: structural,
		strategy:   customresource.NewStrategy(nil, namespaced, gvk, validator, nil, structural, status, nil, nil),
	}, nil
}

// Definitions judges the definitions themselves, the cost of their CEL rules included.
func (j *Judge) Definitions(ctx context.Context) field.ErrorList {
	var errs field.ErrorList
	for _, k := range j.kinds {
		errs = append(errs, definitions.ValidateCustomResourceDefinition(ctx, k.definition)...)
	}
	return errs
}

// Create gives the lines of the refusal of a new object, none if it is accepted.
// The object is changed as the API server would store it.
func (j *Judge) Create(ctx context.Context, obj *unstructured.Unstructured) ([]string, error) {
	k, unknown, err := j.decode(obj)
	if err != nil || len(unknown) > 0 {
		return unknown, err
	}
	k.strategy.PrepareForCreate(ctx, obj)
	return lines(k.strategy.Validate(ctx, obj)), nil
}

// Update gives the lines of the refusal of a changed object, none if it is accepted.
func (j *Judge) Update(ctx context.Context, obj, old *unstructured.Unstructured) ([]string, error) {
	k, unknown, err := j.decode(obj)
	if err != nil || len(unknown) > 0 {
		return unknown, err
	}
	old.SetResourceVersion("1")
	obj.SetResourceVersion("1")
	obj.SetUID(old.GetUID())
	k.strategy.PrepareForUpdate(ctx, obj, old)
	return lines(k.strategy.ValidateUpdate(ctx, obj, old)), nil
}

// decode does what happens to an object on its way in, with strict field validation.
func (j *Judge) decode(obj *unstructured.Unstructured) (*kind, []string, error) {
	k, ok := j.kinds[obj.GroupVersionKind()]
	if !ok {
		return nil, nil, fmt.Errorf("no definition of %s", obj.GroupVersionKind())
	}
	defaulting.PruneNonNullableNullsWithoutDefaults(obj.Object, k.structural)
	var unknown []string
	for _, path := range pruning.PruneWithOptions(obj.Object, k.structural, true,
		schema.UnknownFieldPathOptions{TrackUnknownFieldPaths: true}) {
		unknown = append(unknown, fmt.Sprintf("unknown field %q", path))
	}
	defaulting.Default(obj.Object, k.structural)
	return k, unknown, nil
}

func lines(errs field.ErrorList) []string {
	var list []string
	for _, err := range errs {
		list = append(list, err.Error())
	}
	return list
}
