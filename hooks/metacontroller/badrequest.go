package metacontroller

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// maxQuoted bounds what a message repeats of the request.
const maxQuoted = 200

func badRequest(format string, args ...any) error {
	return &BadRequest{Problem: fmt.Sprintf(format, args...)}
}

// explain makes one plain sentence of an error of decoding. The library's own
// texts are not used whole: they change from process to process on purpose.
func explain(err error) error {
	var (
		bad       *BadRequest
		syntactic *jsontext.SyntacticError
		semantic  *json.SemanticError
	)
	switch {
	case errors.As(err, &bad):
		return bad
	case errors.As(err, &syntactic):
		return explainSyntax(syntactic)
	case errors.As(err, &semantic):
		return explainValue(semantic)
	case errors.Is(err, io.EOF):
		return badRequest("the body is empty")
	default:
		return badRequest("the body cannot be read: %s", plain(err.Error()))
	}
}

func explainSyntax(err *jsontext.SyntacticError) error {
	switch {
	case errors.Is(err.Err, io.ErrUnexpectedEOF):
		return badRequest("the body ends too early, at byte %d", err.ByteOffset)
	case errors.Is(err.Err, jsontext.ErrDuplicateName):
		return badRequest("the body has the member %s twice, at byte %d", pointer(err.JSONPointer), err.ByteOffset)
	default:
		return badRequest("the body is no valid JSON at byte %d: %s", err.ByteOffset, plain(err.Err.Error()))
	}
}

func explainValue(err *json.SemanticError) error {
	text := fmt.Sprintf("the value of %s at byte %d cannot be read", pointer(err.JSONPointer), err.ByteOffset)
	if err.Err != nil {
		return badRequest("%s: %s", text, plain(err.Err.Error()))
	}
	if err.GoType != nil {
		return badRequest("%s: it must be %s and is %s", text, goWord(err.GoType.Kind()), jsonWord(err.JSONKind))
	}
	return badRequest("%s: it is %s", text, jsonWord(err.JSONKind))
}

func pointer(p jsontext.Pointer) string {
	if p == "" {
		return "the whole"
	}
	return quote(string(p))
}

func quote(s string) string { return strconv.Quote(shorten(s)) }

// plain makes a text of somebody else fit for a sentence of one line.
func plain(s string) string {
	return shorten(strings.Map(func(r rune) rune {
		if !strconv.IsPrint(r) {
			return ' '
		}
		return r
	}, s))
}

func shorten(s string) string {
	if len(s) <= maxQuoted {
		return s
	}
	return strings.ToValidUTF8(s[:maxQuoted], "") + "..."
}

func jsonWord(k jsontext.Kind) string {
	switch k {
	case jsontext.KindNull:
		return "null"
	case jsontext.KindTrue, jsontext.KindFalse:
		return "a boolean"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	case jsontext.KindBeginArray, jsontext.KindEndArray:
		return "a list"
	case jsontext.KindBeginObject, jsontext.KindEndObject:
		return "an object"
	default:
		return "something else"
	}
}

func goWord(k reflect.Kind) string {
	switch k {
	case reflect.Bool:
		return "a boolean"
	case reflect.String:
		return "a string"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Map, reflect.Struct:
		return "an object"
	case reflect.Float32, reflect.Float64:
		return "a number"
	default:
		return "a whole number"
	}
}
