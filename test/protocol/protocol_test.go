// Package protocol posts class syncs to the hooks over real HTTP: whole ones in
// every order, and ones that cannot be read.
package protocol

import (
	"bytes"
	"encoding/json"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/server"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress"
	"github.com/nginx-stream/tcpingress/test/bench"
)

const classSync = "/tcpingressclass/sync"

func listen(t *testing.T) string {
	t.Helper()
	srv, err := server.New(server.Options{}, tcpingress.Hooks())
	require.NoError(t, err)
	ts := httptest.NewServer(srv.Handler())
	t.Cleanup(ts.Close)
	return ts.URL
}

func post(t *testing.T, url string, body io.Reader) (int, string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, body)
	require.NoError(t, err)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	answer, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return res.StatusCode, string(answer)
}

// recorded is a class sync in steady state with 60 TCPIngresses: the times of its
// conditions are carried over, so that the clock does not show in the answer.
func recorded(t *testing.T) []byte {
	t.Helper()
	w := bench.World{Ingresses: 60, Classes: 2}
	body := w.Class()
	for range 2 {
		answer, err := bench.Serve(tcpingress.Hooks(), classSync, body)
		require.NoError(t, err)
		body, err = w.Settled(answer)
		require.NoError(t, err)
	}
	return body
}

// shuffled writes the members of every object in the body in random order.
func shuffled(random *rand.Rand, value any) []byte {
	var out bytes.Buffer
	write(&out, random, value)
	return out.Bytes()
}

func write(out *bytes.Buffer, random *rand.Rand, value any) {
	object, ok := value.(map[string]any)
	if !ok {
		data, err := json.Marshal(value)
		if err != nil {
			panic(err) // it came out of JSON
		}
		out.Write(data)
		return
	}
	keys := slices.Sorted(maps.Keys(object))
	random.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
	out.WriteByte('{')
	for i, key := range keys {
		if i > 0 {
			out.WriteByte(',')
		}
		out.WriteString(strconv.Quote(key) + ":")
		write(out, random, object[key])
	}
	out.WriteByte('}')
}

func TestSameStateGivesTheSameBytes(t *testing.T) {
	t.Parallel()
	url := listen(t) + classSync
	body := recorded(t)
	var tree any
	require.NoError(t, json.Unmarshal(body, &tree))
	code, want := post(t, url, bytes.NewReader(body))
	require.Equal(t, http.StatusOK, code, want)
	require.Contains(t, want, `"live":true`)

	random := rand.New(rand.NewPCG(1, 2))
	for i := range 100 {
		code, got := post(t, url, bytes.NewReader(shuffled(random, tree)))
		require.Equal(t, http.StatusOK, code)
		require.True(t, want == got, "order %d gives other bytes", i)
	}
}

func TestWhatCannotBeReadIsNeverASmallerAnswer(t *testing.T) {
	t.Parallel()
	body := string(recorded(t))
	replace := func(old, text string) string {
		require.Contains(t, body, old)
		return strings.Replace(body, old, text, 1)
	}
	cases := map[string]struct {
		body string
		code int
		want string
	}{
		"truncated":               {body[:len(body)-100], 400, "ends"},
		"cut inside an object":    {body[:len(body)/2], 400, "ends"},
		"empty":                   {"", 400, "empty"},
		"no parent":               {replace(`"parent":`, `"nobody":`), 400, "the request has no parent"},
		"parent is null":          {`{"parent":null,"children":{},"related":{}}`, 400, "the request has no parent"},
		"no TCPIngresses":         {`{"parent":` + parentOf(t, body) + `,"children":{"ConfigMap.v1":{},"Service.v1":{},"TCPIngressSlice.nginx-stream.dev/v1":{}},"related":{}}`, 500, "the request has no related group TCPIngress.nginx-stream.dev/v1"},
		"an object of wrong kind": {replace(`"kind":"TCPIngress"`, `"kind":"Ingress"`), 400, "another kind"},
		"a wrong version":         {replace(`"apiVersion":"nginx-stream.dev/v1","kind":"TCPIngress"`, `"apiVersion":"nginx-stream.dev/v2","kind":"TCPIngress"`), 400, "another kind"},
		"a child nobody knows":    {replace(`"children":{`, `"children":{"Secret.v1":{"a/b":{"apiVersion":"v1","kind":"Secret"}},`), 400, "Secret.v1"},
		"a port that is a word":   {replace(`"port":20000`, `"port":"redis"`), 400, "port"},
	}
	url := listen(t) + classSync
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code, answer := post(t, url, strings.NewReader(tc.body))
			assert.Equal(t, tc.code, code)
			assert.Contains(t, answer, tc.want)
			assert.Len(t, strings.Split(strings.TrimSpace(answer), "\n"), 1, "one plain sentence")
			assert.NotContains(t, answer, "children\":[")
		})
	}
}

func parentOf(t *testing.T, body string) string {
	t.Helper()
	var request struct{ Parent json.RawMessage }
	require.NoError(t, json.Unmarshal([]byte(body), &request))
	return string(request.Parent)
}

func TestTooLargeABodyIsRefused(t *testing.T) {
	t.Parallel()
	code, answer := post(t, listen(t)+classSync, io.LimitReader(zeros{}, 70<<20))
	assert.Equal(t, http.StatusRequestEntityTooLarge, code)
	assert.Contains(t, answer, "larger than")
}

// zeros is an endless body of blanks, which JSON allows anywhere.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}
