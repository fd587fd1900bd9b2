// Package golden replays folders. Each is a behaviour: in.yaml is what a user and
// a cluster bring, and its first line says what to look at; children.yaml and
// status.yaml are what `tcpingress render` prints for it. A case needs no Go, and
// Go adds nothing to a case: `go run . render -f test/golden/<case>/in.yaml` gives
// the same bytes.
package golden

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/nginx-stream/tcpingress/cli"
)

var update = flag.Bool("update", false, "rewrite the goldens, and remove those that nobody needs")

const (
	fileIn       = "in.yaml"
	fileChildren = "children.yaml"
	fileStatus   = "status.yaml"
	// shuffles is how often each case runs again in another order.
	shuffles = 3
)

func TestGolden(t *testing.T) {
	inputs, err := filepath.Glob("*/" + fileIn)
	require.NoError(t, err)
	require.NotEmpty(t, inputs)
	for _, in := range inputs {
		t.Run(filepath.Dir(in), func(t *testing.T) {
			t.Parallel()
			text, err := os.ReadFile(in)
			require.NoError(t, err)
			require.Regexp(t, `\A# (C\d+: )?\S`, string(text), "the first line says what to look at")

			children := render(t, "", "-f", in, "--only", "children")
			status := render(t, "", "-f", in, "--only", "status")
			golden(t, filepath.Join(filepath.Dir(in), fileChildren), children)
			golden(t, filepath.Join(filepath.Dir(in), fileStatus), status)
			whole := render(t, "", "-f", in)
			assert.Empty(t, cmp.Diff(join(children, status), whole), "both parts are not the whole")
			sameItems(t, whole, render(t, "", "-f", in, "-o", "json"))

			documents := strings.Split("\n"+string(text), "\n---\n")
			for seed := range uint64(shuffles) {
				rand.New(rand.NewPCG(seed, 0)).Shuffle(len(documents), func(i, j int) {
					documents[i], documents[j] = documents[j], documents[i]
				})
				shuffled := render(t, strings.Join(documents, "\n---\n"), "-f", "-")
				assert.Empty(t, cmp.Diff(whole, shuffled), "another order of the input gives another output")
			}
		})
	}
}

// TestNoStaleGoldens wants nothing in the folders that no case needs.
func TestNoStaleGoldens(t *testing.T) {
	files, err := filepath.Glob("*/*")
	require.NoError(t, err)
	for _, file := range files {
		known := filepath.Base(file) == fileIn || filepath.Base(file) == fileChildren || filepath.Base(file) == fileStatus
		_, err := os.Stat(filepath.Join(filepath.Dir(file), fileIn))
		switch {
		case known && err == nil:
		case *update:
			require.NoError(t, os.Remove(file))
		default:
			assert.Fail(t, "stale", "%s belongs to no case", file)
		}
	}
}

// golden compares with a file. No file means that nothing is printed.
func golden(t *testing.T, file, got string) {
	t.Helper()
	if *update {
		if got == "" {
			require.NoError(t, os.RemoveAll(file))
			return
		}
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
		return
	}
	want, err := os.ReadFile(file)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	assert.Empty(t, cmp.Diff(string(want), got), "%s differs; look at it, then run go test ./test/golden -update", file)
}

// render runs the command with the arguments.
func render(t *testing.T, stdin string, args ...string) string {
	t.Helper()
	var stdout, stderr bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(stdin), Out: &stdout, Err: &stderr}
	code := cli.Run(t.Context(), append([]string{"tcpingress", "render"}, args...), streams)
	require.Zero(t, code, "render failed: %s", &stderr)
	assert.Empty(t, stderr.String())
	return stdout.String()
}

func join(children, status string) string {
	if children == "" || status == "" {
		return children + status
	}
	return children + "---\n" + status
}

// sameItems wants the items of the JSON List to be the documents of the YAML.
func sameItems(t *testing.T, documents, list string) {
	t.Helper()
	var read struct{ Items []any }
	require.NoError(t, json.Unmarshal([]byte(list), &read))
	var texts []string
	for _, item := range read.Items {
		text, err := yaml.Marshal(item)
		require.NoError(t, err)
		texts = append(texts, string(text))
	}
	assert.Empty(t, cmp.Diff(documents, strings.Join(texts, "---\n")))
}

// TestCasesAreNamedAfterABehaviour keeps the names readable.
func TestCasesAreNamedAfterABehaviour(t *testing.T) {
	folders, err := filepath.Glob("*/" + fileIn)
	require.NoError(t, err)
	for _, folder := range folders {
		assert.Regexp(t, regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)+/in.yaml$`), folder)
	}
}
