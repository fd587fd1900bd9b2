package e2e

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

// deadline is for what should happen at once. It is long, for a busy machine.
const deadline = 45 * time.Second

// scenes counts the scenes, to name their things.
var scenes atomic.Int32 //nolint:gochecknoglobals // it goes with h

// scene is what one test plays in: a class, the namespace of its nginx and those of
// two teams. Names begin with "a/" for the first team, "b/" for the second and
// "nginx/" for the namespace of the class. Its steps end the test if they fail.
type scene struct {
	t     *testing.T
	class string
}

// newScene makes namespaces, but no class yet. The policies do not judge what comes
// from the teams in past.
func newScene(t *testing.T, past ...string) *scene {
	t.Helper()
	s := &scene{t: t, class: fmt.Sprintf("e%03d", scenes.Add(1))}
	for _, short := range []string{"a", "b", "nginx"} {
		labels := ""
		if slices.Contains(past, short) {
			labels = harness.PastAdmission + `: "true"`
		}
		s.apply("{apiVersion: v1, kind: Namespace, metadata: {name: " + s.namespace(short) + ", labels: {" + labels + "}}}")
	}
	t.Cleanup(s.end)
	return s
}

// end says what is there if the test failed, and takes away what would be work for
// the controllers while other tests run.
func (s *scene) end() {
	ctx := context.Background()
	if s.t.Failed() {
		s.t.Log(s.describe())
	}
	for _, ns := range []string{"a", "b"} {
		_ = s.client("TCPIngress", ns+"/").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	}
	classes := s.client("TCPIngressClass", s.class)
	_, _ = classes.Patch(ctx, s.class, types.MergePatchType, []byte(`{"metadata":{"annotations":{"nginx-stream.dev/allow-delete":"true"}}}`), metav1.PatchOptions{})
	_ = classes.Delete(ctx, s.class, metav1.DeleteOptions{})
}

// namespace gives the full name of a namespace.
func (s *scene) namespace(short string) string { return s.class + "-" + short }

// expand fills in the names of the scene: $class, $a, $b and $nginx.
func (s *scene) expand(text string) string {
	return os.Expand(text, func(name string) string {
		if name == "class" {
			return s.class
		}
		return s.namespace(name)
	})
}

// split turns "a/redis" into the full namespace and the name.
func (s *scene) split(key string) (namespace, name string) {
	short, name, found := strings.Cut(key, "/")
	if !found {
		return "", s.expand(key)
	}
	return s.namespace(short), name
}

// resource finds the resource of a kind.
func resource(kind string) schema.GroupVersionResource {
	gv := schema.GroupVersion{Version: "v1"}
	switch {
	case strings.HasPrefix(kind, "TCPIngress"):
		gv.Group = "nginx-stream.dev"
	case kind == "EndpointSlice":
		gv.Group = "discovery.k8s.io"
	case kind == "Deployment":
		gv.Group = "apps"
	case kind == "PodDisruptionBudget":
		gv.Group = "policy"
	case kind == "PodSet":
		gv = schema.GroupVersion{Group: "app.example.com", Version: "v1alpha1"}
	}
	plural, _ := meta.UnsafeGuessKindToResource(gv.WithKind(kind))
	return plural
}

// client of the admin for the objects of a kind, where the key's namespace is.
func (s *scene) client(kind, key string) dynamic.ResourceInterface {
	namespace, _ := s.split(key)
	if namespace == "" {
		return h.Dynamic.Resource(resource(kind))
	}
	return h.Dynamic.Resource(resource(kind)).Namespace(namespace)
}

// apply applies YAML as `kubectl apply --server-side --force-conflicts` would.
func (s *scene) apply(yaml string) *scene {
	s.t.Helper()
	require.NoError(s.t, s.tryApply(yaml))
	return s
}

func (s *scene) tryApply(yaml string) error {
	objects, err := harness.Objects(s.expand(yaml))
	if err != nil {
		return err
	}
	for _, o := range objects {
		var client dynamic.ResourceInterface = h.Dynamic.Resource(resource(o.GetKind()))
		if ns := o.GetNamespace(); ns != "" {
			client = h.Dynamic.Resource(resource(o.GetKind())).Namespace(ns)
		}
		if _, err := client.Apply(s.t.Context(), o.GetName(), o, metav1.ApplyOptions{FieldManager: "kubectl", Force: true}); err != nil {
			return err
		}
	}
	return nil
}

// create creates objects as a client would that knows no server-side apply.
func (s *scene) create(yaml string) *scene {
	s.t.Helper()
	objects, err := harness.Objects(s.expand(yaml))
	require.NoError(s.t, err)
	for _, o := range objects {
		_, err := h.Dynamic.Resource(resource(o.GetKind())).Namespace(o.GetNamespace()).Create(s.t.Context(), o, metav1.CreateOptions{FieldManager: "helm"})
		require.NoError(s.t, err)
	}
	return s
}

// patch merges JSON into an object, or into its status for "Service/status".
func (s *scene) patch(kind, key, patch string) *scene {
	s.t.Helper()
	kind, sub, found := strings.Cut(kind, "/")
	var subresources []string
	if found {
		subresources = []string{sub}
	}
	_, name := s.split(key)
	_, err := s.client(kind, key).Patch(s.t.Context(), name, types.MergePatchType, []byte(s.expand(patch)), metav1.PatchOptions{}, subresources...)
	require.NoError(s.t, err)
	return s
}

// remove deletes an object, which need not be gone when it returns.
func (s *scene) remove(kind, key string) *scene {
	s.t.Helper()
	_, name := s.split(key)
	require.NoError(s.t, s.client(kind, key).Delete(s.t.Context(), name, metav1.DeleteOptions{}))
	return s
}

// get reads an object, nil if there is none.
func (s *scene) get(kind, key string) *unstructured.Unstructured {
	s.t.Helper()
	_, name := s.split(key)
	o, err := s.client(kind, key).Get(context.Background(), name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	require.NoError(s.t, err)
	return o
}

// kubectl runs the real one as the admin, and gives what it prints.
func (s *scene) kubectl(args ...string) string {
	s.t.Helper()
	for i := range args {
		args[i] = s.expand(args[i])
	}
	out, err := h.Cluster.Kubectl(s.t.Context(), args...).CombinedOutput()
	require.NoError(s.t, err, "kubectl %s: %s", strings.Join(args, " "), out)
	return string(out)
}

// typed runs a command line that a message of ours gives.
func (s *scene) typed(line string) *scene {
	s.t.Helper()
	args := strings.Fields(line)
	require.Equal(s.t, "kubectl", args[0], line)
	s.kubectl(args[1:]...)
	return s
}

// eventually waits until check finds nothing to complain about.
func (s *scene) eventually(check func() error) *scene {
	s.t.Helper()
	end := time.Now().Add(deadline)
	for {
		err := check()
		if err == nil {
			return s
		}
		if time.Now().After(end) {
			require.FailNow(s.t, "not within "+deadline.String(), err.Error())
		}
		select {
		case <-s.t.Context().Done():
			require.FailNow(s.t, "interrupted", err.Error())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
