// Package admission posts reviews, as the API server sends them, to the path that
// judges our kinds, over real HTTP: recorded ones, the corpus of the
// CustomResourceDefinitions, and ones that nobody should send.
package admission

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/nginx-stream/tcpingress/hooks/server"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress"
	"github.com/nginx-stream/tcpingress/test/crd/corpus"
)

var update = flag.Bool("update", false, "rewrite the recorded answers")

func listen(t *testing.T, o server.Options) string {
	t.Helper()
	srv, err := server.New(o, tcpingress.Hooks(), tcpingress.Admission())
	require.NoError(t, err)
	ts := httptest.NewServer(srv.Handler())
	t.Cleanup(ts.Close)
	return ts.URL
}

func post(t *testing.T, url, contentType string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	require.NoError(t, err)
	req.Header.Set("Content-Type", contentType)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode, string(answer)
}

const js = "application/json"

// validate is the path in the manifests; that it moves must be seen here.
const validate = "/admission/validate"

func TestRecordedReviews(t *testing.T) {
	url := listen(t, server.Options{}) + validate
	requests, err := filepath.Glob("testdata/*.request.json")
	require.NoError(t, err)
	require.NotEmpty(t, requests)
	for _, path := range requests {
		name := strings.TrimSuffix(filepath.Base(path), ".request.json")
		t.Run(name, func(t *testing.T) {
			body, err := os.ReadFile(path)
			require.NoError(t, err)
			code, answer := post(t, url, js, bytes.NewReader(body))
			file := strings.TrimSuffix(path, ".request.json")
			if unread := strings.HasPrefix(name, "unread-"); unread {
				require.Equal(t, http.StatusBadRequest, code)
				file += ".answer.txt"
				answer += "\n"
			} else {
				require.Equal(t, http.StatusOK, code, answer)
				checkAnswer(t, body, []byte(answer))
				file += ".response.json"
				answer = indented(t, answer)
			}
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(answer), 0o600))
			}
			want, err := os.ReadFile(file)
			require.NoError(t, err)
			assert.Equal(t, string(want), answer)
		})
	}
}

// checkAnswer holds every answer to what the API server insists on.
func checkAnswer(t *testing.T, request, answer []byte) admissionv1.AdmissionResponse {
	t.Helper()
	var asked, got admissionv1.AdmissionReview
	require.NoError(t, json.Unmarshal(request, &asked))
	require.NoError(t, json.Unmarshal(answer, &got))
	assert.Equal(t, asked.TypeMeta, got.TypeMeta)
	require.NotNil(t, got.Response)
	assert.Equal(t, asked.Request.UID, got.Response.UID)
	assert.Nil(t, got.Request)
	assert.Nil(t, got.Response.Patch)
	assert.Nil(t, got.Response.PatchType)
	total := 0
	for _, warning := range got.Response.Warnings {
		assert.LessOrEqual(t, len(warning), 256, "the API server cuts longer ones")
		total += len(warning)
	}
	assert.LessOrEqual(t, total, 4096, "the API server drops what is more")
	if !got.Response.Allowed {
		require.NotNil(t, got.Response.Result)
		assert.NotEmpty(t, got.Response.Result.Details.Causes)
	}
	return *got.Response
}

func indented(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, json.Indent(&b, []byte(text), "", "  "))
	return b.String() + "\n"
}

// What differs in dryRun only has the same answer.
func TestDryRunMakesNoDifference(t *testing.T) {
	wet, err := os.ReadFile("testdata/create-with-every-error-at-once.response.json")
	require.NoError(t, err)
	dry, err := os.ReadFile("testdata/create-dry-run-with-every-error-at-once.response.json")
	require.NoError(t, err)
	assert.Equal(t, string(wet), string(dry))
}

func TestBodiesThatNobodyShouldSend(t *testing.T) {
	url := listen(t, server.Options{MaxConcurrent: 1}) + validate
	tests := map[string]struct {
		contentType, body string
		code              int
		want              string
	}{
		"larger than 8 MiB":      {js, `{"kind":"` + strings.Repeat("x", 8<<20) + `"}`, 413, "the body is larger than 8 MiB"},
		"just short of 8 MiB":    {js, `{"kind":"` + strings.Repeat("x", 8<<20-11) + `"}`, 400, `the body is of apiVersion "" and kind "xxx`},
		"no body":                {js, "", 400, "the body is empty"},
		"no JSON":                {js, "redis", 400, "the review is no valid JSON at byte 0"},
		"another content type":   {"application/yaml", "{}", 415, "the content type must be application/json"},
		"nested without end":     {js, `{"request":{"object":` + strings.Repeat("[", 1<<20), 400, "the review is no valid JSON at byte "},
		"a million rules":        {js, `{"request":{"object":{"spec":{"rules":[` + strings.Repeat("{},", 1<<20) + `{}]}}}}`, 400, `the review has a list or map of more than 10000 items at "/request/object/spec/rules"`},
		"a uid of 100,000 bytes": {js, `{"request":{"uid":"` + strings.Repeat("u", 100_000) + `"}}`, 400, `the body is of apiVersion "" and kind ""`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			code, answer := post(t, url, tc.contentType, strings.NewReader(tc.body))
			assert.Equal(t, tc.code, code)
			assert.True(t, strings.HasPrefix(answer, tc.want), answer)
			assert.LessOrEqual(t, len(answer), 903)
		})
	}
	body, err := os.ReadFile("testdata/create-valid.request.json")
	require.NoError(t, err)
	code, _ := post(t, url, js, bytes.NewReader(body))
	assert.Equal(t, http.StatusOK, code, "the process goes on")
}

func TestAdmissionDoesNotWaitForHooks(t *testing.T) {
	srv, err := server.New(server.Options{MaxConcurrent: 1, HookTokenFile: os.DevNull}, nil, tcpingress.Admission())
	require.NoError(t, err)
	ts := httptest.NewServer(srv.Handler())
	t.Cleanup(ts.Close)
	body, err := os.ReadFile("testdata/create-valid.request.json")
	require.NoError(t, err)
	code, answer := post(t, ts.URL+validate, js, bytes.NewReader(body))
	assert.Equal(t, http.StatusOK, code, "no token is asked for: %s", answer)
}

// reviewOf makes the review of a corpus case.
func reviewOf(t *testing.T, c corpus.Case) []byte {
	t.Helper()
	kind := metav1.GroupVersionKind(c.Object.GroupVersionKind())
	request := &admissionv1.AdmissionRequest{
		UID: "u-1", Kind: kind, Operation: admissionv1.Create,
		Name: c.Object.GetName(), Namespace: c.Object.GetNamespace(), Object: rawOf(t, c.Object),
	}
	if c.Old != nil {
		request.Operation, request.OldObject = admissionv1.Update, rawOf(t, c.Old)
	}
	body, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "admission.k8s.io/v1", Kind: "AdmissionReview"}, Request: request,
	})
	require.NoError(t, err)
	return body
}

func rawOf(t *testing.T, object *unstructured.Unstructured) runtime.RawExtension {
	t.Helper()
	raw, err := object.MarshalJSON()
	require.NoError(t, err)
	return runtime.RawExtension{Raw: raw}
}

func TestWhatTheDefinitionsRefuseIsRefusedHereToo(t *testing.T) {
	url := listen(t, server.Options{}) + validate
	valid, invalid, err := corpus.Read(os.DirFS("../crd"))
	require.NoError(t, err)
	require.NotEmpty(t, valid)
	require.NotEmpty(t, invalid)
	for _, c := range valid {
		t.Run(c.Path, func(t *testing.T) {
			body := reviewOf(t, c)
			code, answer := post(t, url, js, bytes.NewReader(body))
			require.Equal(t, http.StatusOK, code, answer)
			got := checkAnswer(t, body, []byte(answer))
			assert.True(t, got.Allowed, answer)
		})
	}
	for _, c := range invalid {
		t.Run(c.Path, func(t *testing.T) {
			body := reviewOf(t, c)
			code, answer := post(t, url, js, bytes.NewReader(body))
			if code == http.StatusBadRequest {
				return // a value of the wrong type, which only a schema has words for
			}
			require.Equal(t, http.StatusOK, code, answer)
			got := checkAnswer(t, body, []byte(answer))
			// The API server drops fields that it does not know, or refuses them itself.
			unknownToAll := strings.Contains(c.Path, "/unknown-field")
			assert.Equal(t, unknownToAll, got.Allowed, answer)
			for _, line := range c.Hooks {
				assert.True(t, unknownToAll || strings.Contains(got.Result.Message, line), "%q says nothing of %q", answer, line)
			}
		})
	}
}
