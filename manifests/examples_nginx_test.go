package manifests_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
)

// The examples of provider Nginx are in a folder of their own: whoever applies all of
// the others gets no second data plane.
func TestExamplesOfProviderNginx(t *testing.T) {
	t.Parallel()
	class := readExample(t, "examples/provider-nginx/class.yaml")
	require.Len(t, class.classes, 1)
	require.Len(t, class.namespaces, 1)
	assert.Equal(t, crdv1.ProviderNginx, class.classes[0].Spec.Provider)
	assert.Equal(t, class.namespaces[0].Name, class.classes[0].Spec.Namespace)
	assert.Empty(t, validate.Class(&class.classes[0].Spec, class.classes[0].Name))

	got := readExample(t, "examples/provider-nginx/tls-by-name.yaml")
	require.Len(t, got.ingresses, 1)
	assert.Equal(t, class.classes[0].Name, got.ingresses[0].Spec.IngressClassName)
	assert.Empty(t, validate.TCPIngress(&got.ingresses[0]))
	for _, rule := range got.ingresses[0].Spec.Rules {
		assertBackend(t, got.services, got.ingresses[0].Namespace, rule)
	}
}
