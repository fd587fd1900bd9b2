package generation

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestStore(t *testing.T) {
	s := Store{Dir: t.TempDir()}
	require.NoError(t, s.Prepare())
	assert.Empty(t, s.Linked())

	a := &Generation{Name: "a", Files: map[string]string{"nginx.conf": "one", "x": "two"}}
	b := &Generation{Name: "b", Files: map[string]string{"nginx.conf": "three"}}
	for _, g := range []*Generation{a, b} {
		require.NoError(t, s.Write(g))
		require.NoError(t, s.Write(g), "again")
		require.NoError(t, s.Link(g.Name))
		assert.Equal(t, g.Name, s.Linked())
		content, err := os.ReadFile(filepath.Join(s.Dir, "conf", "nginx.conf"))
		require.NoError(t, err)
		assert.Equal(t, g.Files["nginx.conf"], string(content))
		got, err := s.Load(g.Name)
		require.NoError(t, err)
		assert.Equal(t, g, got)
	}

	require.NoError(t, os.Mkdir(s.Path("c.unfinished"), 0o755))
	names, err := s.Names()
	require.NoError(t, err)
	assert.Equal(t, []string{"a", "b"}, names)
	require.NoError(t, s.Clean("b"))
	assert.NoDirExists(t, s.Path("a"))
	assert.NoDirExists(t, s.Path("c.unfinished"))
	assert.Equal(t, "b", s.Linked())

	require.ErrorContains(t, s.Write(&Generation{Name: "d", Files: map[string]string{"x": "", "no/directory": ""}}), "writing generation")
	assert.NoDirExists(t, s.Path("d.unfinished"), "what it would take of the room is given back")

	require.NoError(t, s.Clean())
	assert.Empty(t, s.Linked(), "a link to nothing is none")
}
