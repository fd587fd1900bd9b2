package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestEveryReasonIsExplained(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("reasons.md")
	require.NoError(t, err)
	reasons := constants(t, "Reason")
	require.NotEmpty(t, reasons)
	for name, reason := range reasons {
		if name == "ReasonReady" || name == "ReasonNoForeignEntries" {
			continue // Told in prose: everything is as it should be.
		}
		assert.Contains(t, string(text), "`"+reason+"`", "docs/reasons.md lacks %s", name)
	}
}

func TestEveryConditionIsExplained(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("../README.md")
	require.NoError(t, err)
	conditions := constants(t, "Condition")
	require.NotEmpty(t, conditions)
	for name, condition := range conditions {
		assert.Contains(t, string(readme), "`"+condition+"`", "README.md lacks %s", name)
	}
}

// constants gives the string constants of the API package by name.
func constants(t *testing.T, prefix string) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../crd/v1/*.go")
	require.NoError(t, err)
	found := map[string]string{}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 || !strings.HasPrefix(spec.Names[0].Name, prefix) {
				return true
			}
			if literal, ok := spec.Values[0].(*ast.BasicLit); ok && literal.Kind == token.STRING {
				value, err := strconv.Unquote(literal.Value)
				require.NoError(t, err)
				found[spec.Names[0].Name] = value
			}
			return true
		})
	}
	return found
}
