package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/nginx-stream/tcpingress/test/e2e/harness"
	"github.com/nginx-stream/tcpingress/test/standin"
)

// boxes are a kind of its own, to try who applies: the hooks of a Box answer what
// its spec says. All go through the same with the stand-in and with the real
// Metacontroller, which is how we know that the one does what the other does. The
// kinds are in testdata, and there from the start: for some seconds the API server
// refuses owner references to a kind that came while it was running.
type boxes struct {
	t     *testing.T
	made  atomic.Int32
	mu    sync.Mutex
	calls map[string][]time.Time // by path and name of the Box
}

const boxRole = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: boxes}
rules:
- {apiGroups: [example.org], resources: [boxes, boxes/status, boxes/finalizers, bows], verbs: ["*"]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: boxes}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: boxes}
subjects: [{kind: User, name: "$user"}]
`

const boxControllers = `
apiVersion: metacontroller.k8s.io/v1alpha1
kind: CompositeController
metadata: {name: box}
spec:
  generateSelector: true
  parentResource: {apiVersion: example.org/v1, resource: boxes, ignoreStatusChanges: true}
  childResources:
  - {apiVersion: v1, resource: configmaps, updateStrategy: {method: InPlace}}
  - {apiVersion: v1, resource: services}
  hooks:
    customize: {version: v2, webhook: {url: "$url/customize"}}
    sync: {version: v2, webhook: {url: "$url/sync", timeout: 2s}}
---
apiVersion: metacontroller.k8s.io/v1alpha1
kind: DecoratorController
metadata: {name: ribbon}
spec:
  resources:
  - {apiVersion: example.org/v1, resource: boxes, labelSelector: {matchLabels: {ribbon: "yes"}}}
  attachments:
  - {apiVersion: example.org/v1, resource: bows, updateStrategy: {method: InPlace}}
  hooks:
    sync: {version: v2, webhook: {url: "$url/decorate"}}
---
apiVersion: metacontroller.k8s.io/v1alpha1
kind: DecoratorController
metadata: {name: clock}
spec:
  resyncPeriodSeconds: 1
  resources:
  - apiVersion: example.org/v1
    resource: boxes
    labelSelector: {matchLabels: {clock: "yes"}}
    ignoreStatusChanges: true
  hooks:
    sync: {version: v2, webhook: {url: "$url/tick"}}
`

// startBoxes serves the hooks and lets somebody call them.
func startBoxes(t *testing.T) *boxes {
	t.Helper()
	b := &boxes{t: t, calls: map[string][]time.Time{}}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	b.apply(strings.ReplaceAll(boxRole, "$user", harness.User))
	t.Cleanup(func() { b.kubectl("", "delete", "boxes.example.org", "--all") })
	text := strings.ReplaceAll(boxControllers, "$url", server.URL)
	if harness.Real() {
		b.apply(text)
		t.Cleanup(func() { b.kubectl(text, "delete", "--filename=-") })
		return b
	}
	controllers, err := harness.Objects(text)
	require.NoError(t, err)
	kubeconfig, err := h.Cluster.UserKubeconfig(harness.User)
	require.NoError(t, err)
	s, err := standin.Start(t.Context(), standin.Options{
		Kubeconfig:  kubeconfig,
		Controllers: controllers,
		HookURL:     server.URL,
		Strategy:    standin.Strategy(harness.Strategy()),
	})
	require.NoError(t, err)
	t.Cleanup(s.Stop)
	return b
}

// boxRequest is what the hooks read.
type boxRequest struct {
	Parent, Object    *unstructured.Unstructured
	Children, Related map[string]map[string]any
	Attachments       map[string]map[string]any
}

type boxSpec struct {
	Children, Related, Attachments []any
	Annotations                    map[string]*string
	Removed                        []string // annotations
	ResyncAfterSeconds             float64
	Unknown                        bool
	// Fault answers the first calls, since it was put there, with this code.
	Fault struct {
		Calls, Code int
		After       string
	}
}

// ServeHTTP implements http.Handler.
func (b *boxes) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var request boxRequest
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	parent := request.Parent
	if parent == nil {
		parent = request.Object
	}
	encoded, _ := json.Marshal(parent.Object["spec"])
	var spec boxSpec
	if err := json.Unmarshal(encoded, &spec); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	calls := b.note(r.URL.Path, parent.GetName())
	if r.URL.Path == "/sync" && calls <= spec.Fault.Calls {
		if spec.Fault.Code == 0 {
			time.Sleep(3 * time.Second) // longer than the timeout
		}
		w.Header().Set("Retry-After", spec.Fault.After)
		http.Error(w, "as the test asked for", max(spec.Fault.Code, http.StatusOK))
		return
	}
	_ = json.NewEncoder(w).Encode(request.answer(r.URL.Path, &spec))
}

func (r *boxRequest) answer(path string, spec *boxSpec) map[string]any {
	switch path {
	case "/customize":
		return map[string]any{"relatedResources": spec.Related}
	case "/tick":
		return map[string]any{}
	case "/decorate":
		for _, name := range spec.Removed {
			if spec.Annotations == nil {
				spec.Annotations = map[string]*string{}
			}
			spec.Annotations[name] = nil
		}
		return map[string]any{"annotations": spec.Annotations, "attachments": spec.Attachments}
	}
	answer := map[string]any{
		"children":           spec.Children,
		"resyncAfterSeconds": spec.ResyncAfterSeconds,
		"status":             map[string]any{"children": shortNames(r.Children), "related": shortNames(r.Related)},
	}
	if spec.Unknown {
		answer["unknown"] = true
	}
	return answer
}

// shortNames gives "a b" for each group that has or may have objects.
func shortNames(groups map[string]map[string]any) map[string]string {
	out := map[string]string{}
	for group, objects := range groups {
		out[group] = strings.Join(slices.Sorted(maps.Keys(objects)), " ")
	}
	return out
}

func (b *boxes) note(path, name string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls[path+" "+name] = append(b.calls[path+" "+name], time.Now())
	return len(b.calls[path+" "+name])
}

func (b *boxes) apply(text string) {
	b.t.Helper()
	b.kubectl(text, "apply", "--server-side", "--force-conflicts", "--filename=-")
}

func (b *boxes) kubectl(input string, args ...string) {
	b.t.Helper()
	cmd := h.Cluster.Kubectl(context.Background(), args...)
	cmd.Stdin = strings.NewReader(input)
	out, err := cmd.CombinedOutput()
	require.NoError(b.t, err, string(out))
}

// oneBox is a test with a Box and a namespace of the same name.
type oneBox struct {
	*boxes
	t    *testing.T
	name string
}

// box makes a Box whose spec and labels are given; $box is its name.
func (b *boxes) box(t *testing.T, text string) *oneBox {
	t.Helper()
	o := &oneBox{b, t, fmt.Sprintf("box-%d", b.made.Add(1))}
	o.put("{apiVersion: v1, kind: Namespace, metadata: {name: $box, labels: {color: $box}}}")
	return o.set(text)
}

// set replaces the spec and the labels of the Box.
func (o *oneBox) set(text string) *oneBox {
	o.t.Helper()
	return o.put("apiVersion: example.org/v1\nkind: Box\nmetadata: {name: $box, labels: {ribbon: \"no\"}}\n" + text)
}

// put applies YAML as a user.
func (o *oneBox) put(text string) *oneBox {
	o.t.Helper()
	objects, err := harness.Objects(strings.ReplaceAll(text, "$box", o.name))
	require.NoError(o.t, err)
	for _, object := range objects {
		_, err := o.client(object.GetKind()).Apply(o.t.Context(), object.GetName(), object, metav1.ApplyOptions{FieldManager: "user", Force: true})
		require.NoError(o.t, err)
	}
	return o
}

func (o *oneBox) client(kind string) dynamic.ResourceInterface {
	switch kind {
	case "Box":
		return h.Dynamic.Resource(schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "boxes"})
	case "Bow":
		return h.Dynamic.Resource(schema.GroupVersionResource{Group: "example.org", Version: "v1", Resource: "bows"}).Namespace(o.name)
	case "Namespace":
		return h.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "namespaces"})
	default:
		return h.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: strings.ToLower(kind) + "s"}).Namespace(o.name)
	}
}

func (o *oneBox) get(kind, name string) *unstructured.Unstructured {
	object, err := o.client(kind).Get(o.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		return &unstructured.Unstructured{Object: map[string]any{}}
	}
	return object
}

func (o *oneBox) patch(kind, name, patch string, subresource ...string) {
	o.t.Helper()
	patch = strings.ReplaceAll(patch, "$uid", string(o.get("Box", o.name).GetUID()))
	_, err := o.client(kind).Patch(o.t.Context(), name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}, subresource...)
	require.NoError(o.t, err)
}

func (o *oneBox) remove(kind, name string) {
	o.t.Helper()
	require.NoError(o.t, o.client(kind).Delete(o.t.Context(), name, metav1.DeleteOptions{}))
}

// data of the ConfigMap a as JSON; "" if there is none.
func (o *oneBox) data() string {
	object := o.get("ConfigMap", "a")
	if object.Object["data"] == nil {
		return ""
	}
	text, err := json.Marshal(object.Object["data"])
	require.NoError(o.t, err)
	return string(text)
}

// status is a field of the status of the Box.
func (o *oneBox) status(field, group string) string {
	text, found, _ := unstructured.NestedString(o.get("Box", o.name).Object, "status", field, group)
	if !found {
		return "nothing"
	}
	return strings.ReplaceAll(text, o.name+"/", "")
}

// owned tells whether the Box is the controller of a ConfigMap.
func (o *oneBox) owned(name string) bool { return o.owns(o.get("ConfigMap", name)) }

func (o *oneBox) owns(object *unstructured.Unstructured) bool {
	owner := metav1.GetControllerOf(object)
	return owner != nil && owner.UID == o.get("Box", o.name).GetUID()
}

// events gives the messages of the Events about the Box.
func (o *oneBox) events() string {
	list, err := h.Dynamic.Resource(schema.GroupVersionResource{Version: "v1", Resource: "events"}).Namespace("default").
		List(o.t.Context(), metav1.ListOptions{FieldSelector: "involvedObject.name=" + o.name + ",reason=SyncError"})
	require.NoError(o.t, err)
	var messages []string
	for _, event := range list.Items {
		messages = append(messages, event.Object["message"].(string))
	}
	return strings.Join(messages, "\n")
}

// called gives when the hook was called for the Box.
func (o *oneBox) called(path string) []time.Time {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.calls[path+" "+o.name])
}

// until waits for a condition.
func (o *oneBox) until(what string, condition func() bool) *oneBox {
	o.t.Helper()
	require.Eventually(o.t, condition, 30*time.Second, 30*time.Millisecond, what)
	return o
}

// quiet waits until no hook was called for a while.
func (o *oneBox) quiet() *oneBox {
	o.t.Helper()
	last := -1
	return o.until("it comes to rest", func() bool {
		before := last
		time.Sleep(400 * time.Millisecond)
		last = len(o.called("/sync")) + len(o.called("/decorate"))
		return last > 0 && last == before
	})
}
