package metacontroller

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"
)

// Encode gives the JSON of a response: the same bytes for the same response, and
// [] or {} for lists and maps that are nil. Tags mean what they mean to
// encoding/json, as all types of Kubernetes expect.
func Encode(response any) ([]byte, error) {
	if err := checkResponse(response); err != nil {
		return nil, fmt.Errorf("encoding response: %w", err)
	}
	body, err := json.Marshal(response,
		jsonv1.DefaultOptionsV1(),
		json.FormatNilSliceAsNull(false),
		json.FormatNilMapAsNull(false),
		jsontext.EscapeForHTML(false),
		jsontext.EscapeForJS(false))
	if err != nil {
		return nil, fmt.Errorf("encoding response: %w", err)
	}
	return body, nil
}

// checkResponse refuses what Metacontroller would take for an order to empty or
// delete something.
func checkResponse(response any) error {
	switch r := response.(type) {
	case CompositeResponse:
		return checkResponse(&r)
	case *CompositeResponse:
		if r == nil {
			return errors.New("the response is nil")
		}
		if isNil(r.Status) {
			return errors.New("the response has no status")
		}
		return checkObjects("children", r.Children)
	case DecoratorResponse:
		return checkResponse(&r)
	case *DecoratorResponse:
		if r == nil {
			return errors.New("the response is nil")
		}
		return checkObjects("attachments", r.Attachments)
	default:
		if isNil(response) {
			return errors.New("the response is nil")
		}
		return nil
	}
}

func checkObjects(where string, objects []any) error {
	for i, o := range objects {
		if isNil(o) {
			return fmt.Errorf("number %d of the %s is nil", i, where)
		}
	}
	return nil
}

func isNil(v any) bool {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Interface:
		return r.IsNil()
	default:
		return false
	}
}
