package harness

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// Token is what the hooks want to see with Options.Secure.
const Token = "only-for-tests"

// locks are what stands before the hooks; nil is nothing.
type locks struct {
	cert, key, tokens string // files
	trust             *x509.CertPool
	manifests         []*unstructured.Unstructured
}

func (l *locks) scheme() string {
	if l == nil {
		return "http"
	}
	return "https"
}

func (l *locks) flags() []string {
	if l == nil {
		return nil
	}
	return []string{"--tls-cert-file=" + l.cert, "--tls-key-file=" + l.key, "--hook-token-file=" + l.tokens}
}

func (l *locks) client() *http.Client {
	if l == nil {
		return http.DefaultClient
	}
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: l.trust, MinVersion: tls.VersionTLS12}}}
}

// Client of the hooks, which trusts their certificate and sends no token.
func (h *Harness) Client() *http.Client { return h.locks.client() }

// HooksURL is where the applier calls the hooks.
func (h *Harness) HooksURL() string { return h.hooksURL }

// lock makes certificate and token, as cert-manager and an admin would, and the Secrets
// from which Metacontroller reads them.
func (h *Harness) lock(ctx context.Context, root string) (*locks, error) {
	cert, key, ca, err := h.Cluster.ServingCertificate("127.0.0.1")
	if err != nil {
		return nil, fmt.Errorf("issuing a certificate: %w", err)
	}
	l := &locks{
		cert: filepath.Join(h.dir, "tls.crt"), key: filepath.Join(h.dir, "tls.key"), tokens: filepath.Join(h.dir, "tokens"),
		trust: x509.NewCertPool(),
	}
	l.trust.AppendCertsFromPEM(ca)
	for path, content := range map[string]string{l.cert: string(cert), l.key: string(key), l.tokens: Token + "\n"} {
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			return nil, err
		}
	}
	built, err := h.Cluster.Kubectl(ctx, "kustomize", filepath.Join(root, "manifests", "overlays", "secure")).Output()
	if err != nil {
		return nil, fmt.Errorf("building the overlay secure: %w", err)
	}
	if l.manifests, err = Objects(string(built)); err != nil {
		return nil, err
	}
	secrets := fmt.Sprintf(`
{apiVersion: v1, kind: Namespace, metadata: {name: tcpingress-system}}
---
{apiVersion: v1, kind: Secret, metadata: {namespace: tcpingress-system, name: tcpingress-hook-token}, stringData: {token: %q, tokens: %q}}
---
{apiVersion: v1, kind: Secret, metadata: {namespace: tcpingress-system, name: tcpingress-hooks-tls}, stringData: {ca.crt: %q}}
`, Token, Token, ca)
	list, err := Objects(secrets)
	if err != nil {
		return nil, err
	}
	for _, o := range l.manifests {
		if strings.HasPrefix(o.GetKind(), "ClusterRole") {
			list = append(list, o)
		}
	}
	return l, h.apply(ctx, list)
}

// controllers gives the controllers that the applier shall run.
func (h *Harness) controllers(context.Context) ([]*unstructured.Unstructured, error) {
	if h.locks == nil {
		return controllers(h.hooksURL)
	}
	var list []*unstructured.Unstructured
	for _, o := range h.locks.manifests {
		if !slices.Contains([]string{"CompositeController", "DecoratorController"}, o.GetKind()) {
			continue
		}
		endpoints, _, err := unstructured.NestedSlice(o.Object, "spec", "endpointConfigs")
		if err != nil || len(endpoints) != 1 {
			return nil, fmt.Errorf("%s has no endpointConfigs of the overlay secure", o.GetName())
		}
		endpoint, _ := endpoints[0].(map[string]any)
		endpoint["host"] = strings.TrimPrefix(h.hooksURL, "https://")
		if err := unstructured.SetNestedSlice(o.Object, endpoints, "spec", "endpointConfigs"); err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, point(list, h.hooksURL)
}
