package e2e

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
)

// TestLeavingIngressNginx runs the lines of docs/leaving-ingress-nginx.md in a shell,
// one after the other, and is the Deployment's controller meanwhile.
func TestLeavingIngressNginx(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../../docs/leaving-ingress-nginx.md")
	require.NoError(t, err)
	lines := regexp.MustCompile(`(?m)^    \$ (.+)$`).FindAllStringSubmatch(string(text), -1)
	require.Greater(t, len(lines), 10)

	s := newScene(t).nginxClass("service: {type: LoadBalancer}", quickly).
		backend("a/redis", "redis=6379").
		ingress("a/redis", "6379 -> redis:redis").address("tcp", "192.0.2.10").ready("a/redis")
	uid := s.get("Service", "nginx/"+s.class+"-stream-tcp").GetUID()
	watching := s.watchPort("6379")

	// All in one shell, for the sake of its variables: each line tells when it begins.
	var script strings.Builder
	script.WriteString("set -e\n")
	for _, line := range lines {
		command := strings.ReplaceAll(line[1], "CLASS=nginx", "CLASS="+s.class)
		// Other scenes are none of our business.
		command = strings.ReplaceAll(command, "kubectl get tcpingressclass,tcpingress,service -A -o yaml --show-managed-fields",
			"{ kubectl get tcpingressclass $CLASS -o yaml; echo ---; kubectl get service -n $NS -o yaml --show-managed-fields; echo ---; kubectl get tcpingress,service -n "+s.namespace("a")+" -o yaml; }")
		script.WriteString("echo '$ '\"$(cat <<'EOF'\n" + command + "\nEOF\n)\"\n" + command + "\n")
	}
	kubectl := h.Cluster.Kubectl(t.Context())
	cmd := exec.CommandContext(t.Context(), "sh", "-c", script.String())
	cmd.Env = append(kubectl.Env, "PATH="+s.programs(kubectl.Path)+":"+os.Getenv("PATH"))
	stop := s.deploy()
	out, err := cmd.CombinedOutput()
	require.NoError(t, errors.Join(err, stop()), "%s", out)
	s.condition("TCPIngressClass", s.class, "Programmed=True/Programmed", "").leadsTo("Nginx").ready("a/redis").
		gone("ConfigMap", "nginx/tcp-services")
	assert.Empty(t, watching())
	assert.Equal(t, uid, s.get("Service", "nginx/"+s.class+"-stream-tcp").GetUID())
}

// deploy plays the Deployment's controller until its result is called.
func (s *scene) deploy() (stop func() error) {
	done, result := make(chan struct{}), make(chan error)
	client := h.Dynamic.Resource(resource("Deployment")).Namespace(s.namespace("nginx"))
	ctx := context.WithoutCancel(s.t.Context())
	go func() {
		for {
			select {
			case <-done:
				result <- nil
				return
			case <-time.After(100 * time.Millisecond):
			}
			o, err := client.Get(ctx, s.class+"-stream", metav1.GetOptions{})
			if apierrors.IsNotFound(err) {
				continue
			}
			if err == nil {
				err = s.rollOut(ctx, client, o)
			}
			if err != nil {
				<-done
				result <- err
				return
			}
		}
	}()
	return func() error {
		close(done)
		return <-result
	}
}

// rollOut makes all pods of a Deployment available that are not.
func (s *scene) rollOut(ctx context.Context, client dynamic.ResourceInterface, o *unstructured.Unstructured) error {
	observed, _, _ := unstructured.NestedInt64(o.Object, "status", "observedGeneration")
	replicas, _, _ := unstructured.NestedInt64(o.Object, "spec", "replicas")
	if observed == o.GetGeneration() {
		return nil
	}
	_, err := client.Patch(ctx, o.GetName(), types.MergePatchType, deploymentStatus(o.GetGeneration(), replicas), metav1.PatchOptions{}, "status")
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// programs makes a folder with kubectl and tcpingress, for a PATH.
func (s *scene) programs(kubectl string) string {
	s.t.Helper()
	dir := s.t.TempDir()
	require.NoError(s.t, os.Symlink(kubectl, filepath.Join(dir, "kubectl")))
	require.NoError(s.t, os.Symlink(h.Hooks.Program(), filepath.Join(dir, "tcpingress")))
	return dir
}
