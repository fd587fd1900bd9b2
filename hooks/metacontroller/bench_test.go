package metacontroller

import (
	stdjson "encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// largeIngress is a TCPIngress of about 2 KB, as the API server has it after a
// kubectl apply and a few writes of its status.
func largeIngress(n int) string {
	namespace, name := fmt.Sprintf("team-%03d", n%100), fmt.Sprintf("redis-%05d", n)
	spec := fmt.Sprintf(`{"ingressClassName":"nginx","rules":[{"name":"redis","port":%d,"protocol":"TCP",`+
		`"backend":{"service":{"name":"%s","port":{"name":"redis"}}}}]}`, 1024+n, name)
	lastApplied := strings.ReplaceAll(fmt.Sprintf(`{"apiVersion":"%s","kind":"TCPIngress","metadata":{"annotations":{},`+
		`"name":"%s","namespace":"%s"},"spec":%s}`, ours, name, namespace, spec), `"`, `\"`)
	condition := `{"type":"%s","status":"True","observedGeneration":1,"lastTransitionTime":"2026-03-01T10:00:00Z","reason":"%s","message":"%s"}`
	conditions := fmt.Sprintf(condition, "Ready", "Ready", "All rules are live.") + "," +
		fmt.Sprintf(condition, "Accepted", "Accepted", "All rules are accepted.") + "," +
		fmt.Sprintf(condition, "Programmed", "Programmed", "")
	managed := `{"manager":"kubectl-client-side-apply","operation":"Update","apiVersion":"nginx-stream.dev/v1","time":"2026-03-01T10:00:00Z",` +
		`"fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:annotations":{".":{},"f:kubectl.kubernetes.io/last-applied-configuration":{}}},` +
		`"f:spec":{".":{},"f:ingressClassName":{},"f:rules":{".":{},"k:{\"name\":\"redis\"}":{".":{},"f:backend":{},"f:name":{},"f:port":{},"f:protocol":{}}}}}},` +
		`{"manager":"metacontroller","operation":"Update","apiVersion":"nginx-stream.dev/v1","time":"2026-03-01T10:00:01Z",` +
		`"fieldsType":"FieldsV1","fieldsV1":{"f:status":{".":{},"f:addresses":{},"f:className":{},"f:conditions":{},"f:observedGeneration":{},"f:ports":{},"f:rules":{}}},` +
		`"subresource":"status"}`
	return fmt.Sprintf(`{"apiVersion":"%s","kind":"TCPIngress","metadata":{"annotations":{`+
		`"kubectl.kubernetes.io/last-applied-configuration":"%s\n"},"creationTimestamp":"2026-03-01T10:00:00Z","generation":1,`+
		`"managedFields":[%s],"name":"%s","namespace":"%s","resourceVersion":"%d","uid":"0a1b2c3d-0000-4000-8000-%012d"},"spec":%s,`+
		`"status":{"observedGeneration":1,"className":"nginx","ports":"%d","conditions":[%s]}}`,
		ours, lastApplied, managed, name, namespace, 100000+n, n, spec, 1024+n, conditions)
}

func largeSync(objects int) []byte {
	var b strings.Builder
	b.WriteString(`{"controller":{},` + goodParent + `,"children":{},"related":{"TCPIngress.nginx-stream.dev/v1":{`)
	for i := range objects {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `"team-%03d/redis-%05d":%s`, i%100, i, largeIngress(i))
	}
	b.WriteString(`}},"finalizing":false}`)
	return []byte(b.String())
}

// bookIngress is what the book reads of a TCPIngress.
type bookIngress struct {
	BareMeta
	Spec   crdv1.TCPIngressSpec `json:"spec"`
	Status struct {
		ClassName string             `json:"className"`
		Rules     []crdv1.RuleStatus `json:"rules"`
	} `json:"status"`
}

func decodeLarge[T any](tb testing.TB, body []byte, group func(list *[]T) Group) []T {
	tb.Helper()
	var list []T
	var class testClass
	_, err := DecodeComposite(body, &Sync{
		Parent: &class, ParentAPIVersion: ours, ParentKind: "TCPIngressClass", Related: []Group{group(&list)},
	})
	require.NoError(tb, err)
	return list
}

func slimGroup(list *[]bookIngress) Group { return Into(ours, "TCPIngress", list) }

func typedGroup(list *[]crdv1.TCPIngress) Group { return IntoTyped(ours, "TCPIngress", list) }

func TestDecodeLarge(t *testing.T) {
	const objects = 1000
	body := largeSync(objects)
	require.InDelta(t, 2048, len(body)/objects, 300, "the objects are not of a realistic size")
	slim, typed := decodeLarge(t, body, slimGroup), decodeLarge(t, body, typedGroup)
	require.Len(t, slim, objects)
	require.Len(t, typed, objects)
	for i := range slim {
		require.Equal(t, typed[i].Name, slim[i].Name)
		require.Equal(t, typed[i].Spec, slim[i].Spec)
		require.Equal(t, string(typed[i].UID), slim[i].UID)
	}
}

// BenchmarkDecode gives its time as a multiple of json.Valid on the same bytes,
// taken in turns in the same run.
func BenchmarkDecode(b *testing.B) {
	body := largeSync(1000)
	run := func(name string, decode func()) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(body)))
			b.ReportAllocs()
			var valid, decoding time.Duration
			for b.Loop() {
				begin := time.Now()
				if !stdjson.Valid(body) {
					b.Fatal("the body is not valid")
				}
				between := time.Now()
				decode()
				valid += between.Sub(begin)
				decoding += time.Since(between)
			}
			b.ReportMetric(float64(decoding)/float64(valid), "x-json.Valid")
			b.ReportMetric(float64(decoding.Nanoseconds())/float64(b.N), "decode-ns/op")
		})
	}
	run("slim", func() { decodeLarge(b, body, slimGroup) })
	run("typed", func() { decodeLarge(b, body, typedGroup) })
}
