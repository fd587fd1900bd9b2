package podset_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nginx-stream/tcpingress/test/crd/apiserver"
	"github.com/nginx-stream/tcpingress/test/crd/corpus"
)

var update = flag.Bool("update", false, "rewrite the refusals that the files announce")

func judge(t *testing.T) *apiserver.Judge {
	t.Helper()
	definition, err := os.ReadFile("generated/app.example.com_podsets.yaml")
	require.NoError(t, err)
	j, err := apiserver.New([]string{string(definition)})
	require.NoError(t, err)
	return j
}

func judgeWithoutRules(t *testing.T) *apiserver.Judge {
	t.Helper()
	definition, err := os.ReadFile("generated/app.example.com_podsets.yaml")
	require.NoError(t, err)
	loose, err := corpus.Loosen(string(definition), false)
	require.NoError(t, err)
	j, err := apiserver.New([]string{loose})
	require.NoError(t, err)
	return j
}

// refusal gives what the API server says to a case.
func refusal(t *testing.T, j *apiserver.Judge, c corpus.Case) []string {
	t.Helper()
	object := c.Object.DeepCopy()
	if c.Old == nil {
		got, err := j.Create(t.Context(), object)
		require.NoError(t, err)
		return got
	}
	old := c.Old.DeepCopy()
	got, err := j.Create(t.Context(), old)
	require.NoError(t, err)
	require.Empty(t, got, "the first document is accepted")
	got, err = j.Update(t.Context(), object, old)
	require.NoError(t, err)
	return got
}

func TestDefinitionIsLegal(t *testing.T) {
	for _, err := range judge(t).Definitions(t.Context()) {
		assert.NoError(t, err)
	}
}

func TestCorpus(t *testing.T) {
	j, withoutRules := judge(t), judgeWithoutRules(t)
	valid, invalid, err := corpus.Read(os.DirFS("testdata"))
	require.NoError(t, err)
	require.NotEmpty(t, valid)
	require.NotEmpty(t, invalid)
	for _, tc := range append(valid, invalid...) {
		t.Run(tc.Path, func(t *testing.T) {
			got := refusal(t, j, tc)
			layers := corpus.LayersOf(got, refusal(t, withoutRules, tc))
			require.Equal(t, strings.HasPrefix(tc.Path, "invalid/"), len(got) > 0, "refused: %s", got)
			if *update {
				announce(t, filepath.Join("testdata", tc.Path), corpus.Announcement(got, layers, nil))
				return
			}
			assert.Equal(t, tc.Refusal, got)
			assert.True(t, len(layers) == 0 || assert.Equal(t, tc.Layers, layers))
		})
	}
}

func TestReplicasDefaultToOne(t *testing.T) {
	j := judge(t)
	valid, _, err := corpus.Read(os.DirFS("testdata"))
	require.NoError(t, err)
	for _, tc := range valid {
		if tc.Path != "valid/smallest.yaml" {
			continue
		}
		refusal, err := j.Create(t.Context(), tc.Object)
		require.NoError(t, err)
		require.Empty(t, refusal)
		replicas, _, err := unstructured.NestedInt64(tc.Object.Object, "spec", "replicas")
		require.NoError(t, err)
		assert.EqualValues(t, 1, replicas)
		return
	}
	t.Fatal("valid/smallest.yaml is missing")
}

// announce writes a refusal into the comment lines at the top of the file.
func announce(t *testing.T, path, head string) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	for bytes.HasPrefix(text, []byte("# ")) {
		_, text, _ = bytes.Cut(text, []byte("\n"))
	}
	require.NoError(t, os.WriteFile(path, append([]byte(head), text...), 0o644))
}
