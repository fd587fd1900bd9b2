package server

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

func (m *mount) options() Options {
	return Options{TLSCertFile: m.path("tls.crt"), TLSKeyFile: m.path("tls.key"), ReloadInterval: 20 * time.Millisecond}
}

// runTLS is run over HTTPS.
func runTLS(t *testing.T, o Options, hooks ...metacontroller.Hook) string {
	t.Helper()
	url, _, _ := run(t, o, hooks...)
	return strings.Replace(url, "http://", "https://", 1)
}

// post sends a call over TLS.
func post(ctx context.Context, client *http.Client, url, token string) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/ok/sync", strings.NewReader(request))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Authorization", "Bearer "+token)
	return client.Do(r)
}

func TestHTTPS(t *testing.T) {
	ca := newAuthority(t)
	url := runTLS(t, newMount(t, ca.pair(t)).options(), okHook())
	client := ca.client(true)
	got, err := post(t.Context(), client, url, "")
	require.NoError(t, err)
	assert.Equal(t, "HTTP/1.1", got.Proto)
	assert.Equal(t, response, answerOf(t, got).body)

	plain := do(t, "GET", strings.Replace(url, "https://", "http://", 1)+"/healthz", "", "")
	assert.Equal(t, http.StatusBadRequest, plain.code, "no HTTP on the port of HTTPS")
}

func TestTLS12AtLeast(t *testing.T) {
	ca := newAuthority(t)
	url := runTLS(t, newMount(t, ca.pair(t)).options(), okHook())
	for version, want := range map[uint16]bool{tls.VersionTLS10: false, tls.VersionTLS11: false, tls.VersionTLS12: true, tls.VersionTLS13: true} {
		t.Run(tls.VersionName(version), func(t *testing.T) {
			client := ca.client(false)
			config := client.Transport.(*http.Transport).TLSClientConfig
			config.MinVersion, config.MaxVersion = version, version
			got, err := post(t.Context(), client, url, "")
			if !want {
				require.ErrorContains(t, err, "protocol version")
				return
			}
			require.NoError(t, err)
			assert.Equal(t, http.StatusOK, answerOf(t, got).code)
		})
	}
}

func TestClientCertificates(t *testing.T) {
	ca, clients, others := newAuthority(t), newAuthority(t), newAuthority(t)
	files := ca.pair(t)
	files["ca.crt"] = clients.pem
	m := newMount(t, files)
	o := m.options()
	o.ClientCAFile = m.path("ca.crt")
	o.HookTokenFile = tokenFile(t, "secret")
	url := runTLS(t, o, okHook())

	show := func(a *authority) *http.Client {
		certificate, key := a.issue(t, x509.ExtKeyUsageClientAuth)
		pair, err := tls.X509KeyPair(certificate, key)
		require.NoError(t, err)
		client := ca.client(false)
		client.Transport.(*http.Transport).TLSClientConfig.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
			return &pair, nil // also where the server did not name its authority
		}
		return client
	}
	mine, foreign := show(clients), show(others)
	code := func(client *http.Client, token string) (int, string) {
		got, err := post(t.Context(), client, url, token)
		require.NoError(t, err)
		a := answerOf(t, got)
		return a.code, a.body
	}

	got, body := code(mine, "secret")
	assert.Equal(t, http.StatusOK, got, body)
	got, body = code(ca.client(false), "secret")
	assert.Equal(t, http.StatusUnauthorized, got)
	assert.Equal(t, "this hook answers only to those who show a client certificate that the server trusts, see clientTLS of the controller's webhook", body)
	got, body = code(mine, "other")
	assert.Equal(t, http.StatusUnauthorized, got, "both locks count")
	assert.Equal(t, needsToken, body)
	_, err := post(t.Context(), foreign, url, "secret")
	require.ErrorContains(t, err, "unknown certificate authority")
	probe, err := ca.client(false).Get(url + "/readyz") //nolint:noctx // a probe
	require.NoError(t, err)
	assert.Equal(t, http.StatusOK, answerOf(t, probe).code, "probes have no certificate")

	files["ca.crt"] = append(append([]byte("a comment\n"), clients.pem...), others.pem...)
	m.swap(t, files)
	require.Eventually(t, func() bool {
		got, err := post(t.Context(), foreign, url, "secret")
		return err == nil && answerOf(t, got).code == http.StatusOK
	}, 20*time.Second, 20*time.Millisecond, "the new authority is trusted")
	files["ca.crt"] = others.pem
	m.swap(t, files)
	require.Eventually(t, func() bool {
		got, err := post(t.Context(), mine, url, "secret")
		if err == nil {
			_ = got.Body.Close()
		}
		return err != nil
	}, 20*time.Second, 20*time.Millisecond, "the old authority is trusted no more")
}

func TestNewRefusesFilesThatCannotBeUsed(t *testing.T) {
	ca := newAuthority(t)
	files := ca.pair(t)
	files["other.key"] = ca.pair(t)["tls.key"]
	files["empty"] = nil
	files["tokens"] = []byte("a b")
	files["broken.crt"] = pemOf("CERTIFICATE", []byte("nonsense"))
	files["large"] = make([]byte, maxFile+1)
	m := newMount(t, files)
	good := Options{TLSCertFile: m.path("tls.crt"), TLSKeyFile: m.path("tls.key")}
	with := func(change func(o *Options)) Options {
		o := good
		change(&o)
		return o
	}
	tests := map[string]struct {
		options Options
		want    string
	}{
		"a certificate without key":        {Options{TLSCertFile: m.path("tls.crt")}, "a certificate needs its key, and a key its certificate"},
		"a key without certificate":        {Options{TLSKeyFile: m.path("tls.key")}, "a certificate needs its key, and a key its certificate"},
		"client certificates without TLS":  {Options{ClientCAFile: m.path("tls.crt")}, "client certificates need TLS"},
		"a certificate that is missing":    {with(func(o *Options) { o.TLSCertFile = m.path("gone") }), "loading the certificate: open "},
		"a certificate that is none":       {with(func(o *Options) { o.TLSCertFile = m.path("empty") }), "loading the certificate: tls: failed to find any PEM data in certificate input"},
		"the key of another certificate":   {with(func(o *Options) { o.TLSKeyFile = m.path("other.key") }), "loading the certificate: tls: private key does not match public key"},
		"client authorities that are none": {with(func(o *Options) { o.ClientCAFile = m.path("empty") }), "loading the client-ca: the file holds no certificate in PEM"},
		"a key among them":                 {with(func(o *Options) { o.ClientCAFile = m.path("tls.key") }), "loading the client-ca: the file holds a PRIVATE KEY, and must hold certificates only"},
		"a broken one among them":          {with(func(o *Options) { o.ClientCAFile = m.path("broken.crt") }), "loading the client-ca: parsing certificate 1: "},
		"tokens that are none":             {Options{HookTokenFile: m.path("tokens")}, "loading the tokens: line 1 is no token"},
		"tokens that are missing":          {Options{HookTokenFile: m.path("gone")}, "loading the tokens: open "},
		"a file without end":               {Options{HookTokenFile: m.path("large")}, "is larger than 1048576 bytes"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := New(tc.options, nil)
			require.ErrorContains(t, err, tc.want)
		})
	}
	_, err := New(with(func(o *Options) { o.ClientCAFile = m.path("tls.crt"); o.HookTokenFile = m.path("empty") }), nil)
	require.NoError(t, err)
}
