package validate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// redis is a rule that is right, for a test to change.
func redis(change ...func(*crdv1.Rule)) *crdv1.Rule {
	r := &crdv1.Rule{
		Port:    6379,
		Backend: crdv1.Backend{Service: crdv1.BackendService{Name: "redis", Port: &crdv1.BackendPort{Number: 6379}}},
	}
	for _, f := range change {
		f(r)
	}
	return r
}

func texts(errs field.ErrorList) []string {
	list := []string{}
	for _, err := range errs {
		list = append(list, err.Error())
	}
	return list
}

func ruleTexts(r *crdv1.Rule) []string { return texts(Rule(r, field.NewPath("rule"))) }

func TestRuleSaysWhatIsWrongAndWhatIsRight(t *testing.T) {
	tests := map[string]struct {
		rule *crdv1.Rule
		want []string
	}{
		"a plain rule is right": {redis(), nil},
		"port 1 is right":       {redis(func(r *crdv1.Rule) { r.Port = 1 }), nil},
		"port 65535 is right":   {redis(func(r *crdv1.Rule) { r.Port = 65535 }), nil},
		"a named rule may leave the port to the pool": {
			redis(func(r *crdv1.Rule) { r.Port, r.Name = 0, "cache" }), nil,
		},
		"a rule without port needs a name": {
			redis(func(r *crdv1.Rule) { r.Port = 0 }),
			[]string{"rule.name: Required value: a rule without a port needs a name, under which it keeps the port that it gets from the pool"},
		},
		"a port below 1": {
			redis(func(r *crdv1.Rule) { r.Port = -1 }),
			[]string{"rule.port: Invalid value: -1: must be 1 to 65535, or left out to get one from the class's pool"},
		},
		"a port above 65535": {
			redis(func(r *crdv1.Rule) { r.Port = 65536 }),
			[]string{"rule.port: Invalid value: 65536: must be 1 to 65535, or left out to get one from the class's pool"},
		},
		"a range of 1,024 ports is right": {
			redis(func(r *crdv1.Rule) { r.Port, r.EndPort, r.Backend.Service.Port = 1000, 2023, nil }), nil,
		},
		"a range of 1,025 ports": {
			redis(func(r *crdv1.Rule) { r.Port, r.EndPort, r.Backend.Service.Port = 1000, 2024, nil }),
			[]string{"rule.endPort: Invalid value: 2024: a range has at most 1024 ports; split it into several rules"},
		},
		"a range that ends before it begins": {
			redis(func(r *crdv1.Rule) { r.EndPort, r.Backend.Service.Port = 6378, nil }),
			[]string{"rule.endPort: Invalid value: 6378: must not be less than port"},
		},
		"a range that ends above 65535": {
			redis(func(r *crdv1.Rule) { r.Port, r.EndPort, r.Backend.Service.Port = 65000, 65536, nil }),
			[]string{"rule.endPort: Invalid value: 65536: must be 1 to 65535, or left out for a single port"},
		},
		"a range of the pool": {
			redis(func(r *crdv1.Rule) { r.Name, r.Port, r.EndPort, r.Backend.Service.Port = "pasv", 0, 30100, nil }),
			[]string{"rule.endPort: Invalid value: 30100: needs port, the first port of the range; the pool gives single ports only"},
		},
		"a range with a backend port": {
			redis(func(r *crdv1.Rule) { r.EndPort = 6380 }),
			[]string{"rule.backend.service.port: Forbidden: a range is forwarded number by number; leave the port of the Service out"},
		},
		"a range with hosts": {
			redis(func(r *crdv1.Rule) { r.EndPort, r.Backend.Service.Port, r.Hosts = 6380, nil, []string{"a.example.com"} }),
			[]string{"rule.hosts: Forbidden: hosts cannot be combined with endPort; write one rule for each port"},
		},
		"hosts with UDP, without a port": {
			redis(func(r *crdv1.Rule) {
				r.Name, r.Port, r.Protocol, r.Hosts = "tls", 0, crdv1.ProtocolUDP, []string{"a.example.com"}
			}),
			[]string{
				"rule.hosts: Forbidden: host names are read from TLS, so hosts need protocol TCP",
				"rule.hosts: Forbidden: hosts share a port that is known to all of them; set port",
			},
		},
		"hosts that repeat": {
			redis(func(r *crdv1.Rule) { r.Hosts = []string{"a.example.com", "b.example.com", "a.example.com"} }),
			[]string{`rule.hosts[2]: Duplicate value: "a.example.com"`},
		},
		"a protocol that nginx does not know": {
			redis(func(r *crdv1.Rule) { r.Protocol = "SCTP" }),
			[]string{`rule.protocol: Unsupported value: "SCTP": supported values: "TCP", "UDP"`},
		},
		"a protocol in lower case": {
			redis(func(r *crdv1.Rule) { r.Protocol = "tcp" }),
			[]string{`rule.protocol: Unsupported value: "tcp": supported values: "TCP", "UDP"`},
		},
		"PROXY with UDP": {
			redis(func(r *crdv1.Rule) {
				r.Protocol, r.ProxyProtocol = crdv1.ProtocolUDP, &crdv1.ProxyProtocol{Accept: true, Send: crdv1.ProxyProtocolV1}
			}),
			[]string{"rule.proxyProtocol: Forbidden: the PROXY protocol works with TCP only; leave proxyProtocol out"},
		},
		"PROXY that is switched off with UDP is right": {
			redis(func(r *crdv1.Rule) {
				r.Protocol, r.ProxyProtocol = crdv1.ProtocolUDP, &crdv1.ProxyProtocol{Send: crdv1.ProxyProtocolNone}
			}), nil,
		},
		"PROXY in version 2": {
			redis(func(r *crdv1.Rule) { r.ProxyProtocol = &crdv1.ProxyProtocol{Send: "V2"} }),
			[]string{`rule.proxyProtocol.send: Unsupported value: "V2": supported values: "None", "V1"`},
		},
		"no backend at all": {
			&crdv1.Rule{Port: 6379},
			[]string{
				"rule.backend.service.name: Required value: name a Service of the same namespace",
				"rule.backend.service.port: Required value: name a port of the Service by its number or name",
			},
		},
		"a backend port that says nothing": {
			redis(func(r *crdv1.Rule) { r.Backend.Service.Port = &crdv1.BackendPort{} }),
			[]string{"rule.backend.service.port: Required value: give either number or name, the port of the Service"},
		},
		"a backend port by number and name": {
			redis(func(r *crdv1.Rule) { r.Backend.Service.Port.Name = "redis" }),
			[]string{`rule.backend.service.port: Invalid value: "redis": give either number or name, not both`},
		},
		"a backend port above 65535": {
			redis(func(r *crdv1.Rule) { r.Backend.Service.Port.Number = 65536 }),
			[]string{"rule.backend.service.port.number: Invalid value: 65536: must be 1 to 65535, the port of the Service"},
		},
		"a backend port below 1": {
			redis(func(r *crdv1.Rule) { r.Backend.Service.Port.Number = -6379 }),
			[]string{"rule.backend.service.port.number: Invalid value: -6379: must be 1 to 65535, the port of the Service"},
		},
		"timeouts that are too long": {
			redis(func(r *crdv1.Rule) { r.Timeouts = &crdv1.Timeouts{Connect: "10m1ms", Idle: "720h1s"} }),
			[]string{
				`rule.timeouts.connect: Invalid value: "10m1ms": must be more than 0 and at most 10m`,
				`rule.timeouts.idle: Invalid value: "720h1s": must be more than 0 and at most 720h`,
			},
		},
		"a timeout of zero": {
			redis(func(r *crdv1.Rule) { r.Timeouts = &crdv1.Timeouts{Idle: "0h0m"} }),
			[]string{`rule.timeouts.idle: Invalid value: "0h0m": must be more than 0 and at most 720h`},
		},
		"a timeout without unit": {
			redis(func(r *crdv1.Rule) { r.Timeouts = &crdv1.Timeouts{Idle: "600"} }),
			[]string{`rule.timeouts.idle: Invalid value: "600": must be one to four numbers of at most five digits, each with its unit h, m, s or ms, such as "10s" or "1m30s"`},
		},
		"more connections than nginx can count": {
			redis(func(r *crdv1.Rule) { r.Limits = &crdv1.Limits{ConnectionsPerClient: 65536} }),
			[]string{"rule.limits.connectionsPerClient: Invalid value: 65536: must be 1 to 65535, or left out for no limit"},
		},
		"a name like a default one": {
			redis(func(r *crdv1.Rule) { r.Name = "udp-6379" }),
			[]string{`rule.name: Invalid value: "udp-6379": must not be of the form tcp-<number> or udp-<number>, which rules without a name get; leave it out or choose another`},
		},
		"a name with a capital": {
			redis(func(r *crdv1.Rule) { r.Name = "Redis" }),
			[]string{`rule.name: Invalid value: "Redis": must be a DNS label: lower-case letters, digits and '-', starting and ending with a letter or digit, at most 63 characters`},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, append([]string{}, tc.want...), ruleTexts(tc.rule))
		})
	}
}

func TestRightRulesCostNoMemory(t *testing.T) {
	path := field.NewPath("spec", "rules").Index(0)
	rule := redis(func(r *crdv1.Rule) {
		r.Name, r.Hosts = "tls", []string{"a.example.com", "*.example.com"}
		r.ProxyProtocol = &crdv1.ProxyProtocol{Accept: true, Send: crdv1.ProxyProtocolV1}
		r.Timeouts, r.Limits = &crdv1.Timeouts{Connect: "10s", Idle: "1h"}, &crdv1.Limits{ConnectionsPerClient: 9}
	})
	require.Empty(t, Rule(rule, path))
	assert.Zero(t, testing.AllocsPerRun(100, func() { Rule(rule, path) }))
}

func TestTooManyHostsAndSourcesAreCountedOnly(t *testing.T) {
	rule := redis(func(r *crdv1.Rule) {
		r.Hosts = strings.Split(strings.Repeat("A,", 17), ",")[:17]
		r.AllowSources = strings.Split(strings.Repeat("x,", 65), ",")[:65]
	})
	assert.Equal(t, []string{
		"rule.hosts: Too many: 17: must have at most 16 items",
		"rule.allowSources: Too many: 65: must have at most 64 items",
	}, ruleTexts(rule))
}

func TestRuleName(t *testing.T) {
	assert.Equal(t, "tcp-6379", RuleName(redis()))
	assert.Equal(t, "udp-53", RuleName(&crdv1.Rule{Port: 53, Protocol: crdv1.ProtocolUDP}))
	assert.Equal(t, "cache", RuleName(redis(func(r *crdv1.Rule) { r.Name = "cache" })))
	assert.Equal(t, crdv1.ProtocolTCP, ProtocolOf(redis()))
}

func TestGrammarOfHosts(t *testing.T) {
	accept := []string{
		"db.example.com", "*.example.com", "localhost", "*.com", "xn--bcher-kva.example", "1.example.com", "a--b.example",
		"a-1", strings.Repeat("a", 63) + ".example", "10.0.0.1.example.com", "include",
	}
	reject := []string{
		"", "*", "*.", "*.*.example.com", "db.*.example.com", "*db.example.com", "DB.example.com", "db.example.com.", ".example.com",
		"db..example.com", "-db.example.com", "db-.example.com", "db_1.example.com", "db.example.com:443", "db.example.com ", " db", "a b",
		"bücher.example", "192.0.2.7", "*.192.0.2.7", "2001:db8::1", "~^db", "db;", "db{", "db\n", "$host", `"db"`, "'db'", "a/b", "a@b",
		strings.Repeat("a", 64) + ".example", strings.Repeat("a.", 127), "a\x00b",
	}
	for _, h := range accept {
		assert.Empty(t, hostProblem(h), h)
	}
	for _, h := range reject {
		assert.NotEmpty(t, hostProblem(h), h)
	}
}

func TestGrammarOfBackendNames(t *testing.T) {
	accept := []string{"redis", "tcp", "1redis", "my-redis-1", "a", strings.Repeat("a", 63)}
	reject := []string{
		"", "team-b/mysql", "team-b-mysql@x", "../team-b", "mysql:3306:PROXY", "mysql.team-b", "my sql", "mysql ", "MySQL", "-mysql", "mysql-",
		"my_sql", "mysql\n", "mysql;", "my\"sql", "$mysql", "müsql", strings.Repeat("a", 64),
	}
	check := func(name string) []string {
		return ruleTexts(redis(func(r *crdv1.Rule) { r.Backend.Service.Name = name }))
	}
	for _, name := range accept {
		assert.Empty(t, check(name), name)
	}
	for _, name := range reject {
		require.NotEmpty(t, check(name), name)
	}
	assert.Equal(t, `rule.backend.service.name: Invalid value: "team-b/mysql": must be the plain name of a Service of the same namespace: `+
		`lower-case letters, digits and '-', starting and ending with a letter or digit, at most 63 characters`, check("team-b/mysql")[0])
}

func TestGrammarOfPortNames(t *testing.T) {
	accept := []string{"redis", "http2", "2http", "a", "a-b-c", "abcdefghijklmno"}
	reject := []string{"6379", "Redis", "a--b", "-a", "a-", "abcdefghijklmnop", "a_b", "a.b", "a b", "a:PROXY", "1-2", "ä"}
	check := func(name string) field.ErrorList {
		return Rule(redis(func(r *crdv1.Rule) { r.Backend.Service.Port = &crdv1.BackendPort{Name: name} }), nil)
	}
	for _, name := range accept {
		assert.Empty(t, check(name), name)
	}
	for _, name := range reject {
		assert.NotEmpty(t, check(name), name)
	}
}

func TestGrammarOfCIDRsNamesTheRightForm(t *testing.T) {
	for _, s := range []string{"0.0.0.0/0", "10.0.0.0/8", "192.0.2.7/32", "::/0", "2001:db8::/32", "2001:db8::7/128"} {
		assert.Empty(t, cidrProblem(s), s)
	}
	const plain = "must be a CIDR such as 10.0.0.0/8 or 2001:db8::/32"
	tests := map[string]string{
		"10.0.0.1/8":            "must be a CIDR in its usual form; write 10.0.0.0/8",
		"2001:DB8::/32":         "must be a CIDR in its usual form; write 2001:db8::/32",
		"2001:db8:0:0::1/32":    "must be a CIDR in its usual form; write 2001:db8::/32",
		"192.0.2.7":             "must be a CIDR; write 192.0.2.7/32 for this one address",
		"2001:db8::7":           "must be a CIDR; write 2001:db8::7/128 for this one address",
		"::ffff:10.0.0.0/104":   plain + ", not an IPv4 address in IPv6 form",
		"::ffff:192.0.2.7":      plain,
		"fe80::1%eth0":          plain,
		"":                      plain,
		"10.0.0.0/33":           plain,
		"10.0.0.0/08":           plain,
		"010.0.0.0/8":           plain,
		"10.0.0/8":              plain,
		"10.0.0.0/8 ":           plain,
		"all":                   plain,
		"10.0.0.0/255.0.0.0":    plain,
		"10.0.0.0/8;deny all":   plain,
		"office.example.com/24": plain,
	}
	for s, want := range tests {
		assert.Equal(t, want, cidrProblem(s), s)
	}
}
