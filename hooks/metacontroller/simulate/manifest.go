package simulate

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
)

// ReadManifests reads the controllers out of YAML documents. Documents of other
// kinds are left out, so that a whole folder of manifests may be given.
func ReadManifests(text []byte) ([]*unstructured.Unstructured, error) {
	documents := yaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	var controllers []*unstructured.Unstructured
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return controllers, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading manifests: %w", err)
		}
		manifest := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &manifest.Object); err != nil {
			return nil, fmt.Errorf("decoding manifest: %w", err)
		}
		if kind := manifest.GetKind(); kind == CompositeKind || kind == DecoratorKind {
			controllers = append(controllers, manifest)
		}
	}
}
