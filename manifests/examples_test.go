package manifests_test

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/manifests"
)

// example is what one file of examples/ holds.
type example struct {
	namespaces []corev1.Namespace
	services   []corev1.Service
	classes    []crdv1.TCPIngressClass
	ingresses  []crdv1.TCPIngress
}

func readExample(t *testing.T, file string) example {
	t.Helper()
	content, err := os.ReadFile(file)
	require.NoError(t, err)
	require.True(t, bytes.HasPrefix(content, []byte("# ")), "the first line says what to look at")

	var out example
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(content)))
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		var kind struct{ Kind string }
		require.NoError(t, yaml.Unmarshal(document, &kind))
		switch kind.Kind {
		case "Namespace":
			out.namespaces = append(out.namespaces, strict[corev1.Namespace](t, document))
		case "Service":
			out.services = append(out.services, strict[corev1.Service](t, document))
		case crdv1.KindTCPIngressClass:
			out.classes = append(out.classes, strict[crdv1.TCPIngressClass](t, document))
		case crdv1.KindTCPIngress:
			out.ingresses = append(out.ingresses, strict[crdv1.TCPIngress](t, document))
		default:
			require.Failf(t, "unexpected kind", "%s in %s", kind.Kind, file)
		}
	}
}

func strict[T any](t *testing.T, document []byte) T {
	t.Helper()
	var out T
	require.NoError(t, yaml.UnmarshalStrict(document, &out))
	return out
}

func TestExamples(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(os.DirFS("examples"), "*.yaml")
	require.NoError(t, err)
	require.Equal(t, []string{
		"0-namespace.yaml", "annotated-service.yaml", "class-ingress-nginx.yaml", "dns.yaml",
		"ftp-range.yaml", "mqtt-pool.yaml", "postgres.yaml", "redis.yaml",
	}, files, "files are applied in the order of their names, the namespace first")

	class := readExample(t, "examples/class-ingress-nginx.yaml").classes
	namespace := readExample(t, "examples/0-namespace.yaml").namespaces
	require.Len(t, class, 1)
	require.Len(t, namespace, 1)
	for _, file := range files {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			got := readExample(t, path.Join("examples", file))
			for _, ingress := range got.ingresses {
				assert.Equal(t, class[0].Name, ingress.Spec.IngressClassName)
				assert.Equal(t, namespace[0].Name, ingress.Namespace)
				for _, rule := range ingress.Spec.Rules {
					assertBackend(t, got.services, ingress.Namespace, rule)
				}
			}
			for _, service := range got.services {
				assert.Equal(t, namespace[0].Name, service.Namespace)
				for _, port := range service.Spec.Ports {
					assert.Empty(t, validation.IsValidPortName(port.Name))
				}
			}
		})
	}
}

// assertBackend fails where the file lacks a port that the rule leads to.
func assertBackend(t *testing.T, services []corev1.Service, namespace string, rule crdv1.Rule) {
	t.Helper()
	at := slices.IndexFunc(services, func(s corev1.Service) bool {
		return s.Namespace == namespace && s.Name == rule.Backend.Service.Name
	})
	require.GreaterOrEqual(t, at, 0, "no Service %s", rule.Backend.Service.Name)
	protocol := corev1.ProtocolTCP
	if rule.Protocol == crdv1.ProtocolUDP {
		protocol = corev1.ProtocolUDP
	}
	for number := rule.Port; number <= max(rule.Port, rule.EndPort); number++ {
		assert.True(t, slices.ContainsFunc(services[at].Spec.Ports, func(p corev1.ServicePort) bool {
			switch want := rule.Backend.Service.Port; {
			case p.Protocol != protocol:
				return false
			case want == nil:
				return p.Port == number
			case want.Name != "":
				return p.Name == want.Name
			default:
				return p.Port == want.Number
			}
		}), "no port of Service %s for %s %d", services[at].Name, protocol, number)
	}
}

func TestBaseIsEmbedded(t *testing.T) {
	t.Parallel()
	files, err := fs.Glob(os.DirFS("."), "base/*.yaml")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		want, err := os.ReadFile(file)
		require.NoError(t, err)
		got, err := manifests.Base.ReadFile(file)
		require.NoError(t, err)
		assert.Equal(t, string(want), string(got), file)
	}
}
