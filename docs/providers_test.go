package docs_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/ingressnginx"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
)

// The excerpts are what is rendered.
func TestProvidersShowsWhatIsRendered(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("providers.md")
	require.NoError(t, err)
	excerpts := regexp.MustCompile("(?s)```nginx\n(.*?)```").FindAllStringSubmatch(string(text), -1)
	require.NotEmpty(t, excerpts)
	files, err := filepath.Glob("../hooks/tcpingress/render/nginx/testdata/*/*.conf")
	require.NoError(t, err)
	var rendered strings.Builder
	for _, file := range files {
		part, err := os.ReadFile(file)
		require.NoError(t, err)
		rendered.Write(part)
	}
	for _, excerpt := range excerpts {
		assert.Contains(t, rendered.String(), excerpt[1])
	}
}

// The table says what the providers say.
func TestProvidersTellsWhatTheyCanDo(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("providers.md")
	require.NoError(t, err)
	old := ingressnginx.New(ingressnginx.Config{TCPConfigMap: "tcp", UDPConfigMap: "udp"})
	own := nginx.New(nginx.Config{Dir: "/run", ClusterDomain: "cluster.local", EphemeralFrom: 32768, EphemeralTo: 60999})
	for field, edit := range map[string]func(*l4.Listener){
		"`port`, TCP or UDP":               func(*l4.Listener) {},
		"`endPort` (a range)":              func(l *l4.Listener) { l.EndPort = l.Port + 1 },
		"`hosts` (TLS by its server name)": func(l *l4.Listener) { l.Hosts = []string{"a.example.com"} },
		"`allowSources`":                   func(l *l4.Listener) { l.AllowSources = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")} },
		"`timeouts.connect`":               func(l *l4.Listener) { l.ConnectTimeout = time.Second },
		"`timeouts.idle`":                  func(l *l4.Listener) { l.IdleTimeout = time.Second },
		"`limits.connectionsPerClient`":    func(l *l4.Listener) { l.ConnectionsPerClient = 1 },
		"`proxyProtocol.accept`":           func(l *l4.Listener) { l.AcceptProxy = true },
		"`proxyProtocol.send: V1`":         func(l *l4.Listener) { l.SendProxy = l4.SendV1 },
		"`backend.service.port.name`":      func(l *l4.Listener) { l.Backend.Port, l.Backend.PortName = 0, "redis" },
	} {
		row := regexp.MustCompile(`(?m)^\| ` + regexp.QuoteMeta(field) + ` \| (.*?) \| (.*?) \|$`).FindStringSubmatch(string(text))
		require.NotNil(t, row, field)
		for i, check := range []func(*l4.Listener) string{old.Check, own.Check} {
			said := row[1+i]
			for _, protocol := range []l4.Protocol{l4.TCP, l4.UDP} {
				l := l4.Listener{Protocol: protocol, Port: 6379, Backend: l4.Backend{Namespace: "a", Service: "b", Port: 1}}
				edit(&l)
				want := strings.HasPrefix(said, "yes") && (protocol == l4.TCP || !strings.Contains(said, "TCP only"))
				assert.Equal(t, want, check(&l) == "", "%s %s: %s", field, protocol, said)
			}
		}
	}
	assert.Contains(t, string(text), "| reserved ports | those of `ingressNginx.reservedPorts` (80, 443, 8443, ...) | "+own.ReservedText()+", ")
}
