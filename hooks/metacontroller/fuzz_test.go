package metacontroller

import (
	stdjson "encoding/json"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
)

// FuzzDecodeComposite holds that nothing gets lost: a body is refused, or each of
// its objects is in a list.
func FuzzDecodeComposite(f *testing.F) {
	for _, name := range []string{"composite-sync-v1", "composite-sync-v2", "composite-finalize", "decorator-sync"} {
		f.Add(recorded(f, name))
	}
	f.Add([]byte(`{` + goodParent + `,` + goodChildren + `,` + goodRelated + `}`))
	f.Add([]byte(`{` + goodParent + `,` + goodChildren + `,"related":{"TCPIngress.nginx-stream.dev/v1":{"a":` + ingressA + `},"Namespace.v1":{},"Pod.v1":null}}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		var got classSync
		_, err := DecodeComposite(body, got.sync())
		if err != nil {
			var bad *BadRequest
			var missing *MissingGroup
			require.True(t, errors.As(err, &bad) || errors.As(err, &missing), "%T: %v", err, err)
			require.NotContains(t, err.Error(), "\n")
			return
		}
		var want struct {
			Children, Related map[string]map[string]stdjson.RawMessage
		}
		members := map[string]stdjson.RawMessage{}
		require.NoError(t, stdjson.Unmarshal(body, &members), "accepted what encoding/json refuses")
		require.NoError(t, stdjson.Unmarshal(members["children"], &want.Children))
		require.NoError(t, stdjson.Unmarshal(members["related"], &want.Related))
		count := 0
		for _, group := range []map[string]map[string]stdjson.RawMessage{want.Children, want.Related} {
			for _, objects := range group {
				count += len(objects)
			}
		}
		require.Equal(t, count, len(got.configMaps)+len(got.services)+len(got.ingresses)+len(got.namespaces))
		require.Equal(t, "TCPIngressClass", got.class.Kind)
	})
}
