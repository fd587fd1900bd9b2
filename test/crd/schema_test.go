package crd_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/nginx-stream/tcpingress/crd"
	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

type schema = apiextensionsv1.JSONSchemaProps

func definitions(t *testing.T) map[string]apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	all := map[string]apiextensionsv1.CustomResourceDefinition{}
	for _, manifest := range crd.Manifests() {
		var d apiextensionsv1.CustomResourceDefinition
		require.NoError(t, yaml.UnmarshalStrict([]byte(manifest), &d))
		require.Len(t, d.Spec.Versions, 1)
		all[d.Spec.Names.Kind] = d
	}
	require.Len(t, all, 3)
	return all
}

// Without the subresource every status write of Metacontroller would bump the
// generation and call the hook again, without end.
func TestParentsHaveTheStatusSubresource(t *testing.T) {
	all := definitions(t)
	for _, kind := range []string{crdv1.KindTCPIngress, crdv1.KindTCPIngressClass} {
		version := all[kind].Spec.Versions[0]
		require.NotNil(t, version.Subresources, kind)
		assert.NotNil(t, version.Subresources.Status, kind)
		observed := version.Schema.OpenAPIV3Schema.Properties["status"].Properties["observedGeneration"]
		assert.Equal(t, "integer", observed.Type, kind)
		assert.Equal(t, "int64", observed.Format, kind)
	}
	if sub := all[crdv1.KindTCPIngressSlice].Spec.Versions[0].Subresources; sub != nil {
		assert.Nil(t, sub.Status, "a slice has no status of its own")
	}
}

func TestNames(t *testing.T) {
	all := definitions(t)
	for kind, d := range all {
		assert.Empty(t, d.Spec.Names.Categories, kind)
		assert.Equal(t, crdv1.Group, d.Spec.Group, kind)
		assert.Equal(t, crdv1.Version, d.Spec.Versions[0].Name, kind)
	}
	assert.Equal(t, []string{"tcping"}, all[crdv1.KindTCPIngress].Spec.Names.ShortNames)
	assert.Equal(t, []string{"tcpingclass"}, all[crdv1.KindTCPIngressClass].Spec.Names.ShortNames)
	assert.Empty(t, all[crdv1.KindTCPIngressSlice].Spec.Names.ShortNames)
	var columns []string
	for _, c := range all[crdv1.KindTCPIngress].Spec.Versions[0].AdditionalPrinterColumns {
		columns = append(columns, c.Name)
	}
	assert.Equal(t, []string{"Class", "Ports", "Address", "Ready", "Age", "Reason"}, columns)
}

// What is not declared is pruned from every status that a hook sends.
func TestEveryFieldIsDeclaredAndExplained(t *testing.T) {
	types := map[string]reflect.Type{
		crdv1.KindTCPIngress:      reflect.TypeFor[crdv1.TCPIngress](),
		crdv1.KindTCPIngressClass: reflect.TypeFor[crdv1.TCPIngressClass](),
		crdv1.KindTCPIngressSlice: reflect.TypeFor[crdv1.TCPIngressSlice](),
	}
	for kind, d := range definitions(t) {
		declared(t, types[kind], *d.Spec.Versions[0].Schema.OpenAPIV3Schema, kind)
	}
}

func declared(t *testing.T, typ reflect.Type, s schema, path string) {
	t.Helper()
	switch typ.Kind() {
	case reflect.Pointer:
		declared(t, typ.Elem(), s, path)
	case reflect.Slice:
		require.NotNil(t, s.Items, path)
		declared(t, typ.Elem(), *s.Items.Schema, path+"[]")
	case reflect.Map:
		require.NotNil(t, s.AdditionalProperties, path)
		declared(t, typ.Elem(), *s.AdditionalProperties.Schema, path+"{}")
	case reflect.Struct:
		if s.Type == "string" || s.XIntOrString || typ == reflect.TypeFor[metav1.ObjectMeta]() {
			return // a time, a quantity, metadata
		}
		for f := range typ.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if name == "" { // inlined
				declared(t, f.Type, s, path)
				continue
			}
			property, ok := s.Properties[name]
			if assert.True(t, ok, "%s.%s is not in the schema", path, name) {
				assert.True(t, property.Description != "" || name == "metadata", "%s.%s is not explained", path, name)
				declared(t, f.Type, property, path+"."+name)
			}
		}
	default:
	}
}

// A bound on everything keeps the cost of CEL rules within the API server's
// budget, and objects within etcd's. Types of Kubernetes have none of their own.
func TestEverythingOfOursIsBounded(t *testing.T) {
	for kind, d := range definitions(t) {
		root := d.Spec.Versions[0].Schema.OpenAPIV3Schema
		for name, property := range root.Properties {
			if name != "apiVersion" && name != "kind" && name != "metadata" {
				bounded(t, property, kind+"."+name)
			}
		}
	}
}

func bounded(t *testing.T, s schema, path string) {
	t.Helper()
	for _, foreign := range []string{".conditions[]", ".namespaceSelector", ".allowedNamespaces.selector", ".tolerations[]", ".resources"} {
		if strings.HasSuffix(path, foreign) {
			return
		}
	}
	switch s.Type {
	case "string":
		// A time has its bound in its format.
		assert.True(t, s.MaxLength != nil || len(s.Enum) > 0 || s.Format == "date-time", "%s: a string without maxLength", path)
	case "array":
		assert.NotNil(t, s.MaxItems, "%s: a list without maxItems", path)
		assert.NotNil(t, s.XListType, "%s: a list without listType", path)
		bounded(t, *s.Items.Schema, path+"[]")
	case "object":
		if s.AdditionalProperties != nil {
			assert.NotNil(t, s.MaxProperties, "%s: a map without maxProperties", path)
			if s.AdditionalProperties.Schema.Type == "object" {
				bounded(t, *s.AdditionalProperties.Schema, path+"{}")
			}
		}
		for name, property := range s.Properties {
			bounded(t, property, path+"."+name)
		}
	}
}

// The API server fills in these two and nothing else: elsewhere it must stay
// visible that a field was left out.
func TestOnlySafeDefaults(t *testing.T) {
	var found []string
	for kind, d := range definitions(t) {
		root := *d.Spec.Versions[0].Schema.OpenAPIV3Schema
		walk(root, kind, func(s schema, path string) {
			if s.Default != nil {
				found = append(found, path+"="+string(s.Default.Raw))
			}
		})
	}
	assert.ElementsMatch(t, []string{`TCPIngress.spec.rules[].protocol="TCP"`, `TCPIngressClass.spec.provider="IngressNginx"`}, found)
}

func walk(s schema, path string, visit func(schema, string)) {
	visit(s, path)
	if s.Items != nil {
		walk(*s.Items.Schema, path+"[]", visit)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		walk(*s.AdditionalProperties.Schema, path+"{}", visit)
	}
	for name, property := range s.Properties {
		walk(property, path+"."+name, visit)
	}
}
