package assets

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// transcript is a progress that several builds may write to.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *transcript) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

// smallBuild is a build of programs that say their version.
func smallBuild(t *testing.T, names ...string) build {
	t.Helper()
	b := build{module: t.TempDir(), dir: filepath.Join(t.TempDir(), "versions"), title: "small programs", ldflags: "-X main.version=v7"}
	write(t, filepath.Join(b.module, "go.mod"), "module example.com/small\n\ngo 1.26\n")
	for _, name := range names {
		write(t, filepath.Join(b.module, name, "main.go"), "package main\n\nvar version string\n\nfunc main() { print(version) }\n")
		b.targets = append(b.targets, target{name, "example.com/small/" + name})
	}
	return b
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
}

func TestBuildsOnceHoweverManyAsk(t *testing.T) {
	b := smallBuild(t, "one", "two")
	var progress transcript
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() { assert.NoError(t, b.run(t.Context(), &progress)) })
	}
	group.Wait()
	assert.Equal(t, 1, strings.Count(progress.text.String(), "[1/2] one: built in "), progress.text.String())
	assert.Equal(t, 1, strings.Count(progress.text.String(), "[2/2] two: built in "), progress.text.String())

	out, err := exec.Command(filepath.Join(b.bin(), "two")).CombinedOutput()
	require.NoError(t, err)
	assert.Equal(t, "v7", string(out), "the stamped version")

	var again transcript
	require.NoError(t, b.run(t.Context(), &again))
	assert.Empty(t, again.text.String())
}

func TestBuildsOnlyWhatIsMissing(t *testing.T) {
	b := smallBuild(t, "one", "two")
	require.NoError(t, b.run(t.Context(), nil))
	require.NoError(t, os.Remove(filepath.Join(b.bin(), "two")))
	var progress transcript
	require.NoError(t, b.run(t.Context(), &progress))
	assert.Contains(t, progress.text.String(), "[1/1] two: built in ")
}

func TestFailedBuildTellsWhyAndLeavesNoFile(t *testing.T) {
	b := smallBuild(t, "one")
	write(t, filepath.Join(b.module, "one", "main.go"), "package main\n\nfunc main() { undefined() }\n")
	require.ErrorContains(t, b.run(t.Context(), nil), "undefined: undefined")
	left, err := os.ReadDir(b.bin())
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestCancelledBuildEnds(t *testing.T) {
	b := smallBuild(t, "one")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, b.run(ctx, nil), context.Canceled)
}
