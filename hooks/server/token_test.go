package server

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

const needsToken = "this hook answers only to those who send a bearer token that the server knows, see authorization of the controller's webhook"

func tokenFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "tokens")
	require.NoError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

func TestHooksAskForAToken(t *testing.T) {
	const file = "\nold-token\n  new-token\r\n\n"
	tests := map[string]struct {
		file   string
		header []string
		want   int
	}{
		"a token of the file":                {file, []string{"Bearer old-token"}, 200},
		"another one":                        {file, []string{"Bearer new-token"}, 200},
		"a scheme in another case":           {file, []string{"bearer new-token"}, 200},
		"blanks around the token":            {file, []string{"Bearer  new-token "}, 200},
		"a token without a line end":         {"t", []string{"Bearer t"}, 200},
		"no token":                           {file, nil, 401},
		"an empty header":                    {file, []string{""}, 401},
		"an empty token":                     {file, []string{"Bearer "}, 401},
		"the scheme alone":                   {file, []string{"Bearer"}, 401},
		"another token":                      {file, []string{"Bearer new-tokem"}, 401},
		"a beginning of a token":             {file, []string{"Bearer new-toke"}, 401},
		"a token and more":                   {file, []string{"Bearer new-token2"}, 401},
		"both tokens in one":                 {file, []string{"Bearer old-token new-token"}, 401},
		"a token in another case":            {file, []string{"Bearer NEW-TOKEN"}, 401},
		"a token without scheme":             {file, []string{"new-token"}, 401},
		"another scheme":                     {file, []string{"Basic new-token"}, 401},
		"two headers":                        {file, []string{"Bearer new-token", "Bearer new-token"}, 401},
		"an empty file lets nobody in":       {"", []string{"Bearer "}, 401},
		"a file of blank lines neither":      {" \n\t\n", []string{"Bearer "}, 401},
		"an empty file and an empty header":  {"", []string{""}, 401},
		"an empty file and no header at all": {"", nil, 401},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			url := start(t, Options{HookTokenFile: tokenFile(t, tc.file)}, okHook())
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/ok/sync", strings.NewReader(request))
			require.NoError(t, err)
			r.Header.Set("Content-Type", "application/json")
			r.Header["Authorization"] = tc.header
			got, err := http.DefaultClient.Do(r)
			require.NoError(t, err)
			a := answerOf(t, got)
			assert.Equal(t, tc.want, a.code)
			if tc.want == 401 {
				assert.Equal(t, needsToken, a.body)
				assert.Equal(t, "Bearer", a.header.Get("WWW-Authenticate"))
			} else {
				assert.Equal(t, response, a.body)
			}
		})
	}
}

func TestWithoutATokenNothingIsRead(t *testing.T) {
	url := start(t, Options{HookTokenFile: tokenFile(t, "secret"), MaxConcurrent: 1}, hook("/ok/sync", func() (any, error) {
		t.Error("the hook was called")
		return metacontroller.DecoratorResponse{}, nil
	}))
	// Of the body not one byte is sent, and the answer comes all the same.
	for _, length := range []string{"10", "1000000"} {
		got := raw(t, url, postHead+"Content-Length: "+length+"\r\n\r\n")
		assert.Equal(t, http.StatusUnauthorized, got.code)
		assert.Equal(t, needsToken, got.body)
	}
	for _, path := range []string{"/healthz", "/readyz", "/metrics"} {
		assert.Equal(t, http.StatusOK, do(t, "GET", url+path, "", "").code, path)
	}
	assert.Contains(t, do(t, "GET", url+"/metrics", "", "").body, `tcpingress_hook_requests_total{code="401",hook="/ok/sync"} 2`)
	assert.Equal(t, http.StatusNotFound, do(t, "POST", url+"/ok/nothing", "application/json", request).code)
}

func TestGrammarOfTokens(t *testing.T) {
	for _, accept := range []string{"a", "abc.DEF-0_9~+/==", "!#$%&'*", "a\nb\n", "a\r\nb", "\n\n"} {
		assert.NoError(t, new(tokens).load([][]byte{[]byte(accept)}), "%q", accept)
	}
	for _, reject := range []string{"two words", "tab\tinside", "umläut", "nul\x00", "\xff"} {
		err := new(tokens).load([][]byte{[]byte("good\n" + reject)})
		require.EqualError(t, err, "line 2 is no token: it must be one word of printable ASCII characters", "%q", reject)
		assert.NotContains(t, err.Error(), reject, "a token must not get into a log")
	}
}
