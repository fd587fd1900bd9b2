// Package corpus reads the manifests in test/crd: objects that must be accepted,
// and objects that must be refused with the lines that their file announces.
// File systems enter, cases leave. For tests only.
package corpus

import (
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// The layers that refuse, as the comment lines at the top of a file name them:
//
//	# schema: spec.rules[0].port: Invalid value: 0: ...
//	# rule: spec.rules: Invalid value: two rules have the same port; ...
//	# hooks: spec.rules[1].port: Invalid value: 6379: rules[0] has this port already; ...
//
// The webhook and, for what gets past admission, the conditions say what hooks says.
const (
	// Schema is the OpenAPI schema of the CustomResourceDefinition.
	Schema = "schema"
	// Rule is a CEL rule in it.
	Rule = "rule"
	// Hooks is what our own code says.
	Hooks = "hooks"
)

// Case is one file. Its comment lines at the top are the refusal that it
// announces, a line for each error. A second document is an update of the first one,
// which is accepted.
type Case struct {
	// Path of the file, below test/crd.
	Path string
	// Old is the first of two documents, else nil.
	Old *unstructured.Unstructured
	// Object is judged.
	Object *unstructured.Unstructured
	// Refusal is what the API server prints; empty for an object that is accepted.
	Refusal []string
	// Layers names the layer of each line of Refusal.
	Layers []string
	// Hooks is what the webhook and the conditions say.
	Hooks []string
}

// Read gives the cases in the folders valid and invalid, in the order of their paths.
func Read(fsys fs.FS) (valid, invalid []Case, err error) {
	err = fs.WalkDir(fsys, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".yaml") {
			return err
		}
		c, err := readCase(fsys, path)
		if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		switch folder, _, _ := strings.Cut(path, "/"); folder {
		case "valid":
			valid = append(valid, c)
		case "invalid":
			invalid = append(invalid, c)
		}
		return nil
	})
	return valid, invalid, err
}

func readCase(fsys fs.FS, path string) (Case, error) {
	data, err := fs.ReadFile(fsys, path)
	if err != nil {
		return Case{}, err
	}
	c := Case{Path: path}
	if err := c.announce(data); err != nil {
		return Case{}, err
	}
	for i, document := range bytes.Split(data, []byte("\n---\n")) {
		object := &unstructured.Unstructured{}
		raw, err := yaml.YAMLToJSONStrict(document)
		if err != nil {
			return Case{}, err
		}
		if err := object.UnmarshalJSON(raw); err != nil {
			return Case{}, err
		}
		if i > 0 {
			c.Old = c.Object
		}
		c.Object = object
	}
	return c, nil
}

// announce reads the comment lines at the top.
func (c *Case) announce(data []byte) error {
	for scanner := bufio.NewScanner(bytes.NewReader(data)); scanner.Scan(); {
		line, ok := strings.CutPrefix(scanner.Text(), "# ")
		if !ok {
			break
		}
		switch layer, text, _ := strings.Cut(line, ": "); layer {
		case Schema, Rule:
			c.Refusal, c.Layers = append(c.Refusal, text), append(c.Layers, layer)
		case Hooks:
			c.Hooks = append(c.Hooks, text)
		default:
			return fmt.Errorf("the line %q names no layer", line)
		}
	}
	return nil
}

// LayersOf tells which layer each line of a refusal is from, given what is left of it
// without the CEL rules.
func LayersOf(lines, withoutRules []string) []string {
	layers := make([]string, len(lines))
	for i, line := range lines {
		layers[i] = Rule
		if slices.Contains(withoutRules, line) || strings.HasSuffix(line, "correct the existing errors to complete validation") {
			layers[i] = Schema
		}
	}
	return layers
}

// Announcement writes the comment lines at the top of a file.
func Announcement(lines, layers, hooks []string) string {
	var head strings.Builder
	for i, line := range lines {
		head.WriteString("# " + layers[i] + ": " + line + "\n")
	}
	for _, line := range hooks {
		head.WriteString("# " + Hooks + ": " + line + "\n")
	}
	return head.String()
}

// Printed gives the lines of a refusal from what `kubectl apply` prints, in
// that order; none if it is no refusal of an invalid object.
func Printed(output string) []string {
	output = strings.TrimSpace(output)
	if _, unknown, ok := strings.Cut(output, "strict decoding error: "); ok {
		return strings.Split(unknown, ", ")
	}
	_, text, ok := strings.Cut(output, " is invalid: ")
	if !ok {
		return nil
	}
	if !strings.Contains(text, "\n* ") && !strings.HasPrefix(text, "* ") {
		return []string{text}
	}
	var lines []string
	for line := range strings.Lines(text) {
		if line, ok := strings.CutPrefix(strings.TrimSpace(line), "* "); ok {
			lines = append(lines, line)
		}
	}
	return lines
}
