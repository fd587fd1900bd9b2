package podset

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

var update = flag.Bool("update", false, "rewrite the recorded responses")

func noon() time.Time { return time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC) }

// answer posts a body to the hook, as the server would.
func answer(t require.TestingT, body []byte) []byte {
	hooks := Hooks()
	require.Len(t, hooks, 1)
	require.Equal(t, "/podset/sync", hooks[0].Path)
	response, err := hooks[0].Serve(body, noon())
	require.NoError(t, err)
	encoded, err := metacontroller.Encode(response)
	require.NoError(t, err)
	return encoded
}

// TestRecordedRequests has a request for each rule; its name says which.
func TestRecordedRequests(t *testing.T) {
	requests, err := filepath.Glob("testdata/sync-*.request.json")
	require.NoError(t, err)
	require.NotEmpty(t, requests)
	for _, request := range requests {
		name := strings.TrimSuffix(filepath.Base(request), ".request.json")
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(request)
			require.NoError(t, err)
			got := answer(t, body)
			for range 10 {
				require.Equal(t, string(got), string(answer(t, body)), "the same request gives the same bytes")
			}
			assertOneChange(t, body, got)
			assertMinimal(t, got)
			recorded := strings.TrimSuffix(request, ".request.json") + ".response.json"
			if *update {
				require.NoError(t, os.WriteFile(recorded, indent(t, got), 0o644))
			}
			want, err := os.ReadFile(recorded)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(string(want), string(indent(t, got))))
		})
	}
}

func indent(t *testing.T, body []byte) []byte {
	t.Helper()
	var value any
	require.NoError(t, json.Unmarshal(body, &value))
	indented, err := json.MarshalIndent(value, "", "  ")
	require.NoError(t, err)
	return append(indented, '\n')
}

// assertOneChange compares what is there with what is asked for.
func assertOneChange(t *testing.T, request, response []byte) {
	t.Helper()
	var before struct {
		Children map[string]map[string]struct {
			Metadata struct {
				Name              string `json:"name"`
				DeletionTimestamp string `json:"deletionTimestamp"`
			} `json:"metadata"`
		} `json:"children"`
	}
	require.NoError(t, json.Unmarshal(request, &before))
	there := map[string]bool{}
	for _, p := range before.Children["Pod.v1"] {
		if p.Metadata.DeletionTimestamp == "" {
			there[p.Metadata.Name] = true
		}
	}
	changes := 0
	for _, p := range podsOf(t, response) {
		name, found, err := unstructured.NestedString(p, "metadata", "name")
		require.NoError(t, err)
		require.True(t, found)
		if !there[name] {
			changes++
		}
		delete(there, name)
	}
	assert.LessOrEqual(t, changes+len(there), 1, "pods added and removed")
}

func podsOf(t *testing.T, response []byte) []map[string]any {
	t.Helper()
	var after struct {
		Children []map[string]any `json:"children"`
	}
	require.NoError(t, json.Unmarshal(response, &after))
	require.NotNil(t, after.Children)
	return after.Children
}

// assertMinimal finds fields that nobody wrote.
func assertMinimal(t *testing.T, response []byte) {
	t.Helper()
	for _, p := range podsOf(t, response) {
		assert.NotContains(t, p, "status")
		encoded, err := json.Marshal(p)
		require.NoError(t, err)
		for _, zero := range []string{":null", `:""`, ":{}", ":[]", "creationTimestamp", "managedFields", "ownerReferences"} {
			assert.NotContains(t, string(encoded), zero)
		}
	}
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	body, err := os.ReadFile("testdata/sync-complete.request.json")
	require.NoError(t, err)
	whole := string(body)
	cases := map[string]string{
		"a truncated body":         whole[:len(whole)/2],
		"no parent":                strings.Replace(whole, `"parent":`, `"parents":`, 1),
		"a parent that is another": strings.Replace(whole, `"kind": "PodSet",`+"\n    \"metadata\"", `"kind": "ReplicaSet",`+"\n    \"metadata\"", 1),
		"no group of pods":         strings.Replace(whole, `"Pod.v1"`, `"Pod.v2"`, 1),
		"a pod with a bad time":    strings.Replace(whole, `"creationTimestamp": "2026-03-02T08:15:00Z"`, `"creationTimestamp": "yesterday"`, 1),
		"replicas as text":         strings.Replace(whole, `"replicas": 3`, `"replicas": "3"`, 1),
	}
	for name, broken := range cases {
		t.Run(name, func(t *testing.T) {
			require.False(t, whole == broken, "the body has been changed")
			response, err := Hooks()[0].Serve([]byte(broken), noon())
			require.Error(t, err)
			assert.Nil(t, response)
		})
	}
}
