package e2e

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

// The applier has the role of manifests/base and no more; that it suffices is what all
// other tests show, and TestMain looks for refusals in its log at the end.
func TestLeastRBAC(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.mayOnly(harness.User, map[string]string{
		"update tcpingresses/status": "yes",
		"create configmaps":          "yes",
		"get secrets":                "no",
		"create deployments.apps":    "yes", // of provider Nginx
		"create statefulsets.apps":   "no",
		"create pods":                "no",
		"update namespaces":          "no",
		"update tcpingressclasses":   "no",
		"create clusterrolebindings.rbac.authorization.k8s.io":  "no",
		"update services/status":                                "no",
		"update customresourcedefinitions.apiextensions.k8s.io": "no",
		"update compositecontrollers.metacontroller.k8s.io":     "no",
		"impersonate serviceaccounts":                           "no",
		"create tcpingresses/status":                            "no",
		"deletecollection tcpingressslices":                     "no",
	})
}

// An app team may write its TCPIngresses, but not the verdicts on them.
func TestEditorsCannotWriteStatus(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass().backend("a/redis", "redis=6379")
	// Nobody aggregates roles in this cluster, so the role is bound by itself.
	s.kubectl("create", "rolebinding", "-n", "$a", "jane", "--clusterrole=tcpingress-edit", "--user=jane-$class")
	jane := s.expand("jane-$class")
	s.eventually(func() error {
		if !s.may(jane, "create tcpingresses") {
			return errors.New("she may not create TCPIngresses yet")
		}
		return nil
	})
	s.mayOnly(jane, map[string]string{
		"patch tcpingresses":         "yes",
		"patch tcpingresses/status":  "no",
		"update tcpingresses/status": "no",
		"create tcpingressslices":    "no",
		"update tcpingressclasses":   "no",
	})

	kubeconfig, err := h.Cluster.UserKubeconfig(jane)
	require.NoError(t, err)
	create := h.Cluster.Kubectl(t.Context(), "--kubeconfig="+kubeconfig, "create", "-f", "-")
	create.Stdin = strings.NewReader(s.ingressYAML("a/redis", "  ingressClassName: "+s.class+"\n", []string{"6379 -> redis:6379"}))
	out, err := create.CombinedOutput()
	require.NoError(t, err, string(out))
	s.ready("a/redis")
}

// mayOnly asks what a user may do in the first team's namespace, by verb and resource.
func (s *scene) mayOnly(user string, want map[string]string) {
	s.t.Helper()
	for what, answer := range want {
		assert.Equal(s.t, answer == "yes", s.may(user, what), what)
	}
}

// may tells whether RBAC lets a user do something.
func (s *scene) may(user, what string) bool {
	s.t.Helper()
	verb, name, _ := strings.Cut(what, " ")
	name, subresource, _ := strings.Cut(name, "/")
	name, group, _ := strings.Cut(name, ".")
	if strings.HasPrefix(name, "tcpingress") {
		group = "nginx-stream.dev"
	}
	review := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "authorization.k8s.io/v1",
		"kind":       "SubjectAccessReview",
		"spec": map[string]any{"user": user, "resourceAttributes": map[string]any{
			"namespace": s.namespace("a"), "verb": verb, "group": group, "resource": name, "subresource": subresource,
		}},
	}}
	reviews := schema.GroupVersionResource{Group: "authorization.k8s.io", Version: "v1", Resource: "subjectaccessreviews"}
	answer, err := h.Dynamic.Resource(reviews).Create(s.t.Context(), review, metav1.CreateOptions{})
	require.NoError(s.t, err)
	allowed, _, _ := unstructured.NestedBool(answer.Object, "status", "allowed")
	return allowed
}
