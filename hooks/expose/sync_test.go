package expose

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
	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

var update = flag.Bool("update", false, "rewrite the recorded responses")

// answer posts a body to the hook, as the server would.
func answer(t *testing.T, body []byte) []byte {
	t.Helper()
	hooks := Hooks()
	require.Len(t, hooks, 2)
	require.Equal(t, "/expose/sync", hooks[1].Path)
	response, err := hooks[1].Serve(body, time.Date(2026, 3, 2, 9, 0, 0, 0, time.UTC))
	require.NoError(t, err)
	encoded, err := metacontroller.Encode(response)
	require.NoError(t, err)
	return encoded
}

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
			recorded := strings.TrimSuffix(request, ".request.json") + ".response.json"
			if *update {
				require.NoError(t, os.WriteFile(recorded, indent(t, got), 0o644))
			}
			want, err := os.ReadFile(recorded)
			require.NoError(t, err)
			assert.Empty(t, cmp.Diff(string(want), string(indent(t, got))))
			assertMinimal(t, got)
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

// assertMinimal finds what Metacontroller would take for a wish of ours.
func assertMinimal(t *testing.T, body []byte) {
	t.Helper()
	for _, a := range attachmentsOf(t, body) {
		assert.NotContains(t, a, "status")
		encoded, err := json.Marshal(a)
		require.NoError(t, err)
		for _, zero := range []string{":null", `:""`, ":0,", ":0}", ":{}", ":[]", `"TCP"`} {
			assert.NotContains(t, string(encoded), zero)
		}
	}
}

func attachmentsOf(t *testing.T, body []byte) []map[string]any {
	t.Helper()
	var response struct {
		Attachments []map[string]any `json:"attachments"`
	}
	require.NoError(t, json.Unmarshal(body, &response))
	require.NotNil(t, response.Attachments)
	return response.Attachments
}

// TestNothingIsWrittenInSteadyState creates what the hook asks for as
// Metacontroller does, lets the API server default it, and asks again: first as
// before, then with a mistake in the annotation.
func TestNothingIsWrittenInSteadyState(t *testing.T) {
	body, err := os.ReadFile("testdata/sync-tcp-and-udp.request.json")
	require.NoError(t, err)
	created := map[string]map[string]any{}
	for _, wanted := range attachmentsOf(t, answer(t, body)) {
		object, err := simulate.JSONObject(wanted)
		require.NoError(t, err)
		object, err = simulate.Create(object)
		require.NoError(t, err)
		defaultProtocol(t, object)
		created["data/"+nameOf(wanted)] = object
	}
	require.Len(t, created, 2)

	for name, annotation := range map[string]string{
		"as before":               "6379, 5432:postgres, 53/UDP",
		"written in other order":  "53/udp,5432:postgres,6379:6379",
		"with a mistake in it":    "6379, 5432:postgers, 53/UDP",
		"with nothing in it":      "",
		"with a port of the pool": "auto",
	} {
		t.Run(name, func(t *testing.T) {
			var request map[string]any
			require.NoError(t, json.Unmarshal(body, &request))
			request["attachments"] = map[string]any{"TCPIngress.nginx-stream.dev/v1": created}
			require.NoError(t, unstructured.SetNestedField(request, annotation, "object", "metadata", "annotations", "nginx-stream.dev/expose"))
			again, err := json.Marshal(request)
			require.NoError(t, err)

			wanted := attachmentsOf(t, answer(t, again))
			require.Len(t, wanted, len(created))
			for _, w := range wanted {
				desired, err := simulate.JSONObject(w)
				require.NoError(t, err)
				observed := created["data/"+nameOf(w)]
				applied, err := simulate.Apply(observed, desired)
				require.NoError(t, err)
				assert.Empty(t, cmp.Diff(observed, applied))
			}
		})
	}
}

// defaultProtocol does what the default in the CRD does.
func defaultProtocol(t *testing.T, object map[string]any) {
	t.Helper()
	rules := rulesIn(t, object)
	for _, rule := range rules {
		fields, ok := rule.(map[string]any)
		require.True(t, ok)
		if _, has := fields["protocol"]; !has {
			fields["protocol"] = "TCP"
		}
	}
	require.NoError(t, unstructured.SetNestedSlice(object, rules, "spec", "rules"))
}

func nameOf(object map[string]any) string {
	return (&unstructured.Unstructured{Object: object}).GetName()
}

func rulesIn(t *testing.T, object map[string]any) []any {
	t.Helper()
	rules, found, err := unstructured.NestedSlice(object, "spec", "rules")
	require.NoError(t, err)
	require.True(t, found)
	return rules
}

func TestWhatCannotBeReadIsAnError(t *testing.T) {
	body, err := os.ReadFile("testdata/sync-steady.request.json")
	require.NoError(t, err)
	whole := string(body)
	cases := map[string]string{
		"a truncated body":                        whole[:len(whole)/2],
		"no object":                               strings.Replace(whole, `"object":`, `"objekt":`, 1),
		"an object that is no Service":            strings.Replace(whole, `"kind": "Service"`, `"kind": "Pod"`, 1),
		"no group of TCPIngresses":                strings.Replace(whole, "TCPIngress.nginx-stream.dev/v1", "TCPIngress.nginx-stream.dev/v2", 1),
		"a backend port of an attachment as text": strings.Replace(whole, `"number": 6379`, `"number": "6379"`, 1),
		"a list of annotations":                   strings.Replace(whole, `"annotations": {`, `"annotations": [], "x": {`, 1),
		"ports of the Service as an object":       strings.Replace(whole, `"ports": [`, `"ports": {}, "x": [`, 1),
	}
	for name, broken := range cases {
		t.Run(name, func(t *testing.T) {
			require.False(t, whole == broken, "the body has been changed")
			response, err := Hooks()[1].Serve([]byte(broken), time.Time{})
			require.Error(t, err)
			assert.Nil(t, response)
		})
	}
}

// TestAnEditReachesTheObject: the merge must take away what the annotation does
// not ask for any more, or the API server refuses the result.
func TestAnEditReachesTheObject(t *testing.T) {
	ports := []servicePort{{Name: "one", Port: 8000}, {Name: "two", Port: 8001}}
	cases := map[string]struct{ before, after string }{
		"a number becomes a name":        {"8000", "8000:one"},
		"a name becomes a number":        {"8000:one, 8001", "8000:8001, 8001"},
		"two ports become a range":       {"8000, 8001", "8000-8001"},
		"a range becomes a port":         {"8000-8001", "8000"},
		"a port goes, another one comes": {"8000:one, 8001:two", "9000:one, 8001:two"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			wish := func(annotation string) map[string]any {
				list, problem := desired(newService(ports...), annotation)
				require.Empty(t, problem)
				require.Len(t, list, 1)
				object, err := simulate.JSONObject(list[0])
				require.NoError(t, err)
				return object
			}
			observed, err := simulate.Create(wish(tc.before))
			require.NoError(t, err)
			defaultProtocol(t, observed)
			got, err := simulate.Apply(observed, wish(tc.after))
			require.NoError(t, err)
			defaultProtocol(t, got)
			want := wish(tc.after)
			defaultProtocol(t, want)
			assert.ElementsMatch(t, rulesIn(t, want), rulesIn(t, got))
		})
	}
}
