package admission

import (
	"fmt"

	"github.com/go-json-experiment/json"
	admissionv1 "k8s.io/api/admission/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// Hook answers the reviews of one URL path. It is a pure function: the same body
// gives the same answer.
type Hook struct {
	// Path is the URL path, such as "/admission/validate".
	Path string
	// Serve gives the encoded answer. An error means that the request was not
	// judged: *BadRequest is answered with 400, every other one with 500.
	Serve func(body []byte) (answer []byte, err error)
}

// BadRequest is a review that cannot be read. Its text is one plain sentence
// without a final full stop.
type BadRequest struct{ Problem string }

func (e *BadRequest) Error() string { return e.Problem }

func badRequest(format string, args ...any) error {
	return &BadRequest{Problem: fmt.Sprintf(format, args...)}
}

// Verdict is what there is to say about an object.
type Verdict struct {
	// Errors refuse the request, all of them at once.
	Errors field.ErrorList
	// Warnings are shown to the user, who gets what was asked for all the same.
	Warnings []string
}

// Kind is a kind of objects that can be judged. Make it with For.
type Kind struct {
	kind  schema.GroupVersionKind
	judge func(before, after []byte) (Verdict, error)
}

// For makes a Kind of a function of the object before (nil where it is created) and
// after the request. The function is not asked about deletions, nor about updates
// that leave the spec as it was. It gets neither the user nor dryRun, so that the
// verdict cannot depend on them.
func For[T any](kind schema.GroupVersionKind, judge func(before, after *T) Verdict) Kind {
	return Kind{kind: kind, judge: func(oldObject, newObject []byte) (Verdict, error) {
		after := new(T)
		if err := json.Unmarshal(newObject, after); err != nil {
			return Verdict{}, fmt.Errorf("decoding the object: %w", explain("the object", err))
		}
		if oldObject == nil {
			return judge(nil, after), nil
		}
		before := new(T)
		if err := json.Unmarshal(oldObject, before); err != nil {
			return Verdict{}, fmt.Errorf("decoding the old object: %w", explain("the old object", err))
		}
		return judge(before, after), nil
	}}
}

// New makes the Hook that judges these kinds.
func New(path string, kinds ...Kind) Hook {
	return Hook{Path: path, Serve: func(body []byte) ([]byte, error) {
		request, err := decode(body)
		if err != nil {
			return nil, err
		}
		verdict, err := judge(request, kinds)
		if err != nil {
			return nil, err
		}
		return encode(request, &verdict)
	}}
}

func judge(request *admissionv1.AdmissionRequest, kinds []Kind) (Verdict, error) {
	kind := kindOf(request, kinds)
	if kind == nil {
		return Verdict{}, badRequest("the review is about the kind %s, which this webhook does not judge",
			quote(request.Kind.Group+"/"+request.Kind.Version+" "+request.Kind.Kind))
	}
	before, after := raw(&request.OldObject), raw(&request.Object)
	switch request.Operation {
	case admissionv1.Delete:
		return Verdict{}, nil
	case admissionv1.Create:
		if after == nil {
			return Verdict{}, badRequest("the review of a CREATE has no object")
		}
		return kind.judge(nil, after)
	case admissionv1.Update:
		if before == nil || after == nil {
			return Verdict{}, badRequest("the review of an UPDATE lacks the object or the old object")
		}
		// Finalizers must be removable and labels editable, whatever the rules have
		// become since the object was stored.
		if sameSpec(before, after) {
			return Verdict{}, nil
		}
		return kind.judge(before, after)
	default:
		return Verdict{}, badRequest("the review is about the operation %s, which this webhook does not judge",
			quote(string(request.Operation)))
	}
}

func kindOf(request *admissionv1.AdmissionRequest, kinds []Kind) *Kind {
	for i := range kinds {
		if kinds[i].kind == schema.GroupVersionKind(request.Kind) {
			return &kinds[i]
		}
	}
	return nil
}
