package server

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// authority signs certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	pem         []byte
	serial      int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: t.Name()},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(time.Hour),
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	certificate, err := x509.ParseCertificate(der)
	require.NoError(t, err)
	return &authority{certificate: certificate, key: key, pem: pemOf("CERTIFICATE", der), serial: 1}
}

// issue gives a certificate for 127.0.0.1 and its key.
func (a *authority) issue(t *testing.T, usage x509.ExtKeyUsage) (certificate, key []byte) {
	t.Helper()
	a.serial++
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	der, err := x509.CreateCertificate(rand.Reader, &x509.Certificate{
		SerialNumber: big.NewInt(a.serial),
		NotBefore:    time.Now().Add(-time.Hour),
		NotAfter:     time.Now().Add(time.Hour).Truncate(time.Second),
		ExtKeyUsage:  []x509.ExtKeyUsage{usage},
		IPAddresses:  []net.IP{net.IPv4(127, 0, 0, 1)},
	}, a.certificate, &private.PublicKey, a.key)
	require.NoError(t, err)
	privateDER, err := x509.MarshalPKCS8PrivateKey(private)
	require.NoError(t, err)
	return pemOf("CERTIFICATE", der), pemOf("PRIVATE KEY", privateDER)
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// client trusts the authority.
func (a *authority) client(keepAlive bool) *http.Client {
	pool := x509.NewCertPool()
	pool.AddCert(a.certificate)
	return &http.Client{Timeout: time.Minute, Transport: &http.Transport{
		DisableKeepAlives:   !keepAlive,
		MaxIdleConnsPerHost: 100,
		TLSClientConfig:     &tls.Config{RootCAs: pool},
	}}
}

// mount is a folder that changes as the kubelet changes a mounted Secret: all files
// at once, by the swap of a symbolic link.
type mount struct {
	dir     string
	version int
}

func newMount(t *testing.T, files map[string][]byte) *mount {
	t.Helper()
	m := &mount{dir: t.TempDir()}
	m.swap(t, files)
	return m
}

func (m *mount) path(name string) string { return filepath.Join(m.dir, name) }

func (m *mount) swap(t *testing.T, files map[string][]byte) {
	t.Helper()
	old := "..v" + strconv.Itoa(m.version)
	m.version++
	version := "..v" + strconv.Itoa(m.version)
	require.NoError(t, os.Mkdir(m.path(version), 0o700))
	for name, content := range files {
		require.NoError(t, os.WriteFile(filepath.Join(m.path(version), name), content, 0o600))
	}
	require.NoError(t, os.Symlink(version, m.path("..data_tmp")))
	require.NoError(t, os.Rename(m.path("..data_tmp"), m.path("..data")))
	for name := range files {
		if _, err := os.Lstat(m.path(name)); err != nil {
			require.NoError(t, os.Symlink(filepath.Join("..data", name), m.path(name)))
		}
	}
	require.NoError(t, os.RemoveAll(m.path(old)))
}

// pair is what a Secret of the type kubernetes.io/tls holds.
func (a *authority) pair(t *testing.T) map[string][]byte {
	t.Helper()
	certificate, key := a.issue(t, x509.ExtKeyUsageServerAuth)
	return map[string][]byte{"tls.crt": certificate, "tls.key": key}
}
