package cli

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestInstallCopiesTheProgram(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(program, []byte("the program"), 0o600))
	target := filepath.Join(dir, "bin")
	require.NoError(t, os.Mkdir(target, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(target, "tcpingress"), []byte("an older one"), 0o755))

	require.NoError(t, install(program, target))

	got, err := os.ReadFile(filepath.Join(target, "tcpingress"))
	require.NoError(t, err)
	assert.Equal(t, "the program", string(got))
	info, err := os.Stat(filepath.Join(target, "tcpingress"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o755), info.Mode().Perm())
	left, err := os.ReadDir(target)
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing else is left there")
}

func TestInstallNeedsAFolder(t *testing.T) {
	t.Parallel()
	assert.Error(t, install(os.Args[0], filepath.Join(t.TempDir(), "missing")))
}
