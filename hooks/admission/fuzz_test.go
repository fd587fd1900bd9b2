package admission

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
)

// Whatever comes in, the answer is one that the API server takes, or one plain
// sentence; and the same body has the same answer.
func FuzzReview(f *testing.F) {
	for _, seed := range []string{
		review("CREATE", `{"spec":{"candles":11}}`, ""),
		review("UPDATE", `{"spec":{"candles":1}}`, `{"spec":{"candles":2}}`),
		review("UPDATE", `{"metadata":{},"spec":{"candles":"x"}}`, `{"spec":{"candles":"x"}}`),
		review("DELETE", "null", "null"),
		review("CONNECT", "[]", "0"),
		"{}", "null", "",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		given := bytes.Clone(body)
		answer, err := cakes().Serve(body)
		require.Equal(t, given, body, "the body was changed")
		again, errAgain := cakes().Serve(body)
		require.Equal(t, answer, again)
		require.Equal(t, err, errAgain)
		Peek(body)
		if err != nil {
			var bad *BadRequest
			require.ErrorAs(t, err, &bad)
			assert.Less(t, len(bad.Problem), 2000)
			assert.False(t, strings.ContainsFunc(bad.Problem, unicode.IsControl), "%q", bad.Problem)
			return
		}
		request, err := decode(body)
		require.NoError(t, err)
		var got admissionv1.AdmissionReview
		require.NoError(t, json.Unmarshal(answer, &got))
		require.Equal(t, "admission.k8s.io/v1", got.APIVersion)
		require.Equal(t, "AdmissionReview", got.Kind)
		require.Equal(t, strings.ToValidUTF8(string(request.UID), "\ufffd"), string(got.Response.UID))
		require.Empty(t, got.Response.Patch)
		if !got.Response.Allowed {
			require.NotEqual(t, admissionv1.Delete, request.Operation)
			require.NotEmpty(t, got.Response.Result.Message)
		}
	})
}
