package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCodeIsTheCodeThatRuns: a block of code names its file, and stands in it.
func TestCodeIsTheCodeThatRuns(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("writing-a-controller.md")
	require.NoError(t, err)
	blocks := regexp.MustCompile("(?ms)^```(\\S+)(?: (\\S+))?\n(.*?\n)```$").FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(blocks), 10)
	require.Len(t, regexp.MustCompile("(?m)^```").FindAllString(string(text), -1), 2*len(blocks), "every block is closed")
	for _, block := range blocks {
		path, code := block[2], block[3]
		require.NotEmpty(t, path, "a block of code lacks its file:\n%s", code)
		file, err := os.ReadFile(filepath.Join("..", path))
		require.NoError(t, err)
		assert.Contains(t, "\n"+string(file), "\n"+code, "docs/writing-a-controller.md shows other code than %s", path)
	}
}
