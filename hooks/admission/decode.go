package admission

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const reviewKind = "AdmissionReview"

func apiVersion() string { return admissionv1.SchemeGroupVersion.String() }

// maxItems bounds every list and map of a review. No object of a cluster comes near
// it, but a few megabytes of "{}," would become gigabytes of Go.
const maxItems = 10_000

// checkItems looks at the body before anything is made of it.
func checkItems(body []byte) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	for {
		if _, err := dec.ReadToken(); err != nil {
			if errors.Is(err, io.EOF) && dec.StackDepth() == 0 {
				return nil
			}
			return explain("the review", err)
		}
		kind, length := dec.StackIndex(dec.StackDepth())
		if kind == jsontext.KindBeginObject {
			length /= 2 // names and values
		}
		if length > maxItems {
			return badRequest("the review has a list or map of more than %d items at %s", maxItems, pointer(dec.StackPointer().Parent()))
		}
	}
}

// decode reads a review. Only the version that is answered is read: an answer in
// another version than that of the question is refused by the API server.
func decode(body []byte) (*admissionv1.AdmissionRequest, error) {
	if err := checkItems(body); err != nil {
		return nil, err
	}
	var review struct {
		APIVersion string                        `json:"apiVersion"`
		Kind       string                        `json:"kind"`
		Request    *admissionv1.AdmissionRequest `json:"request"`
	}
	if err := json.Unmarshal(body, &review); err != nil {
		return nil, explain("the review", err)
	}
	switch {
	case review.APIVersion != apiVersion() || review.Kind != reviewKind:
		return nil, badRequest("the body is of apiVersion %s and kind %s, and must be of %s and %s",
			quote(review.APIVersion), quote(review.Kind), quote(apiVersion()), quote(reviewKind))
	case review.Request == nil:
		return nil, badRequest("the review has no request")
	case review.Request.UID == "":
		return nil, badRequest("the request of the review has no uid")
	}
	return review.Request, nil
}

// raw gives the JSON of an object; nil where there is none.
func raw(object *runtime.RawExtension) []byte {
	if len(object.Raw) == 0 || bytes.Equal(object.Raw, []byte("null")) {
		return nil
	}
	return object.Raw
}

// sameSpec compares what was sent, not what we would read of it: a field that this
// version does not know is a change as well.
func sameSpec(before, after []byte) bool {
	was, err := specOf(before)
	if err != nil {
		return false
	}
	is, err := specOf(after)
	return err == nil && bytes.Equal(was, is)
}

// specOf gives the spec in canonical form.
func specOf(object []byte) (jsontext.Value, error) {
	var o struct {
		Spec jsontext.Value `json:"spec"`
	}
	if err := json.Unmarshal(object, &o); err != nil || o.Spec == nil {
		return nil, err
	}
	err := o.Spec.Canonicalize()
	return o.Spec, err
}

// explain makes one plain sentence of an error of decoding. The library's own texts
// are not used: they change from process to process on purpose.
func explain(what string, err error) error {
	var (
		syntactic *jsontext.SyntacticError
		semantic  *json.SemanticError
	)
	switch {
	case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
		return badRequest("%s ends too early", what)
	case errors.As(err, &syntactic) && errors.Is(syntactic, jsontext.ErrDuplicateName):
		return badRequest("%s has the member %s twice", what, pointer(syntactic.JSONPointer))
	case errors.As(err, &syntactic):
		return badRequest("%s is no valid JSON at byte %d", what, syntactic.ByteOffset)
	case errors.As(err, &semantic):
		return badRequest("%s has a value of the wrong type at %s", what, pointer(semantic.JSONPointer))
	default:
		return badRequest("%s cannot be read", what)
	}
}

func pointer(p jsontext.Pointer) string {
	if p == "" {
		return "its top"
	}
	return quote(string(p))
}

// quote repeats a part of the request, bounded.
func quote(s string) string {
	const most = 200
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "..."
	}
	return strconv.Quote(s)
}
