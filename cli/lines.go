package cli

import (
	"strconv"

	yaml "go.yaml.in/yaml/v3"
)

// lines knows where in a file the fields of an object are.
type lines struct {
	node *yaml.Node
	// first line of the document in the file.
	first int
}

// newLines reads the positions of a document. It is asked for lines only: what the
// document means, the reader of kubectl decides.
func newLines(d document) lines {
	var root yaml.Node
	if err := yaml.Unmarshal(d.text, &root); err != nil || len(root.Content) == 0 {
		return lines{first: d.line}
	}
	return lines{node: root.Content[0], first: d.line}
}

// of gives the line of a field: a path of names and indices. Where the path does
// not exist, the last step that does counts.
func (l lines) of(path ...any) int {
	if l.node == nil {
		return l.first
	}
	line := l.node.Line
	node := l.node
	for _, step := range path {
		at, next := child(node, step)
		if next == nil {
			break
		}
		line, node = at, next
	}
	return l.first + line - 1
}

// below gives the lines of a part of the object.
func (l lines) below(path ...any) lines {
	for _, step := range path {
		if _, l.node = child(l.node, step); l.node == nil {
			return l
		}
	}
	return l
}

// child gives the line of a field's name, or of an item, and the value.
func child(node *yaml.Node, step any) (int, *yaml.Node) {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	switch {
	case node == nil:
	case node.Kind == yaml.MappingNode:
		name, isName := step.(string)
		if index, isIndex := step.(int); isIndex {
			// A key that looks like a number, "6379".
			name, isName = strconv.Itoa(index), true
		}
		for i := 0; isName && i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == name {
				return node.Content[i].Line, node.Content[i+1]
			}
		}
	case node.Kind == yaml.SequenceNode:
		if index, isIndex := step.(int); isIndex && index >= 0 && index < len(node.Content) {
			return node.Content[index].Line, node.Content[index]
		}
	}
	return 0, nil
}
