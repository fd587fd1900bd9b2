package manifests_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/expose"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress"
)

func ourHooks() []metacontroller.Hook {
	return slices.Concat(tcpingress.Hooks(), expose.Hooks())
}

// related gives the kinds that our customize hooks ask for, of parents that make
// them ask for all they can.
func related(t *testing.T) []resource {
	t.Helper()
	parents := map[string]string{
		"/tcpingressclass/customize": `{"kind": "TCPIngressClass", "metadata": {"name": "nginx"}, "spec": {
			"namespace": "ingress-nginx", "allowedNamespaces": {"from": "Selector", "selector": {}}}}`,
		"/tcpingress/customize": `{"kind": "TCPIngress", "metadata": {"namespace": "demo", "name": "redis"}, "spec": {
			"rules": [{"port": 1, "backend": {"service": {"name": "redis", "port": {"number": 1}}}}]}}`,
		"/expose/customize": `{"kind": "Service", "metadata": {"namespace": "demo", "name": "redis"}}`,
	}
	var found []resource
	for _, h := range ourHooks() {
		if !strings.HasSuffix(h.Path, "/customize") {
			continue
		}
		require.Contains(t, parents, h.Path)
		apiVersion := "nginx-stream.dev/v1"
		if h.Path == "/expose/customize" {
			apiVersion = "v1"
		}
		parent := strings.Replace(parents[h.Path], "{", `{"apiVersion": "`+apiVersion+`", `, 1)
		answer, err := h.Serve([]byte(`{"controller": {}, "parent": `+parent+`}`), time.Time{})
		require.NoError(t, err)
		response, ok := answer.(metacontroller.CustomizeResponse)
		require.True(t, ok)
		require.NotEmpty(t, response.RelatedResources)
		for _, rule := range response.RelatedResources {
			found = append(found, resource{APIVersion: rule.APIVersion, Resource: rule.Resource})
		}
	}
	return found
}
