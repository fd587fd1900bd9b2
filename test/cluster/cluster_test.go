package cluster_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/test/cluster"
	"github.com/nginx-stream/tcpingress/test/cluster/assets"
)

// TestControlPlane goes through everything that other tests rely on, on one cluster: a start costs seconds.
func TestControlPlane(t *testing.T) {
	c := start(t, cluster.Options{Audit: true, CRDs: []string{"testdata/widget-crd.yaml"}})

	t.Run("the version is the pinned one", func(t *testing.T) {
		var version struct {
			ClientVersion, ServerVersion struct{ Major, Minor, GitVersion string }
		}
		require.NoError(t, json.Unmarshal([]byte(kubectl(t, c, "version", "--output=json")), &version))
		assert.Regexp(t, `^v1\.\d+\.\d+$`, version.ServerVersion.GitVersion)
		assert.Equal(t, version.ServerVersion, version.ClientVersion)
	})

	t.Run("the admin may do everything, a user only what RBAC grants", func(t *testing.T) {
		kubectl(t, c, "create", "configmap", "settings", "--from-literal=key=value")
		user, err := c.UserKubeconfig("jane", "readers")
		require.NoError(t, err)

		got := kubectlFails(t, c, "--kubeconfig="+user, "get", "configmap", "settings")
		assert.Contains(t, got, `User "jane" cannot get resource "configmaps"`)

		kubectl(t, c, "create", "clusterrole", "read", "--verb=get", "--resource=configmaps")
		kubectl(t, c, "create", "clusterrolebinding", "read", "--clusterrole=read", "--group=readers")
		require.EventuallyWithT(t, func(collect *assert.CollectT) {
			out, err := c.Kubectl(t.Context(), "--kubeconfig="+user, "get", "configmap", "settings", "--output=jsonpath={.data.key}").CombinedOutput()
			assert.NoError(collect, err)
			assert.Equal(collect, "value", string(out))
		}, time.Minute, 100*time.Millisecond)
		kubectlFails(t, c, "--kubeconfig="+user, "delete", "configmap", "settings")
	})

	t.Run("what an object owns goes with it, custom resources too", func(t *testing.T) {
		apply(t, c, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: owner}}`)
		uid := kubectl(t, c, "get", "widget", "owner", "--output=jsonpath={.metadata.uid}")
		owned := fmt.Sprintf("ownerReferences: [{apiVersion: example.com/v1, kind: Widget, name: owner, uid: %s}]", uid)
		apply(t, c, `{apiVersion: v1, kind: ConfigMap, metadata: {name: owned, namespace: default, `+owned+`}}`)
		apply(t, c, `{apiVersion: example.com/v1, kind: Widget, metadata: {name: owned, `+owned+`}}`)
		kubectl(t, c, "delete", "widget", "owner")
		kubectl(t, c, "wait", "--for=delete", "configmap/owned", "widget/owned", "--timeout=60s")
	})

	t.Run("a deleted namespace goes with its content", func(t *testing.T) {
		kubectl(t, c, "create", "namespace", "short-lived")
		kubectl(t, c, "--namespace=short-lived", "create", "configmap", "content")
		kubectl(t, c, "delete", "namespace", "short-lived", "--timeout=60s")
		assert.Contains(t, kubectlFails(t, c, "get", "namespace", "short-lived"), "not found")
	})

	t.Run("a ValidatingAdmissionPolicy is enforced", func(t *testing.T) {
		kubectl(t, c, "apply", "--filename=testdata/policy.yaml")
		require.EventuallyWithT(t, func(collect *assert.CollectT) {
			out, err := c.Kubectl(t.Context(), "create", "configmap", "forbidden", "--dry-run=server").CombinedOutput()
			assert.Error(collect, err)
			assert.Contains(collect, string(out), "this name is taken")
		}, time.Minute, 200*time.Millisecond)
	})

	t.Run("a LoadBalancer Service gets node ports of the wide range", func(t *testing.T) {
		kubectl(t, c, "create", "service", "loadbalancer", "wide", "--tcp=6379")
		port, err := strconv.Atoi(kubectl(t, c, "get", "service", "wide", "--output=jsonpath={.spec.ports[0].nodePort}"))
		require.NoError(t, err)
		assert.True(t, port >= 10000 && port <= 60000, "node port %d", port)
	})

	t.Run("writes are counted, and only writes", func(t *testing.T) {
		since := time.Now()
		user, err := c.UserKubeconfig("writer", "system:masters")
		require.NoError(t, err)
		kubectl(t, c, "--kubeconfig="+user, "get", "configmaps", "--all-namespaces")
		kubectl(t, c, "--kubeconfig="+user, "auth", "can-i", "create", "configmaps")
		assert.Empty(t, writesBy(t, c, "writer", since))
		kubectl(t, c, "--kubeconfig="+user, "create", "configmap", "written")
		kubectl(t, c, "--kubeconfig="+user, "label", "configmap", "written", "a=b")
		got := writesBy(t, c, "writer", since)
		require.Len(t, got, 2)
		assert.Equal(t, []string{"create", "patch"}, []string{got[0].Verb, got[1].Verb})
		assert.Equal(t, "configmaps default/written 200", fmt.Sprintf("%s %s/%s %d", got[1].Resource, got[1].Namespace, got[1].Name, got[1].Code))
		assert.Empty(t, writesBy(t, c, "writer", time.Now()))
	})

	t.Run("a restarted API server has its port and its data", func(t *testing.T) {
		before := c.URL()
		begin := time.Now()
		require.NoError(t, c.RestartAPIServer(t.Context()))
		t.Logf("restart: %.1f s", time.Since(begin).Seconds())
		assert.Equal(t, before, c.URL())
		assert.Equal(t, "value", kubectl(t, c, "get", "configmap", "settings", "--output=jsonpath={.data.key}"))
	})

	t.Run("Stop leaves no process, no port and no file", func(t *testing.T) {
		pids := c.PIDs()
		require.Len(t, pids, 3)
		for name, pid := range pids {
			t.Logf("%s: %s", name, memory(pid))
		}
		ports := listening(t, pids)
		require.NotEmpty(t, ports)
		assert.Contains(t, c.Logs(5), "kube-apiserver.log (running)")

		begin := time.Now()
		require.NoError(t, c.Stop())
		require.NoError(t, c.Stop(), "a second time")
		t.Logf("stop: %.1f s", time.Since(begin).Seconds())

		for name, pid := range pids {
			assert.ErrorIs(t, syscall.Kill(pid, 0), syscall.ESRCH, name)
		}
		for _, port := range ports {
			_, err := net.Dial("tcp", "127.0.0.1:"+port)
			assert.ErrorIs(t, err, syscall.ECONNREFUSED, port)
		}
		assert.NoDirExists(t, filepath.Dir(c.KubeconfigPath()))
		assert.Error(t, c.RestartAPIServer(t.Context()))
	})
}

func TestStopsWhenTheContextEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c, err := cluster.Start(ctx, cluster.Options{})
	require.NoError(t, err)
	pids := c.PIDs()
	cancel()
	for name, pid := range pids {
		assert.Eventually(t, func() bool { return syscall.Kill(pid, 0) == syscall.ESRCH }, time.Minute, 50*time.Millisecond, name)
	}
	require.NoError(t, c.Stop())
}

func TestFailedStartTellsWhyAndLeavesNothing(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	_, err := cluster.Start(t.Context(), cluster.Options{APIServerArgs: []string{"--no-such-flag"}})
	require.ErrorContains(t, err, "kube-apiserver has ended by itself: exit status 1; the end of its log:\n")
	require.ErrorContains(t, err, "unknown flag: --no-such-flag")
	left, err := os.ReadDir(os.TempDir())
	require.NoError(t, err)
	assert.Empty(t, left)

	_, err = cluster.Start(t.Context(), cluster.Options{Assets: t.TempDir()})
	require.ErrorContains(t, err, "lacks etcd, kube-apiserver, kube-controller-manager, kubectl")
}

// TestHelperHoldsACluster is not a test: TestNothingSurvivesItsParent runs it in a process of its own and kills that.
func TestHelperHoldsACluster(t *testing.T) {
	file := os.Getenv("CLUSTER_TEST_PIDS")
	if file == "" {
		t.Skip("for TestNothingSurvivesItsParent")
	}
	c, err := cluster.Start(context.Background(), cluster.Options{})
	require.NoError(t, err)
	content, err := json.Marshal(c.PIDs())
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file+".part", content, 0o600))
	require.NoError(t, os.Rename(file+".part", file))
	select {}
}

func TestNothingSurvivesItsParent(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system cannot tie a process to the life of its parent")
	}
	_, err := assets.Ensure(t.Context(), os.Stderr)
	require.NoError(t, err)
	file := filepath.Join(t.TempDir(), "pids")
	cmd := exec.Command(os.Args[0], "-test.run=^TestHelperHoldsACluster$")
	cmd.Env = append(os.Environ(), "CLUSTER_TEST_PIDS="+file, "TMPDIR="+t.TempDir())
	require.NoError(t, cmd.Start())
	defer cmd.Wait()         //nolint:errcheck // it is killed
	defer cmd.Process.Kill() //nolint:errcheck // at the latest here
	pids := map[string]int{}
	require.Eventually(t, func() bool {
		content, err := os.ReadFile(file)
		return err == nil && json.Unmarshal(content, &pids) == nil
	}, 3*time.Minute, 50*time.Millisecond)
	require.Len(t, pids, 3)
	require.NoError(t, cmd.Process.Kill())
	for name, pid := range pids {
		assert.Eventually(t, func() bool { return gone(pid) }, 30*time.Second, 20*time.Millisecond, name)
	}
}

// start starts a cluster for the test and says how long that took.
func start(t *testing.T, options cluster.Options) *cluster.Cluster {
	t.Helper()
	begin := time.Now()
	dir, err := assets.Ensure(t.Context(), os.Stderr)
	require.NoError(t, err)
	t.Logf("binaries: %.2f s", time.Since(begin).Seconds())
	options.Assets = dir
	begin = time.Now()
	c, err := cluster.Start(context.Background(), options)
	require.NoError(t, err)
	t.Logf("start: %.1f s", time.Since(begin).Seconds())
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.Logs(30))
		}
		assert.NoError(t, c.Stop())
	})
	return c
}

// kubectl runs kubectl and returns what it printed.
func kubectl(t *testing.T, c *cluster.Cluster, args ...string) string {
	t.Helper()
	out, err := c.Kubectl(t.Context(), args...).CombinedOutput()
	require.NoError(t, err, "kubectl %s: %s", strings.Join(args, " "), out)
	return strings.TrimSpace(string(out))
}

// kubectlFails runs a kubectl that must fail and returns what it printed.
func kubectlFails(t *testing.T, c *cluster.Cluster, args ...string) string {
	t.Helper()
	out, err := c.Kubectl(t.Context(), args...).CombinedOutput()
	require.Error(t, err, "kubectl %s: %s", strings.Join(args, " "), out)
	return string(out)
}

// apply applies a manifest.
func apply(t *testing.T, c *cluster.Cluster, manifest string) {
	t.Helper()
	cmd := c.Kubectl(t.Context(), "apply", "--filename=-")
	cmd.Stdin = strings.NewReader(manifest)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

// writesBy returns the writes of one user.
func writesBy(t *testing.T, c *cluster.Cluster, user string, since time.Time) []cluster.Write {
	t.Helper()
	all, err := c.Writes(since)
	require.NoError(t, err)
	var out []cluster.Write
	for _, w := range all {
		if w.User == user {
			out = append(out, w)
		}
	}
	return out
}

// listening returns the ports that the processes were told to listen on and do.
func listening(t *testing.T, pids map[string]int) []string {
	t.Helper()
	var ports []string
	for _, pid := range pids {
		out, err := exec.Command("ps", "-o", "args=", "-ww", "-p", strconv.Itoa(pid)).Output()
		require.NoError(t, err)
		for _, arg := range strings.Fields(string(out)) {
			port, ok := strings.CutPrefix(arg, "--secure-port=")
			if client, found := strings.CutPrefix(arg, "--listen-client-urls="); found {
				u, err := url.Parse(client)
				require.NoError(t, err)
				port, ok = u.Port(), true
			}
			if ok {
				conn, err := net.Dial("tcp", "127.0.0.1:"+port)
				require.NoError(t, err)
				require.NoError(t, conn.Close())
				ports = append(ports, port)
			}
		}
	}
	return ports
}

// memory is the resident memory of a process, in words.
func memory(pid int) string {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return "unknown"
	}
	kib, _ := strconv.Atoi(strings.TrimSpace(string(out)))
	return fmt.Sprintf("%d MiB resident", kib>>10)
}

// gone tells whether a process that is not our child has ended; one that nobody has waited for yet counts.
func gone(pid int) bool {
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err != nil || strings.HasPrefix(strings.TrimSpace(string(out)), "Z")
}
