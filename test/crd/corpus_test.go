package crd_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nginx-stream/tcpingress/crd"
	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
	"github.com/nginx-stream/tcpingress/test/crd/apiserver"
	"github.com/nginx-stream/tcpingress/test/crd/corpus"
)

var update = flag.Bool("update", false, "rewrite what the files in invalid announce")

func read(t *testing.T) (valid, invalid []corpus.Case) {
	t.Helper()
	valid, invalid, err := corpus.Read(os.DirFS("."))
	require.NoError(t, err)
	require.NotEmpty(t, valid)
	require.GreaterOrEqual(t, len(invalid), 35)
	return valid, invalid
}

// refusal gives what the API server says to a case.
func refusal(t *testing.T, j *apiserver.Judge, c corpus.Case) []string {
	t.Helper()
	object := c.Object.DeepCopy()
	if c.Old == nil {
		lines, err := j.Create(t.Context(), object)
		require.NoError(t, err)
		return lines
	}
	old := c.Old.DeepCopy()
	lines, err := j.Create(t.Context(), old)
	require.NoError(t, err)
	require.Empty(t, lines, "the first document is accepted")
	lines, err = j.Update(t.Context(), object, old)
	require.NoError(t, err)
	return lines
}

func TestValidObjectsAreAccepted(t *testing.T) {
	j := judge(t)
	valid, _ := read(t)
	for _, c := range valid {
		t.Run(c.Path, func(t *testing.T) {
			assert.Empty(t, refusal(t, j, c), "by the API server")
			assert.Empty(t, hookRefusal(t, c), "by the hooks")
		})
	}
}

func TestInvalidObjectsAreRefusedWithTheAnnouncedText(t *testing.T) {
	j, withoutRules := judge(t), judgeWithoutRules(t)
	_, invalid := read(t)
	reasons, layers := map[string]bool{}, map[string]int{}
	for _, c := range invalid {
		t.Run(c.Path, func(t *testing.T) {
			got := refusal(t, j, c)
			require.NotEmpty(t, got)
			schema := refusal(t, withoutRules, c)
			by := corpus.LayersOf(got, schema)
			for _, layer := range by {
				layers[layer]++
			}
			if *update {
				announce(t, c.Path, got, by, hookRefusal(t, c))
				return
			}
			assert.Equal(t, c.Refusal, got)
			assert.Equal(t, c.Layers, by)
			reasons[strings.Join(got, "\n")] = true
		})
	}
	assert.True(t, *update || len(reasons) >= 35, "reasons of their own: %d", len(reasons))
	t.Logf("%d files; lines by layer: %v", len(invalid), layers)
}

func judgeWithoutRules(t *testing.T) *apiserver.Judge {
	t.Helper()
	var loose []string
	for _, manifest := range crd.Manifests() {
		text, err := corpus.Loosen(manifest, false)
		require.NoError(t, err)
		loose = append(loose, text)
	}
	j, err := apiserver.New(loose)
	require.NoError(t, err)
	return j
}

// Admission can be bypassed, so the hooks refuse the same objects by themselves.
func TestInvalidObjectsAreRefusedByTheHooksToo(t *testing.T) {
	_, invalid := read(t)
	for _, c := range invalid {
		t.Run(c.Path, func(t *testing.T) {
			assert.NotEmpty(t, hookRefusal(t, c))
			assert.True(t, *update || assert.Equal(t, c.Hooks, hookRefusal(t, c)))
		})
	}
}

// hookRefusal decodes a case as the hooks do, and gives what they say to it.
func hookRefusal(t *testing.T, c corpus.Case) []string {
	t.Helper()
	var lines []string
	switch c.Object.GetKind() {
	case crdv1.KindTCPIngress:
		var obj crdv1.TCPIngress
		if err := decode(c.Object, &obj); err != nil {
			return []string{err.Error()}
		}
		for _, err := range validate.TCPIngress(&obj) {
			lines = append(lines, err.Error())
		}
	case crdv1.KindTCPIngressClass:
		var obj, old crdv1.TCPIngressClass
		if err := decode(c.Object, &obj); err != nil {
			return []string{err.Error()}
		}
		for _, err := range validate.Class(&obj.Spec, obj.Name) {
			lines = append(lines, err.Error())
		}
		if c.Old != nil {
			require.NoError(t, decode(c.Old, &old))
			for _, err := range validate.ClassUpdate(&old.Spec, &obj.Spec, obj.Name) {
				lines = append(lines, err.Error())
			}
		}
	default:
		t.Fatalf("no kind of ours: %s", c.Object.GetKind())
	}
	return lines
}

func decode(from *unstructured.Unstructured, to any) error {
	data, err := from.MarshalJSON()
	if err != nil {
		return err
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.DisallowUnknownFields()
	return decoder.Decode(to)
}

// announce rewrites the comment lines at the top of a file.
func announce(t *testing.T, path string, lines, layers, hooks []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	require.NoError(t, err)
	for bytes.HasPrefix(data, []byte("#")) {
		_, data, _ = bytes.Cut(data, []byte("\n"))
	}
	require.NoError(t, os.WriteFile(path, append([]byte(corpus.Announcement(lines, layers, hooks)), data...), 0o644))
}
