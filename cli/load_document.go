package cli

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/yaml"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// defaultNamespace is where a namespaced object without a namespace goes.
const defaultNamespace = "default"

// document is one YAML document of a file.
type document struct {
	text []byte
	// line of the file that the text starts at.
	line int
}

// splitDocuments splits at lines of three dashes.
func splitDocuments(text []byte) []document {
	var documents []document
	current := document{line: 1}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		if rest, separates := bytes.CutPrefix(line, []byte("---")); separates && isEmptyYAML(rest) {
			documents = append(documents, current)
			current = document{line: number + 1}
			continue
		}
		current.text = append(current.text, line...)
	}
	return append(documents, current)
}

// isEmptyYAML tells whether there is nothing but space and comments.
func isEmptyYAML(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

func (l *loader) loadDocument(in *input, file string, d document) error {
	if isEmptyYAML(d.text) {
		return nil
	}
	encoded, err := yaml.YAMLToJSONStrict(d.text)
	if err != nil {
		return unreadable(file, d, err)
	}
	var content any
	if err := json.Unmarshal(encoded, &content); err != nil {
		return fmt.Errorf("%s:%d: %w", file, d.line, err)
	}
	if content == nil {
		return nil
	}
	fields, isObject := content.(map[string]any)
	if !isObject {
		return fmt.Errorf("%s:%d: this is no Kubernetes object, but a %T", file, d.line, content)
	}
	return l.loadObject(in, source{
		object: &unstructured.Unstructured{Object: fields},
		file:   file,
		lines:  newLines(d),
	})
}

// unreadable puts the first line number of a YAML error into the place where
// editors look for it.
func unreadable(file string, d document, err error) error {
	text := strings.TrimSpace(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
	line := d.line
	if found := regexp.MustCompile(`line (\d+): `).FindStringSubmatchIndex(text); found != nil {
		if number, err := strconv.Atoi(text[found[2]:found[3]]); err == nil {
			line += number - 1
			text = text[found[1]:]
		}
	}
	return fmt.Errorf("%s:%d: %s", file, line, strings.TrimPrefix(text, "yaml: "))
}

func (l *loader) loadObject(in *input, s source) error {
	apiVersion, kind := s.object.GetAPIVersion(), s.object.GetKind()
	if apiVersion == "" || kind == "" {
		return fmt.Errorf("%s: this is no Kubernetes object: apiVersion or kind is missing", s.at())
	}
	if items, isList := s.object.Object["items"].([]any); isList && strings.HasSuffix(kind, "List") {
		return l.loadItems(in, s, items)
	}
	for _, known := range l.kinds {
		if known.APIVersion == apiVersion && known.Kind == kind {
			return l.add(in, s, known)
		}
	}
	if group, _, _ := strings.Cut(apiVersion, "/"); group == crdv1.Group {
		return fmt.Errorf("%s: there is no kind %s in %s; it has %s", s.at(), kind, apiVersion, ourKindNames())
	}
	in.ignored[apiVersion+" "+kind]++
	return nil
}

// ourKindNames lists what a user may write of our group.
func ourKindNames() string {
	return fmt.Sprintf("%s and %s in %s", crdv1.KindTCPIngress, crdv1.KindTCPIngressClass, crdv1.APIVersion)
}

// loadItems reads the items of a v1 List, or of a list of one kind, whose items
// may leave out what they are.
func (l *loader) loadItems(in *input, list source, items []any) error {
	var errs []error
	for i, item := range items {
		s := source{file: list.file, lines: list.lines.below("items", i)}
		fields, isObject := item.(map[string]any)
		if !isObject {
			errs = append(errs, fmt.Errorf("%s: this is no Kubernetes object, but a %T", s.at(), item))
			continue
		}
		s.object = &unstructured.Unstructured{Object: fields}
		if kind := strings.TrimSuffix(list.object.GetKind(), "List"); kind != "" && s.object.GetKind() == "" {
			s.object.SetKind(kind)
			s.object.SetAPIVersion(list.object.GetAPIVersion())
		}
		errs = append(errs, l.loadObject(in, s))
	}
	return errors.Join(errs...)
}

func (l *loader) add(in *input, s source, kind simulate.Kind) error {
	if err := errors.Join(checkName(&s, kind), checkFields(&s)); err != nil {
		if kind.Kind == crdv1.KindTCPIngressClass {
			in.broken[s.object.GetName()] = true
		}
		return err
	}
	switch {
	case !kind.Namespaced:
		unstructured.RemoveNestedField(s.object.Object, "metadata", "namespace")
	case s.object.GetNamespace() == "":
		s.object.SetNamespace(defaultNamespace)
	}
	in.sources = append(in.sources, s)
	return nil
}

// nameProblems tells what is wrong with a name or namespace.
func nameProblems(field, text string) []string {
	if field == "namespace" && text == "" {
		return nil
	}
	switch field {
	case "namespace":
		return validation.IsDNS1123Label(text)
	case "generateName":
		text += "x" // something comes after it
	}
	return validation.IsDNS1123Subdomain(text)
}

// checkName wants a name and, where there is one, a namespace that are strings:
// YAML takes a bare n, no or off for a boolean.
func checkName(s *source, kind simulate.Kind) error {
	metadata, _ := s.object.Object["metadata"].(map[string]any)
	if metadata["name"] == nil && metadata["generateName"] == nil {
		return fmt.Errorf("%s: the %s has no metadata.name", s.at(), kind.Kind)
	}
	if metadata["name"] == nil {
		s.prefix = s.object.GetGenerateName()
	}
	for _, field := range []string{"name", "generateName", "namespace"} {
		if value := metadata[field]; value != nil {
			text, isString := value.(string)
			if !isString {
				return fmt.Errorf("%s: metadata.%s is %v, a %T; put it into quotes", s.at("metadata", field), field, value, value)
			}
			// An API server refuses these, and what it refuses must not reach a ConfigMap.
			if problems := nameProblems(field, text); len(problems) > 0 {
				return fmt.Errorf("%s: metadata.%s %q: %s", s.at("metadata", field), field, text, strings.Join(problems, "; "))
			}
		}
	}
	return nil
}
