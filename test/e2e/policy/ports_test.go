package policy

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// said gives what a policy says in an error of the API server, "" for no error.
func said(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	var status apierrors.APIStatus
	require.True(t, errors.As(err, &status), err.Error())
	_, text, found := strings.Cut(status.Status().Message, "denied request: ")
	require.True(t, found, "not refused by a policy: %v", err)
	return text
}

// eventually repeats a judgement until it is as wanted: the policies see a class a
// moment after it was written.
func eventually(t *testing.T, want string, judge func() error) {
	t.Helper()
	var got string
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if got = said(t, judge()); got == want {
			return
		}
	}
	assert.Equal(t, want, got)
}

// held is what a policy says of a port that somebody has.
func held(port, class, holder string) string {
	parts := strings.Split(holder, "/")
	return fmt.Sprintf("Port %s of class %s is held by TCPIngress %s/%s (rule %s); choose another port or ask its owner.", port, class, parts[0], parts[1], parts[2])
}

func TestPorts(t *testing.T) {
	t.Parallel()
	const book = `
listeners:
  6379/TCP: data/redis/tcp-6379
  53/UDP: data/dns/udp-53
  9443/TCP: "*hosts"
  9443/TCP/db.example.com: data/db/tls
  9443/TCP/*.example.org: default/mine/tls
  9443/TCP/*.wide.example.net: data/wide/tls
  9444/TCP: "*hosts"
  9444/TCP/*.wide.example.net: data/wide/other
ranges:
- {from: 20000, to: 20099, protocol: UDP, holder: game/world/range}
- {from: 21000, to: 21099, protocol: TCP, holder: default/mine/range}
`
	const nginx = "provider: Nginx"
	class(t, "ports", nginx, book)
	tests := map[string]struct{ rule, want string }{
		"a free port":                           {"{port: 6380}", ""},
		"a held port":                           {"{port: 6379}", held("6379/TCP", "ports", "data/redis/tcp-6379")},
		"the same number of another protocol":   {"{port: 6379, protocol: UDP}", ""},
		"a held UDP port":                       {"{port: 53, protocol: UDP}", held("53/UDP", "ports", "data/dns/udp-53")},
		"a port that is shared by hosts":        {"{port: 9443}", "Port 9443/TCP of class ports is shared by hosts, one of them *.example.org of TCPIngress default/mine (rule tls); name the hosts of this rule, or choose another port."},
		"a new host on a shared port":           {"{port: 9443, hosts: [new.example.com], name: x}", ""},
		"a held host":                           {"{port: 9443, hosts: [a.example.com, db.example.com], name: x}", "Host db.example.com on port 9443/TCP of class ports is held by TCPIngress data/db (rule tls); choose another host or port, or ask its owner."},
		"a host of its own":                     {"{port: 9443, hosts: ['*.example.org'], name: x}", ""},
		"a host under a wildcard of others":     {"{port: 9443, hosts: [new.example.com, a.b.wide.example.net], name: x}", "Host a.b.wide.example.net meets *.wide.example.net, which on port 9443/TCP of class ports is held by TCPIngress data/wide (rule tls); choose another host or port, or ask its owner."},
		"a wildcard under one of others":        {"{port: 9443, hosts: ['*.b.wide.example.net'], name: x}", "Host *.b.wide.example.net meets *.wide.example.net, which on port 9443/TCP of class ports is held by TCPIngress data/wide (rule tls); choose another host or port, or ask its owner."},
		"a wildcard over a host of others":      {"{port: 9443, hosts: ['*.example.com'], name: x}", "Host *.example.com meets db.example.com, which on port 9443/TCP of class ports is held by TCPIngress data/db (rule tls); choose another host or port, or ask its owner."},
		"a host beside a wildcard of others":    {"{port: 9443, hosts: [wide.example.net, awide.example.net], name: x}", ""},
		"a host under a wildcard of its own":    {"{port: 9443, hosts: [a.example.org], name: x}", ""},
		"a wildcard of another port":            {"{port: 9444, hosts: ['*.example.com'], name: x}", ""},
		"hosts on a port that one has":          {"{port: 6379, hosts: [db.example.com], name: x}", "Port 6379/TCP of class ports is held for all hosts by TCPIngress data/redis (rule tcp-6379); choose another port, or ask its owner to name hosts."},
		"a port in a range":                     {"{port: 20050, protocol: UDP}", held("20050/UDP", "ports", "game/world/range")},
		"a port in a range of another protocol": {"{port: 20050}", ""},
		"a port in a range of its own":          {"{port: 21050}", ""},
		"a range that meets a range":            {"{port: 19990, endPort: 20000, protocol: UDP, name: r}", held("20000/UDP", "ports", "game/world/range")},
		"a range within a range":                {"{port: 20010, endPort: 20020, protocol: UDP, name: r}", held("20010/UDP", "ports", "game/world/range")},
		"a range that ends before a range":      {"{port: 19990, endPort: 19999, protocol: UDP, name: r}", ""},
		"a range over a port":                   {"{port: 5600, endPort: 6500, name: r}", held("6379/TCP", "ports", "data/redis/tcp-6379")},
		"a range that ends at a port":           {"{port: 5356, endPort: 6379, name: r}", held("6379/TCP", "ports", "data/redis/tcp-6379")},
		"a range that begins at a port":         {"{port: 6379, endPort: 6400, name: r}", held("6379/TCP", "ports", "data/redis/tcp-6379")},
		"a range that ends before a port":       {"{port: 5355, endPort: 6378, name: r}", ""},
		"a range over a shared port":            {"{port: 9400, endPort: 9500, name: r}", "Port 9443/TCP of class ports is shared by hosts, one of them *.example.org of TCPIngress default/mine (rule tls); choose another port."},
		"a range over its own range":            {"{port: 21000, endPort: 21999, name: r}", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eventually(t, tc.want, func() error {
				_, err := server.create(t.Context(), ingress("default", "mine", "ports", tc.rule), "All")
				return err
			})
		})
	}
}

// What the spec of a class says of ports, hosts of nobody included.
func TestSpecOfTheClass(t *testing.T) {
	t.Parallel()
	class(t, "plain", "", "")
	class(t, "strict", "ports: {allowed: [{from: 1, to: 99}, {from: 5000, to: 6000}], grants: [{namespaces: [default], ports: [{from: 5000, to: 5500}, {from: 50, to: 50}]}, {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}, ports: [{from: 5600, to: 5700}]}]}", "")
	class(t, "gaps", "ports: {allowed: [{from: 300, to: 310}, {from: 100, to: 150}, {from: 151, to: 200}, {from: 202, to: 250}], grants: [{namespaces: [default], ports: [{from: 300, to: 302}]}, {namespaces: [default], ports: [{from: 303, to: 305}, {from: 307, to: 310}]}, {namespaces: [default], ports: [{from: 100, to: 250}]}]}", "")
	class(t, "tcp-only", "ingressNginx: {udpConfigMapName: ''}", "")
	class(t, "elsewhere", "allowedNamespaces: {from: Selector, selector: {matchExpressions: [{key: team, operator: Exists}]}}", "")
	class(t, "ours", "provider: Nginx, nginx: {reservedPorts: [9000]}", "")
	tests := map[string]struct{ namespace, class, rule, want string }{
		"a reserved port":                   {"default", "plain", "{port: 443}", "Port 443/TCP is needed by the data plane of class plain itself; choose a port other than 80, 442, 443, 8181, 8443, 10245, 10246, 10247, 10254, 11514."},
		"a range over a reserved port":      {"default", "plain", "{port: 8000, endPort: 8500, name: r}", "Port 8181/TCP is needed by the data plane of class plain itself; choose a port other than 80, 442, 443, 8181, 8443, 10245, 10246, 10247, 10254, 11514."},
		"a port of the agent":               {"default", "ours", "{port: 10270}", "Port 10270/TCP is needed by the data plane of class ours itself; choose a port other than 10270, 9000, 32768-60999."},
		"a port of outgoing connections":    {"default", "ours", "{port: 40000}", "Port 40000/TCP is needed by the data plane of class ours itself; choose a port other than 10270, 9000, 32768-60999."},
		"a range into these":                {"default", "ours", "{port: 32700, endPort: 32800, name: r}", "Port 32768/TCP is needed by the data plane of class ours itself; choose a port other than 10270, 9000, 32768-60999."},
		"hosts with ingress-nginx":          {"default", "plain", "{port: 9443, hosts: [db.example.com], name: x}", "Field hosts cannot be done by provider IngressNginx of class plain; leave it out, or use a class with provider Nginx."},
		"a source with ingress-nginx":       {"default", "plain", "{port: 9443, allowSources: [10.0.0.0/8]}", "Field allowSources cannot be done by provider IngressNginx of class plain; leave it out, or use a class with provider Nginx."},
		"the same with nginx of ours":       {"default", "ours", "{port: 9443, hosts: [db.example.com], allowSources: [10.0.0.0/8], name: x}", ""},
		"a port that is not allowed":        {"default", "strict", "{port: 7000}", "Port 7000/TCP is not among the ports that class strict allows; choose one of 1-99, 5000-6000."},
		"a range over a gap":                {"default", "gaps", "{port: 140, endPort: 210, name: r}", "Port 201/TCP is not among the ports that class gaps allows; choose one of 300-310, 100-150, 151-200, 202-250."},
		"a range over ranges that touch":    {"default", "gaps", "{port: 140, endPort: 160, name: r}", ""},
		"a range over a gap in the grants":  {"default", "gaps", "{port: 301, endPort: 310, name: r}", "Port 306/TCP is not granted to namespace default in class gaps; choose one of 300-302, 303-305, 307-310, 100-250, or ask the platform admin to grant it in spec.ports.grants."},
		"a range over grants that touch":    {"default", "gaps", "{port: 300, endPort: 305, name: r}", ""},
		"a protocol that is off":            {"default", "tcp-only", "{port: 53, protocol: UDP}", "UDP is not enabled for class tcp-only; use another class, or ask the platform admin to enable it."},
		"the other protocol":                {"default", "tcp-only", "{port: 53}", ""},
		"two fields that nginx cannot both": {"default", "ours", "{port: 9443, hosts: [db.example.com], allowSources: [10.0.0.0/8], proxyProtocol: {send: V1}, name: x}", "Field proxyProtocol.send cannot be done by provider Nginx of class ours; leave it out."},
		"a granted port":                    {"default", "strict", "{port: 5432}", ""},
		"a port of another grant":           {"default", "strict", "{port: 5650}", "Port 5650/TCP is not granted to namespace default in class strict; choose one of 5000-5500, 50, or ask the platform admin to grant it in spec.ports.grants."},
		"a port granted by a label":         {"kube-system", "strict", "{port: 5650}", ""},
		"a range out of the grant":          {"default", "strict", "{port: 5400, endPort: 5501, name: r}", "Port 5501/TCP is not granted to namespace default in class strict; choose one of 5000-5500, 50, or ask the platform admin to grant it in spec.ports.grants."},
		"a namespace without grants":        {"kube-public", "strict", "{port: 5432}", "Port 5432/TCP is not granted to namespace kube-public, which has no ports in class strict; ask the platform admin to grant it in spec.ports.grants."},
		"a namespace that is not admitted":  {"default", "elsewhere", "{port: 5432}", "Namespace default may not use class elsewhere; use another class, or ask the platform admin to admit the namespace in spec.allowedNamespaces."},
		"a class that is not there":         {"default", "missing", "{port: 443}", ""},
		"a port of the pool":                {"default", "strict", "{name: pool}", ""},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eventually(t, tc.want, func() error {
				_, err := server.create(t.Context(), ingress(tc.namespace, "mine", tc.class, tc.rule), "All")
				return err
			})
		})
	}
}
