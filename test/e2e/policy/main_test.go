// Package policy tests the admission policies of manifests/base on a real API server:
// no controller runs, so the books of the classes are written by the tests.
package policy

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/yaml"

	"github.com/nginx-stream/tcpingress/test/cluster"
	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

// server is what all tests share.
var server *apiServer //nolint:gochecknoglobals // a control plane for each test would cost minutes

type apiServer struct {
	*cluster.Cluster
	dynamic dynamic.Interface
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) int {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	var err error
	if server, err = start(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "policy:", err)
		return 1
	}
	code := m.Run()
	if err := server.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "policy:", err)
		return 1
	}
	return code
}

func start(ctx context.Context) (*apiServer, error) {
	repository, err := harness.Repository(ctx)
	if err != nil {
		return nil, err
	}
	c, err := cluster.Start(ctx, cluster.Options{CRDs: []string{repository + "/crd/generated"}})
	if err != nil {
		return nil, err
	}
	s := &apiServer{Cluster: c}
	config, err := clientcmd.BuildConfigFromFlags("", c.KubeconfigPath())
	if err != nil {
		return nil, err
	}
	config.QPS, config.Burst = 1000, 1000
	if s.dynamic, err = dynamic.NewForConfig(config); err != nil {
		return nil, err
	}
	for _, file := range []string{"policy-tcpingress.yaml", "policy-tcpingressclass.yaml"} {
		if out, err := c.Kubectl(ctx, "apply", "-f", repository+"/manifests/base/"+file).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("applying %s: %w: %s", file, err, out)
		}
	}
	return s, s.awaitPolicies(ctx)
}

// awaitPolicies waits until both policies are enforced, and looks for warnings of
// the type checker.
func (s *apiServer) awaitPolicies(ctx context.Context) error {
	const probe = `
apiVersion: nginx-stream.dev/v1
kind: TCPIngressClass
metadata: {name: probe}
spec: {namespace: edge, service: {tcpName: theirs}}
`
	if _, err := s.create(ctx, probe); err != nil {
		return err
	}
	deadline := time.Now().Add(30 * time.Second)
	for {
		err := s.of("tcpingressclasses", "").Delete(ctx, "probe", dryRun())
		_, err2 := s.create(ctx, ingress("default", "probe", "probe", "{port: 443}"), "All")
		if err != nil && strings.Contains(err.Error(), "controller-uid-") && err2 != nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("the policies are not enforced: %w, %w", err, err2)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

func (s *apiServer) of(resource, namespace string) dynamic.ResourceInterface {
	gvr := schema.GroupVersionResource{Group: "nginx-stream.dev", Version: "v1", Resource: resource}
	if resource == "namespaces" {
		gvr.Group = ""
	}
	if namespace == "" {
		return s.dynamic.Resource(gvr)
	}
	return s.dynamic.Resource(gvr).Namespace(namespace)
}

func resourceOf(o *unstructured.Unstructured) string {
	if o.GetKind() == "TCPIngressClass" {
		return "tcpingressclasses"
	}
	return strings.ToLower(o.GetKind()) + map[string]string{"TCPIngress": "es"}[o.GetKind()] + map[string]string{"Namespace": "s"}[o.GetKind()]
}

// create creates an object that is written as YAML.
func (s *apiServer) create(ctx context.Context, text string, dryRun ...string) (*unstructured.Unstructured, error) {
	o, err := object(text)
	if err != nil {
		return nil, err
	}
	return s.of(resourceOf(o), o.GetNamespace()).Create(ctx, o, createOptions(dryRun))
}

func object(text string) (*unstructured.Unstructured, error) {
	o := &unstructured.Unstructured{}
	encoded, err := yaml.YAMLToJSONStrict([]byte(text))
	if err != nil {
		return nil, err
	}
	return o, o.UnmarshalJSON(encoded)
}

// ingress writes a TCPIngress of a class; "" names none. A rule without a backend gets one.
func ingress(namespace, name, class string, rules ...string) string {
	text := "apiVersion: nginx-stream.dev/v1\nkind: TCPIngress\nmetadata: {namespace: " + namespace + ", name: " + name + "}\nspec:\n"
	if class != "" {
		text += "  ingressClassName: " + class + "\n"
	}
	text += "  rules:\n"
	for _, rule := range rules {
		backend := "backend: {service: {name: svc, port: {number: 1}}}"
		if strings.Contains(rule, "endPort") {
			backend = "backend: {service: {name: svc}}"
		}
		text += "  - " + strings.Replace(rule, "{", "{"+backend+", ", 1) + "\n"
	}
	return text
}

// class makes a class, with lines of its spec and its status.
func class(t *testing.T, name, spec, status string) {
	t.Helper()
	classOf(t, name, "{}", spec, status)
}

func classOf(t *testing.T, name, annotations, spec, status string) {
	t.Helper()
	if spec != "" {
		spec = ", " + spec
	}
	made, err := server.create(t.Context(), "apiVersion: nginx-stream.dev/v1\nkind: TCPIngressClass\nmetadata: {name: "+name+", annotations: "+annotations+"}\nspec: {namespace: edge"+spec+"}\n")
	require.NoError(t, err)
	if status != "" {
		write(t, made, status)
	}
	t.Cleanup(func() {
		ctx := context.Background() //nolint:usetesting // the test's own has ended
		_, _ = server.of("tcpingressclasses", "").Patch(ctx, name, mergePatch, []byte(`{"metadata":{"annotations":{"nginx-stream.dev/allow-delete":"true"},"finalizers":null}}`), patchOptions())
		_ = server.of("tcpingressclasses", "").Delete(ctx, name, deleteOptions())
	})
}

// write gives a class its book, and waits until the policies see it.
func write(t *testing.T, o *unstructured.Unstructured, status string) {
	t.Helper()
	var value map[string]any
	require.NoError(t, yaml.UnmarshalStrict([]byte(status), &value))
	current, err := server.of("tcpingressclasses", "").Get(t.Context(), o.GetName(), getOptions())
	require.NoError(t, err)
	encoded, err := yaml.Marshal(value)
	require.NoError(t, err)
	patch, err := yaml.YAMLToJSON([]byte("metadata: {resourceVersion: \"" + current.GetResourceVersion() + "\"}\nstatus:\n" + indent(string(encoded))))
	require.NoError(t, err)
	_, err = server.of("tcpingressclasses", "").Patch(t.Context(), o.GetName(), mergePatch, patch, patchOptions(), "status")
	require.NoError(t, err)
}

func indent(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
}
