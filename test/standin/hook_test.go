package standin

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

func TestCall(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		code int
		body string
		want string // error
	}{
		"a good answer":              {code: 200, body: `{"status":{"a":1},"children":[{"kind":"Pod"}]}`},
		"an unknown field":           {code: 200, body: `{"state":{}}`, want: `decoding answer of hook /sync: unknown field "state"`},
		"a field twice":              {code: 200, body: `{"status":{},"status":{}}`, want: `decoding answer of hook /sync: duplicate field "status"`},
		"a field in the wrong case":  {code: 200, body: `{"Status":{}}`, want: `decoding answer of hook /sync: unknown field "Status"`},
		"no JSON":                    {code: 200, body: `no`, want: "decoding answer of hook /sync: invalid character 'o' in literal null (expecting 'u')"},
		"another answer of success":  {code: 204, want: "hook /sync answered 204: "},
		"an answer with its reasons": {code: 400, body: "not so\n", want: "hook /sync answered 400: not so"},
		"a busy hook":                {code: 429, want: "the hook is busy and asks to be called again after 7s"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Retry-After", "7")
				w.WriteHeader(tc.code)
				_, _ = w.Write([]byte(tc.body))
			}))
			defer server.Close()
			s := &StandIn{hooks: newHookClient()}
			defer s.hooks.CloseIdleConnections()
			h := &hook{path: "/sync", url: server.URL + "/sync", timeout: 10 * time.Second}
			var response simulate.CompositeResponse
			err := s.call(t.Context(), h, simulate.CompositeRequest{}, &response)
			assert.Equal(t, map[string]int{"/sync": 1}, s.HookCalls())
			if tc.want != "" {
				require.EqualError(t, err, tc.want)
				return
			}
			require.NoError(t, err)
			assert.JSONEq(t, `{"a":1}`, string(response.Status))
			assert.Len(t, response.Children, 1)
		})
	}
}

func TestRetryAfter(t *testing.T) {
	t.Parallel()
	assert.Equal(t, 3*time.Second, retryAfter("3"))
	assert.Zero(t, retryAfter(""))
	assert.Zero(t, retryAfter("soon"))
	in := retryAfter(time.Now().Add(time.Hour).UTC().Format(http.TimeFormat))
	assert.InDelta(t, time.Hour.Seconds(), in.Seconds(), 60)
}
