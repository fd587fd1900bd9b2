package harness

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/nginx-stream/tcpingress/manifests"
)

// Objects reads a YAML stream.
func Objects(stream string) ([]*unstructured.Unstructured, error) {
	var list []*unstructured.Unstructured
	for document := range strings.SplitSeq("\n"+stream, "\n---") {
		raw, err := yaml.YAMLToJSON([]byte(document))
		if err != nil {
			return nil, fmt.Errorf("reading YAML: %w", err)
		}
		if string(raw) == "null" {
			continue
		}
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(raw); err != nil {
			return nil, fmt.Errorf("reading an object: %w", err)
		}
		list = append(list, object)
	}
	return list, nil
}

// deployed gives the objects of some kinds in manifests/base.
func deployed(kinds ...string) ([]*unstructured.Unstructured, error) {
	return read(manifests.Base, kinds...)
}

// read gives the objects of some kinds in a folder of manifests.
func read(folder fs.FS, kinds ...string) ([]*unstructured.Unstructured, error) {
	files, err := fs.Glob(folder, "*/*.yaml")
	if err != nil {
		return nil, fmt.Errorf("finding the manifests: %w", err)
	}
	var list []*unstructured.Unstructured
	for _, file := range files {
		if strings.HasSuffix(file, "/kustomization.yaml") {
			continue
		}
		content, err := fs.ReadFile(folder, file)
		if err != nil {
			return nil, fmt.Errorf("reading the manifests: %w", err)
		}
		objects, err := Objects(string(content))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		for _, o := range objects {
			if slices.Contains(kinds, o.GetKind()) {
				list = append(list, o)
			}
		}
	}
	return list, nil
}

// controllers gives the controllers of the manifests, with the hooks at url in
// place of their Service.
func controllers(url string) ([]*unstructured.Unstructured, error) {
	list, err := deployed("CompositeController", "DecoratorController")
	if err != nil {
		return nil, err
	}
	return list, point(list, url)
}

// point puts the hooks at url in place of their Service.
func point(list []*unstructured.Unstructured, url string) error {
	for _, o := range list {
		for _, hook := range []string{"sync", "customize", "finalize"} {
			webhook, found, err := unstructured.NestedMap(o.Object, "spec", "hooks", hook, "webhook")
			if err != nil || !found {
				continue
			}
			webhook["url"] = url + fmt.Sprint(webhook["path"])
			delete(webhook, "path")
			delete(webhook, "service")
			if err := unstructured.SetNestedMap(o.Object, webhook, "spec", "hooks", hook, "webhook"); err != nil {
				return fmt.Errorf("pointing %s at %s: %w", o.GetName(), url, err)
			}
		}
	}
	return nil
}

// stream writes objects as a YAML stream.
func stream(list []*unstructured.Unstructured) (string, error) {
	var out strings.Builder
	for _, o := range list {
		text, err := yaml.Marshal(o.Object)
		if err != nil {
			return "", fmt.Errorf("writing %s: %w", o.GetName(), err)
		}
		out.WriteString("---\n")
		out.Write(text)
	}
	return out.String(), nil
}
