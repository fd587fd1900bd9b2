package metacontroller

import (
	"bytes"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// PeekParent names the parent of a request for a log, "nginx-stream.dev/v1
// TCPIngress data/redis"; "" if the body does not tell. It stops after the parent,
// which comes early.
func PeekParent(body []byte) string {
	dec := jsontext.NewDecoder(bytes.NewBuffer(body))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != jsontext.KindBeginObject {
		return ""
	}
	for {
		tok, err := dec.ReadToken()
		if err != nil || tok.Kind() == jsontext.KindEndObject {
			return ""
		}
		switch tok.String() {
		case "parent", "object":
			var meta BareMeta
			if err := json.UnmarshalDecode(dec, &meta); err != nil || meta.Name == "" {
				return ""
			}
			return meta.Identity().String()
		default:
			if err := dec.SkipValue(); err != nil {
				return ""
			}
		}
	}
}
