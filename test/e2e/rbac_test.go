package e2e

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

// The applier has the role of manifests/base and no more; that it suffices is what all
// other tests show, and TestMain looks for refusals in its log at the end.
func TestLeastRBAC(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.mayOnly(harness.User, map[string]string{
		"update tcpingresses/status":        "yes",
		"create configmaps":                 "yes",
		"get secrets":                       "no",
		"create pods":                       "no",
		"update namespaces":                 "no",
		"update tcpingressclasses":          "no",
		"create clusterrolebindings":        "no",
		"update services/status":            "no",
		"update customresourcedefinitions":  "no",
		"update compositecontrollers":       "no",
		"impersonate serviceaccounts":       "no",
		"create tcpingresses/status":        "no",
		"deletecollection tcpingressslices": "no",
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
		return h.Cluster.Kubectl(t.Context(), "auth", "can-i", "create", "tcpingresses", "-n", s.namespace("a"), "--as="+jane).Run()
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
	apply := h.Cluster.Kubectl(t.Context(), "--kubeconfig="+kubeconfig, "apply", "-f", "-")
	apply.Stdin = strings.NewReader(s.ingressYAML("a/redis", "  ingressClassName: "+s.class+"\n", []string{"6379 -> redis:6379"}))
	out, err := apply.CombinedOutput()
	require.NoError(t, err, string(out))
	s.ready("a/redis")
}

// mayOnly asks what a user may do in the first team's namespace, by verb and resource.
func (s *scene) mayOnly(user string, want map[string]string) {
	s.t.Helper()
	for what, answer := range want {
		verb, resource, _ := strings.Cut(what, " ")
		resource, subresource, _ := strings.Cut(resource, "/")
		args := []string{"auth", "can-i", verb, resource, "-n", s.namespace("a"), "--as=" + user}
		if subresource != "" {
			args = append(args, "--subresource="+subresource)
		}
		out, _ := h.Cluster.Kubectl(s.t.Context(), args...).Output()
		assert.Equal(s.t, answer, strings.TrimSpace(string(out)), what)
	}
}
