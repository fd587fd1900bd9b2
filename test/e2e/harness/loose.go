package harness

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/nginx-stream/tcpingress/crd"
	"github.com/nginx-stream/tcpingress/test/crd/corpus"
)

// loosened writes our CustomResourceDefinitions without what refuses objects, and
// gives the folder.
func loosened(dir string) (string, error) {
	folder := filepath.Join(dir, "loose")
	if err := os.Mkdir(folder, 0o755); err != nil {
		return "", err
	}
	for i, manifest := range crd.Manifests() {
		text, err := corpus.Loosen(manifest, true)
		if err != nil {
			return "", fmt.Errorf("loosening a definition: %w", err)
		}
		if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.yaml", i)), []byte(text), 0o600); err != nil {
			return "", err
		}
	}
	return folder, nil
}
