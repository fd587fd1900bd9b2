package server

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// identity is what the server shows in a handshake, and whom it trusts. Each
// handshake uses what is there at that moment; connections that are open stay.
type identity struct {
	certificate atomic.Pointer[tls.Certificate]
	// clients is nil where nobody asks for client certificates.
	clients  atomic.Pointer[x509.CertPool]
	notAfter prometheus.Gauge
}

// loadPair takes a certificate with its chain, and the key, as PEM.
func (d *identity) loadPair(contents [][]byte) error {
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return err
	}
	d.certificate.Store(&pair)
	d.notAfter.Set(float64(pair.Leaf.NotAfter.Unix()))
	return nil
}

// loadClients takes the certificates of those who sign client certificates, as PEM.
func (d *identity) loadClients(contents [][]byte) error {
	pool, err := certificatePool(contents[0])
	if err != nil {
		return err
	}
	d.clients.Store(pool)
	return nil
}

// certificatePool refuses what x509.CertPool.AppendCertsFromPEM skips in silence.
func certificatePool(text []byte) (*x509.CertPool, error) {
	pool := x509.NewCertPool()
	found := 0
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil {
			break
		}
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("the file holds a %s, and must hold certificates only", block.Type)
		}
		certificate, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("parsing certificate %d: %w", found+1, err)
		}
		pool.AddCert(certificate)
		found++
	}
	if found == 0 {
		return nil, errors.New("the file holds no certificate in PEM")
	}
	return pool, nil
}

// wrap makes a listener speak TLS.
func (d *identity) wrap(listener net.Listener) net.Listener {
	return tls.NewListener(listener, &tls.Config{
		MinVersion: tls.VersionTLS12,
		GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return d.config(), nil
		},
	})
}

func (d *identity) config() *tls.Config {
	config := &tls.Config{
		MinVersion:   tls.VersionTLS12,
		Certificates: []tls.Certificate{*d.certificate.Load()},
		// No HTTP/2: it would tie a caller to one replica by one connection for ever.
		NextProtos: []string{"http/1.1"},
		// A resumed session would outlive the certificates that it was opened with.
		SessionTicketsDisabled: true,
	}
	if clients := d.clients.Load(); clients != nil {
		config.ClientCAs = clients
		// Probes and scrapes come without one. Hooks ask for it, see guard.
		config.ClientAuth = tls.VerifyClientCertIfGiven
	}
	return config
}
