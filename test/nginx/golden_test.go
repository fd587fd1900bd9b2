package nginx

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
	"github.com/nginx-stream/tcpingress/test/nginx/process"
)

// nginx takes every golden of the renderer, in another directory than theirs.
func TestNginxTakesTheGoldens(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../../hooks/tcpingress/render/nginx/testdata/*/" + bundle.MainFile)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		dir := filepath.Dir(file)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			n, err := process.New(t.TempDir(), "127.0.0.1:53")
			require.NoError(t, err)
			texts := map[string]string{}
			parts, err := filepath.Glob(filepath.Join(dir, "*.conf"))
			require.NoError(t, err)
			for _, part := range parts {
				text, err := os.ReadFile(part)
				require.NoError(t, err)
				texts[filepath.Base(part)] = strings.ReplaceAll(string(text), bundle.SharedDir, n.Dir)
			}
			require.NoError(t, n.Write("golden", texts))
			require.NoError(t, n.Check(t.Context(), "golden"))
		})
	}
}
