package admission

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A Cake may have at most ten candles, and no fewer than before.
type cake struct {
	Spec struct {
		Candles int `json:"candles"`
	} `json:"spec"`
}

func judgeCake(before, after *cake) Verdict {
	var v Verdict
	path := field.NewPath("spec", "candles")
	if after.Spec.Candles > 10 {
		v.Errors = append(v.Errors, field.Invalid(path, after.Spec.Candles, "must be at most 10"))
	}
	if before != nil && after.Spec.Candles < before.Spec.Candles {
		v.Errors = append(v.Errors, field.Forbidden(path, "nobody gets younger"))
	}
	if after.Spec.Candles == 0 {
		v.Warnings = append(v.Warnings, "it is dark")
	}
	return v
}

func cakes() Hook {
	return New("/cakes", For(schema.GroupVersionKind{Group: "bakery.example.com", Version: "v1", Kind: "Cake"}, judgeCake))
}

// review writes one with the operation and the objects; "" leaves a member out.
func review(operation, object, oldObject string) string {
	members := []string{
		`"uid":"u-1"`, `"kind":{"group":"bakery.example.com","version":"v1","kind":"Cake"}`,
		`"name":"plum"`, `"namespace":"party"`, `"operation":"` + operation + `"`,
	}
	if object != "" {
		members = append(members, `"object":`+object)
	}
	if oldObject != "" {
		members = append(members, `"oldObject":`+oldObject)
	}
	return `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{` + strings.Join(members, ",") + `}}`
}

func TestVerdicts(t *testing.T) {
	const (
		allowed = `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u-1","allowed":true}}`
		denied  = `Cake.bakery.example.com "plum" is invalid: `
	)
	tests := map[string]struct {
		body string
		want string
	}{
		"a good object":                                    {review("CREATE", `{"spec":{"candles":3}}`, ""), allowed},
		"null beside it":                                   {review("CREATE", `{"spec":{"candles":3}}`, "null"), allowed},
		"a bad one":                                        {review("CREATE", `{"spec":{"candles":11}}`, ""), denied + "spec.candles: Invalid value: 11: must be at most 10"},
		"all errors at once":                               {review("UPDATE", `{"spec":{"candles":11}}`, `{"spec":{"candles":12}}`), denied + "[spec.candles: Invalid value: 11: must be at most 10, spec.candles: Forbidden: nobody gets younger]"},
		"a good update":                                    {review("UPDATE", `{"spec":{"candles":5}}`, `{"spec":{"candles":4}}`), allowed},
		"an update that leaves a bad spec":                 {review("UPDATE", `{"metadata":{"labels":{"a":"b"}},"spec":{"candles":11}}`, `{"spec":{"candles":11}}`), allowed},
		"the same spec in another order":                   {review("UPDATE", `{"spec":{"candles":11,"b":[1.0,"\u0061"]}}`, `{"spec":{"b":[1,"a"], "candles":1.1e1}}`), allowed},
		"an update that moves within what is bad":          {review("UPDATE", `{"spec":{"candles":12}}`, `{"spec":{"candles":11}}`), denied + "spec.candles: Invalid value: 12: must be at most 10"},
		"a change of a field that we do not know":          {review("UPDATE", `{"spec":{"candles":11,"new":1}}`, `{"spec":{"candles":11,"new":2}}`), denied + "spec.candles: Invalid value: 11: must be at most 10"},
		"a bad spec where there was none":                  {review("UPDATE", `{"spec":{"candles":11}}`, `{}`), denied + "spec.candles: Invalid value: 11: must be at most 10"},
		"an update without spec on either side":            {review("UPDATE", `{"status":{}}`, `{}`), allowed},
		"an old object that cannot be read, nothing new":   {review("UPDATE", `{"spec":{"candles":"x"}}`, `{"spec":{"candles":"x"}}`), allowed},
		"a deletion of a bad object":                       {review("DELETE", "null", `{"spec":{"candles":11}}`), allowed},
		"a deletion without anything":                      {review("DELETE", "", ""), allowed},
		"a deletion with nulls":                            {review("DELETE", "null", "null"), allowed},
		"a warning":                                        {review("CREATE", `{}`, ""), `{"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","response":{"uid":"u-1","allowed":true,"warnings":["it is dark"]}}`},
		"members that nobody knows, in a newer API server": {strings.Replace(review("CREATE", `{"spec":{"candles":3}}`, ""), `"uid"`, `"future":{"a":[1]},"uid"`, 1), allowed},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			answer, err := cakes().Serve([]byte(tc.body))
			require.NoError(t, err)
			if !strings.HasPrefix(tc.want, denied) {
				assert.Equal(t, tc.want, string(answer))
				return
			}
			var got admissionv1.AdmissionReview
			require.NoError(t, json.Unmarshal(answer, &got))
			assert.False(t, got.Response.Allowed)
			assert.Equal(t, "u-1", string(got.Response.UID))
			assert.Equal(t, tc.want, got.Response.Result.Message)
			assert.EqualValues(t, 422, got.Response.Result.Code)
		})
	}
}

func TestReviewsThatCannotBeRead(t *testing.T) {
	good := review("CREATE", `{"spec":{"candles":3}}`, "")
	tests := map[string]struct{ body, want string }{
		"nothing":                         {"", "the review ends too early"},
		"half of it":                      {good[:40], "the review ends too early"},
		"something behind it":             {good + "{}", "the review is no valid JSON at byte 239"},
		"a list":                          {"[]", "the review has a value of the wrong type at its top"},
		"no JSON":                         {"{cake}", "the review is no valid JSON at byte 1"},
		"a member twice":                  {strings.Replace(good, `"kind"`, `"apiVersion"`, 1), `the review has the member "/apiVersion" twice`},
		"another version":                 {strings.Replace(good, "k8s.io/v1", "k8s.io/v1beta1", 1), `the body is of apiVersion "admission.k8s.io/v1beta1" and kind "AdmissionReview", and must be of "admission.k8s.io/v1" and "AdmissionReview"`},
		"another kind of review":          {strings.Replace(good, "AdmissionReview", "Foo", 1), `the body is of apiVersion "admission.k8s.io/v1" and kind "Foo", and must be of "admission.k8s.io/v1" and "AdmissionReview"`},
		"names in another case":           {strings.Replace(good, `"apiVersion"`, `"apiversion"`, 1), `the body is of apiVersion "" and kind "AdmissionReview", and must be of "admission.k8s.io/v1" and "AdmissionReview"`},
		"no request":                      {`{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":null}`, "the review has no request"},
		"no uid":                          {strings.Replace(good, "u-1", "", 1), "the request of the review has no uid"},
		"another kind of object":          {strings.Replace(good, `"Cake"`, `"Pie"`, 1), `the review is about the kind "bakery.example.com/v1 Pie", which this webhook does not judge`},
		"another operation":               {review("CONNECT", `{}`, ""), `the review is about the operation "CONNECT", which this webhook does not judge`},
		"no operation":                    {review("", `{}`, ""), `the review is about the operation "", which this webhook does not judge`},
		"a creation of nothing":           {review("CREATE", "null", ""), "the review of a CREATE has no object"},
		"an update to nothing":            {review("UPDATE", "null", `{}`), "the review of an UPDATE lacks the object or the old object"},
		"an update of nothing":            {review("UPDATE", `{}`, ""), "the review of an UPDATE lacks the object or the old object"},
		"an object of the wrong type":     {review("CREATE", `{"spec":{"candles":"3"}}`, ""), `decoding the object: the object has a value of the wrong type at "/spec/candles"`},
		"an object that is none":          {review("CREATE", `7`, ""), "decoding the object: the object has a value of the wrong type at its top"},
		"an old object of the wrong type": {review("UPDATE", `{"spec":{"candles":3}}`, `{"spec":[]}`), `decoding the old object: the old object has a value of the wrong type at "/spec"`},
		"text that is no UTF-8":           {strings.Replace(good, "plum", "pl\xffm", 1), "the review is no valid JSON at byte 161"},
		"too many items":                  {review("CREATE", `{"l":[`+strings.Repeat("0,", maxItems)+`0]}`, ""), `the review has a list or map of more than 10000 items at "/request/object/l"`},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := cakes().Serve([]byte(tc.body))
			require.EqualError(t, err, tc.want)
			var bad *BadRequest
			assert.ErrorAs(t, err, &bad)
		})
	}
	_, err := cakes().Serve([]byte(review("CREATE", `{"l":[`+strings.Repeat("0,", maxItems-1)+`0]}`, "")))
	require.NoError(t, err)
}

func TestAnswersAreBounded(t *testing.T) {
	many := For(schema.GroupVersionKind{Group: "bakery.example.com", Version: "v1", Kind: "Cake"}, func(_, after *cake) Verdict {
		var v Verdict
		for i := range after.Spec.Candles {
			v.Errors = append(v.Errors, field.Required(field.NewPath("spec").Index(i), "is dark"))
		}
		return v
	})
	causes := func(n string) []string {
		answer, err := New("/", many).Serve([]byte(review("CREATE", `{"spec":{"candles":`+n+`}}`, "")))
		require.NoError(t, err)
		var got admissionv1.AdmissionReview
		require.NoError(t, json.Unmarshal(answer, &got))
		var out []string
		for _, cause := range got.Response.Result.Details.Causes {
			out = append(out, cause.Message)
		}
		return out
	}
	assert.Len(t, causes("256"), 256)
	got := causes("1000")
	require.Len(t, got, 257)
	assert.Equal(t, "Forbidden: and 744 more errors; correct those above first", got[256])
}

func TestPeek(t *testing.T) {
	assert.Equal(t, "DELETE bakery.example.com/v1 Cake party/plum", Peek([]byte(review("DELETE", "", ""))))
	assert.Empty(t, Peek([]byte("{}")))
	assert.Empty(t, Peek([]byte(strings.Replace(review("DELETE", "", ""), "plum", strings.Repeat("m", 1000), 1))))
}
