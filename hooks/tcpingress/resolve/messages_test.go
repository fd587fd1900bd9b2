package resolve

import (
	"testing"

	"github.com/stretchr/testify/assert"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// What the owner of team-b/db is told about its only, or last, rule.
func TestMessagesNameTheRemedy(t *testing.T) {
	t.Parallel()
	asked := func(rules string, others ...Ingress) *World {
		return newWorld(append(others, ti("team-b/db", 5, rules))...)
	}
	with := func(w *World, change func(*World)) *World {
		change(w)
		return w
	}
	tests := map[string]struct {
		world *World
		dp    fake
		want  string
	}{
		"InvalidRule": {
			asked("a=70000/TCP -> X:1"),
			fake{},
			"spec.rules[0].port: Invalid value: 70000: must be 1 to 65535, or left out to get one from the class's pool; and 1 more.",
		},
		"DuplicateRule by name": {
			asked("db=1/TCP -> x:1; db=2/TCP -> x:1"),
			fake{},
			`spec.rules[1].name: Invalid value: "db": rules[0] has this name already; give this rule a name of its own.`,
		},
		"DuplicateRule by port": {
			asked("a=1-5/TCP -> x; b=3-9/TCP -> x"),
			fake{},
			"spec.rules[1].port: Invalid value: 3: rules[0] has this port already; only rules with different hosts can share one.",
		},
		"DuplicateRule by host": {
			asked("a=1/TCP a.org -> x:1; b=1/TCP a.org -> x:1"),
			fake{},
			`spec.rules[1].hosts[0]: Invalid value: "a.org": rules[0] has this host on the same port already.`,
		},
		"UnsupportedByProvider": {
			asked("1/TCP a.org -> x:1"),
			fake{unsupported: func(*l4.Listener) string { return "hosts" }},
			"Field hosts cannot be done by provider IngressNginx of class nginx; leave it out, or use a class with provider Nginx.",
		},
		"ProtocolDisabled": {
			asked("1/UDP -> x:1"),
			fake{disabled: l4.UDP},
			"UDP is not enabled for class nginx; use another class, or ask the platform admin to enable it.",
		},
		"NamespaceNotAllowed": {
			with(asked("1/TCP -> x:1"), admits("a")),
			fake{},
			"Namespace team-b may not use class nginx; use another class, or ask the platform admin to admit the namespace in spec.allowedNamespaces.",
		},
		"PortReserved": {
			asked("10250-10260/TCP -> x"),
			fake{reserved: []int32{80, 443, 10254}},
			"Port 10254/TCP is needed by the data plane of class nginx itself; choose a port other than 80, 443, 10254.",
		},
		"PortNotAllowed": {
			with(asked("80/TCP -> x:1"), allows(1024, 2000, 3000, 3000)),
			fake{},
			"Port 80/TCP is not among the ports that class nginx allows; choose one of 1024-2000, 3000.",
		},
		"PortNotGranted, with others": {
			with(asked("81/TCP -> x:1"), grants(crdv1.PortGrant{Namespaces: []string{"team-b"}, Ports: portSet{{From: 82, To: 90}}})),
			fake{},
			"Port 81/TCP is not granted to namespace team-b in class nginx; choose one of 82-90, or ask the platform admin to grant it in spec.ports.grants.",
		},
		"PortNotGranted, with none": {
			with(asked("81/TCP -> x:1"), grants(crdv1.PortGrant{Namespaces: []string{"team-a"}, Ports: portSet{{From: 82, To: 90}}})),
			fake{},
			"Port 81/TCP is not granted to namespace team-b, which has no ports in class nginx; ask the platform admin to grant it in spec.ports.grants.",
		},
		"PortConflict": {
			asked("6379/TCP -> x:1", ti("data/redis", 1, "6379/TCP -> redis:6379")),
			fake{},
			"Port 6379/TCP of class nginx is held by TCPIngress data/redis (rule tcp-6379); choose another port or ask its owner.",
		},
		"PortConflict of ranges names the first port": {
			asked("100-200/TCP -> x", ti("data/redis", 1, "db=150-250/TCP -> redis")),
			fake{},
			"Port 150/TCP of class nginx is held by TCPIngress data/redis (rule db); choose another port or ask its owner.",
		},
		"PortConflict with hosts": {
			asked("8443/TCP -> x:1", ti("a/b", 2, "8443/TCP b.org -> x:1"), ti("a/a", 1, "8443/TCP a.org -> x:1")),
			fake{},
			"Port 8443/TCP of class nginx is shared by hosts, one of them a.org of TCPIngress a/a (rule tcp-8443); name the hosts of this rule, or choose another port.",
		},
		"PortConflict of hosts": {
			asked("8443/TCP a.org -> x:1", ti("a/a", 1, "8443/TCP -> x:1")),
			fake{},
			"Port 8443/TCP of class nginx is held for all hosts by TCPIngress a/a (rule tcp-8443); choose another port, or ask its owner to name hosts.",
		},
		"PortConflict with a foreign port": {
			taken(asked("8080/TCP -> x:1")),
			fake{},
			"Port 8080 of Service ingress-nginx/lb is not ours; remove it there, or choose another port.",
		},
		"HostConflict": {
			asked("8443/TCP a.org -> x:1", ti("a/a", 1, "8443/TCP a.org -> x:1")),
			fake{},
			"Host a.org on port 8443/TCP of class nginx is held by TCPIngress a/a (rule tcp-8443); choose another host or port, or ask its owner.",
		},
		"HostConflict with a wildcard": {
			asked("8443/TCP a.org -> x:1", ti("a/a", 1, "8443/TCP *.org -> x:1")),
			fake{},
			"Host a.org meets *.org, which on port 8443/TCP of class nginx is held by TCPIngress a/a (rule tcp-8443); choose another host or port, or ask its owner.",
		},
		"HostConflict by PROXY": {
			asked("8443/TCP b.org -> x:1", ti("a/a", 1, "8443/TCP a.org -> x:1 +accept")),
			fake{},
			"Port 8443/TCP of class nginx is shared with TCPIngress a/a (rule tcp-8443), where proxyProtocol.accept is true; set it to the same, or choose another port.",
		},
		"PoolExhausted": {
			pooled(asked("p=pool/TCP -> x:1", ti("a/a", 1, "p=pool/TCP -> x:1; q=pool/TCP -> x:1")), 30000, 30001),
			fake{},
			"Both TCP ports that the pool of class nginx can give, 30000-30001, are held; set port, or ask the platform admin to enlarge spec.ports.pool.",
		},
		"PoolExhausted of a pool of one": {
			pooled(asked("p=pool/UDP -> x:1", ti("a/a", 1, "p=pool/UDP -> x:1")), 30000, 30000),
			fake{},
			"The only UDP port that the pool of class nginx can give, 30000, is held; set port, or ask the platform admin to enlarge spec.ports.pool.",
		},
		"PoolExhausted where much is reserved, not allowed, and on the Service for others": {
			allowing(pooled(taken(asked("p=pool/TCP -> x:1", ti("a/a", 1, "p=pool/TCP -> x:1; q=pool/TCP -> x:1; r=pool/TCP -> x:1"))), 8078, 8090), 8078, 8084),
			fake{reserved: []int32{8081, 8083, 8084}},
			"All 3 TCP ports that the pool of class nginx can give, 8078-8079, 8082, are held; set port, or ask the platform admin to enlarge spec.ports.pool.",
		},
		"PoolExhausted for what the namespace was granted": {
			with(pooled(asked("p=pool/TCP -> x:1", ti("a/a", 1, "52/TCP -> x:1"), ti("a/b", 2, "54/TCP -> x:1")), 50, 60), func(w *World) {
				w.ports().Grants = []crdv1.PortGrant{
					{Namespaces: []string{"team-b"}, Ports: portSet{{From: 54, To: 54}, {From: 1, To: 53}}},
					{Namespaces: []string{"a"}, Ports: portSet{{From: 1, To: 99}}},
				}
			}),
			fake{reserved: []int32{50, 51, 53}},
			"Both TCP ports that the pool of class nginx can give to namespace team-b, 52, 54, are held; set port, or ask the platform admin to enlarge spec.ports.pool.",
		},
		"PoolExhausted where nothing of the pool is granted": {
			with(pooled(asked("p=pool/TCP -> x:1"), 50, 60), func(w *World) {
				w.ports().Grants = []crdv1.PortGrant{{Namespaces: []string{"team-b"}, Ports: portSet{{From: 1, To: 50}}}}
			}),
			fake{reserved: []int32{50}},
			"Of the TCP ports that the pool of class nginx can give, 51-60, none is granted to namespace team-b; set port, or ask the platform admin to grant some in spec.ports.grants.",
		},
		"PoolExhausted of reserved ports only": {
			pooled(asked("p=pool/TCP -> x:1"), 50, 51),
			fake{reserved: []int32{50, 51}},
			"The pool of class nginx, 50-51, has no TCP port that can be given: nginx needs them itself, the class does not allow them, or its Service has them for others; set port, or ask the platform admin to move spec.ports.pool.",
		},
		"PoolExhausted beside a rule that names the last port": {
			pooled(asked("51/TCP -> x:1; p=pool/TCP -> x:1", ti("a/a", 1, "50-51/TCP -> x")), 50, 51),
			fake{},
			"The only TCP port that the pool of class nginx can give, 50, is held; set port, or ask the platform admin to enlarge spec.ports.pool.",
		},
		"PoolExhausted without a pool": {
			asked("p=pool/TCP -> x:1"),
			fake{},
			"Class nginx has no pool of ports; set port, or ask the platform admin to set spec.ports.pool.",
		},
		"CapacityExceeded by ports": {
			asked("1-5/TCP -> x"),
			fake{limit: 10, used: 8},
			"8 of 10 ports of the TCP Service of class nginx are used, so 5 TCP ports cannot be given; free some, or ask the platform admin to raise spec.service.maxPorts.",
		},
		"CapacityExceeded by bytes": {
			asked("1/TCP -> x:1"),
			fake{bytes: 10},
			"ConfigMap ingress-nginx/tcp of class nginx has no room for this rule: 0 of 10 bytes are used and it needs 24; free some ports, or use another class.",
		},
		"NamespaceQuotaExceeded": {
			with(asked("1/TCP -> x:1; 2/TCP -> x:1; 3-4/TCP -> x"), func(w *World) {
				three := int32(3)
				w.ports().MaxPerNamespace = &three
			}),
			fake{},
			"Namespace team-b may hold 3 ports of class nginx and holds 2, so 2 ports more cannot be given; free some, or ask the platform admin to raise spec.ports.maxPerNamespace.",
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rules := Resolve(tc.world, &tc.dp).Verdicts["team-b/db"].Rules
			last := rules[len(rules)-1]
			assert.Equal(t, tc.want, last.Message)
			assert.Regexp(t, sentence, last.Message)
			assert.Contains(t, name, last.Reason)
			assert.NotEmpty(t, last.Reason)
		})
	}
}

func TestProviderNginxHasNoOtherProviderToOffer(t *testing.T) {
	t.Parallel()
	w := provider(newWorld(ti("a/x", 1, "1/TCP -> x:1")), nil)
	dp := &fake{unsupported: func(*l4.Listener) string { return "timeouts.idle" }}
	assert.Equal(t, "Field timeouts.idle cannot be done by provider Nginx of class nginx; leave it out.", message(t, Resolve(w, dp), "a/x", "tcp-1"))
}
