package docs_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/server"
)

func TestSecurityNamesWhatExists(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("security.md")
	require.NoError(t, err)

	overlays := regexp.MustCompile(`manifests/overlays/[a-z]+`).FindAllString(string(text), -1)
	require.NotEmpty(t, overlays)
	for _, overlay := range overlays {
		assert.FileExists(t, filepath.Join("..", overlay, "kustomization.yaml"))
	}

	token := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(token, nil, 0o600))
	srv, err := server.New(server.Options{HookTokenFile: token}, nil)
	require.NoError(t, err)
	scrape := httptest.NewRecorder()
	srv.Handler().ServeHTTP(scrape, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	metrics := regexp.MustCompile("`(tcpingress_[a-z_]+)").FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, metrics)
	for _, metric := range metrics {
		assert.Contains(t, scrape.Body.String(), "\n"+metric[1])
	}
}
