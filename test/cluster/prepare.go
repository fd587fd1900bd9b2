package cluster

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/nginx-stream/tcpingress/test/cluster/assets"
)

// The user that KubeconfigPath is for.
const (
	adminUser  = "admin"
	adminGroup = "system:masters"
)

// prepare chooses ports and writes the files that the processes read.
func (c *Cluster) prepare(context.Context) error {
	var err error
	if c.ports, err = freePorts(); err != nil {
		return err
	}
	for _, dir := range []string{c.path("pki"), c.path("users"), c.LogDir()} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return fmt.Errorf("making a folder for the cluster: %w", err)
		}
	}
	if c.options.LogDir, err = filepath.Abs(c.LogDir()); err != nil {
		return fmt.Errorf("finding the folder of the logs: %w", err)
	}
	if err := c.removeOldLogs(); err != nil {
		return err
	}
	if err := c.writeCertificates(); err != nil {
		return err
	}
	if err := os.WriteFile(c.path("audit-policy.yaml"), []byte(auditPolicy), 0o644); err != nil {
		return fmt.Errorf("writing the audit policy: %w", err)
	}
	return nil
}

// removeOldLogs removes what an earlier cluster left in the same LogDir.
func (c *Cluster) removeOldLogs() error {
	logs := []string{c.auditLog()}
	for _, name := range assets.Names() {
		logs = append(logs, filepath.Join(c.LogDir(), name+".log"))
	}
	for _, log := range logs {
		if err := os.Remove(log); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("removing an old log: %w", err)
		}
	}
	return nil
}

// writeCertificates makes an authority, the server's certificate, the key of service account tokens, the admin's kubeconfig and our own client.
func (c *Cluster) writeCertificates() error {
	var err error
	if c.ca, err = newAuthority(); err != nil {
		return err
	}
	serving, err := c.ca.server("127.0.0.1", "localhost", "kubernetes.default.svc")
	if err != nil {
		return err
	}
	tokens, err := c.ca.client("service-account", nil)
	if err != nil {
		return err
	}
	admin, err := c.ca.client(adminUser, []string{adminGroup})
	if err != nil {
		return err
	}
	for name, content := range map[string][]byte{
		"ca.crt":              c.ca.pem,
		"serving.crt":         serving.cert,
		"serving.key":         serving.key,
		"service-account.key": tokens.key,
	} {
		if err := os.WriteFile(c.path("pki", name), content, 0o600); err != nil {
			return fmt.Errorf("writing a certificate: %w", err)
		}
	}
	if err := writeKubeconfig(c.KubeconfigPath(), c.URL(), c.ca.pem, admin); err != nil {
		return err
	}
	return c.makeClient(admin)
}

// makeClient makes the client that asks the processes whether they are ready.
func (c *Cluster) makeClient(id pair) error {
	certificate, err := tls.X509KeyPair(id.cert, id.key)
	if err != nil {
		return fmt.Errorf("reading the admin's certificate: %w", err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(c.ca.pem)
	c.client = &http.Client{
		Timeout: 5 * time.Second,
		Transport: &http.Transport{
			TLSClientConfig:   &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{certificate}},
			DisableKeepAlives: true,
		},
	}
	return nil
}
