// Package bypass tests what becomes of objects that got past admission: it stores the
// invalid objects of test/crd in a cluster whose definitions refuse nothing, without
// policies and webhook, and looks at their conditions.
package bypass

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/nginx-stream/tcpingress/test/crd/corpus"
	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

// h is what all tests share.
var h *harness.Harness //nolint:gochecknoglobals // a control plane for each test would cost minutes

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	var err error
	if h, err = harness.Start(ctx, harness.Options{Replicas: 1, Direct: true, Loose: true}); err != nil {
		fmt.Fprintln(os.Stderr, "bypass:", err)
		return 1
	}
	code := m.Run()
	if err := h.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "bypass:", err)
		return 1
	}
	return code
}

func client(o *unstructured.Unstructured) dynamic.ResourceInterface {
	r := h.Dynamic.Resource(schema.GroupVersionResource{Group: "nginx-stream.dev", Version: "v1", Resource: strings.ToLower(o.GetKind()) + "es"})
	if ns := o.GetNamespace(); ns != "" {
		return r.Namespace(ns)
	}
	return r
}

// otherwise gives what conditions say in other words than the webhook; the comments tell why.
func otherwise(path string) string {
	return map[string]string{
		// Nobody has a class of that name, so that nobody judges the rules.
		"invalid/tcpingress/class-name-too-long.yaml": "has not judged this object yet; does it exist, and is it accepted?",
		"invalid/tcpingress/class-name-with-dot.yaml": "TCPIngressClass nginx.public has not judged this object yet; does it exist, and is it accepted?",
		// A rule is judged against those that hold its port, be they of one object or of several.
		"invalid/tcpingress/hosts-disagree-on-accept.yaml": "where proxyProtocol.accept is ",
	}[path]
}

func TestConditionsSayWhatTheWebhookSays(t *testing.T) {
	_, invalid, err := corpus.Read(os.DirFS("../../crd"))
	require.NoError(t, err)
	class := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "nginx-stream.dev/v1", "kind": "TCPIngressClass", "metadata": map[string]any{"name": "nginx"},
		"spec": map[string]any{"namespace": "default", "provider": "Nginx"},
	}}
	_, err = client(class).Create(t.Context(), class, metav1.CreateOptions{})
	require.NoError(t, err)
	var told atomic.Int32
	t.Cleanup(func() {
		t.Logf("%d of %d objects were stored, and told why they are refused", told.Load(), len(invalid))
	})
	for _, c := range invalid {
		t.Run(c.Path, func(t *testing.T) {
			t.Parallel()
			if c.Old != nil {
				return // only who sees both states can tell what was changed
			}
			object := c.Object.DeepCopy()
			_, err := client(object).Create(t.Context(), object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore})
			if err != nil {
				assert.Contains(t, err.Error(), "must be of type", "only a value of the wrong type cannot be stored")
				return
			}
			t.Cleanup(func() { _ = client(object).Delete(context.Background(), object.GetName(), metav1.DeleteOptions{}) }) //nolint:usetesting // the test's own has ended
			if strings.HasPrefix(c.Hooks[0], "json: unknown field") {
				return // the API server drops what it does not know
			}
			want := c.Hooks[0]
			if text := otherwise(c.Path); text != "" {
				want = text
			}
			var got string
			ok := assert.Eventually(t, func() bool {
				got = conditions(t, object)
				return strings.Contains(got, want)
			}, 45*time.Second, 50*time.Millisecond, "announced: %s", want)
			if !ok {
				t.Log(got)
			}
			told.Add(1)
		})
	}
}

// conditions gives all that the conditions of an object say.
func conditions(t *testing.T, o *unstructured.Unstructured) string {
	t.Helper()
	stored, err := client(o).Get(t.Context(), o.GetName(), metav1.GetOptions{})
	require.NoError(t, err)
	var text strings.Builder
	write := func(list []any) {
		for _, c := range list {
			condition, _ := c.(map[string]any)
			fmt.Fprintf(&text, "%v=%v %v: %v\n", condition["type"], condition["status"], condition["reason"], condition["message"])
		}
	}
	list, _, _ := unstructured.NestedSlice(stored.Object, "status", "conditions")
	write(list)
	rules, _, _ := unstructured.NestedSlice(stored.Object, "status", "rules")
	for _, r := range rules {
		rule, _ := r.(map[string]any)
		list, _ := rule["conditions"].([]any)
		write(list)
	}
	return text.String()
}

// A definition that became stricter keeps nobody from labelling what was stored before,
// or from letting go of it, be there a finalizer of somebody else.
func TestInvalidObjectsCanBeLabelledAndDeletedLater(t *testing.T) {
	_, invalid, err := corpus.Read(os.DirFS("../../crd"))
	require.NoError(t, err)
	var stored []*unstructured.Unstructured
	for _, c := range invalid {
		object := c.Object.DeepCopy()
		object.SetFinalizers([]string{"example.com/theirs"})
		if c.Old != nil {
			continue
		}
		if _, err := client(object).Create(t.Context(), object, metav1.CreateOptions{FieldValidation: metav1.FieldValidationIgnore}); err == nil {
			stored = append(stored, object)
		}
	}
	require.Greater(t, len(stored), 100)

	repository, err := harness.Repository(t.Context())
	require.NoError(t, err)
	out, err := h.Cluster.Kubectl(t.Context(), "apply", "--server-side", "--force-conflicts", "-f", repository+"/crd/generated").CombinedOutput()
	require.NoError(t, err, string(out))
	patch := func(o *unstructured.Unstructured, text string) error {
		_, err := client(o).Patch(t.Context(), o.GetName(), types.MergePatchType, []byte(text), metav1.PatchOptions{})
		return err
	}
	// The stricter definition counts as soon as it refuses a new object.
	probe := stored[0].DeepCopy()
	probe.SetName("probe")
	probe.SetFinalizers(nil)
	require.Eventually(t, func() bool {
		_, err := client(probe).Create(t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err != nil
	}, 30*time.Second, 50*time.Millisecond)
	var group errgroup.Group
	group.SetLimit(8)
	for _, o := range stored {
		group.Go(func() error {
			if err := patch(o, `{"metadata":{"labels":{"touched":"true"}}}`); err != nil {
				return fmt.Errorf("labelling %s: %w", o.GetName(), err)
			}
			if err := client(o).Delete(t.Context(), o.GetName(), metav1.DeleteOptions{}); err != nil {
				return fmt.Errorf("deleting %s: %w", o.GetName(), err)
			}
			if err := patch(o, `{"metadata":{"finalizers":null}}`); err != nil {
				return fmt.Errorf("letting go of %s: %w", o.GetName(), err)
			}
			if _, err := client(o).Get(t.Context(), o.GetName(), metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("%s is still there: %w", o.GetName(), err)
			}
			return nil
		})
	}
	require.NoError(t, group.Wait())
	t.Logf("%d invalid objects were labelled and deleted", len(stored))
}
