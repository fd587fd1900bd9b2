package tcpingress

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

func clock() time.Time { return time.Date(2026, 5, 6, 7, 8, 9, 0, time.UTC) }

// ingressRequest makes a sync request out of readable YAML: the parent's metadata,
// spec and status, and lists of related objects.
func ingressRequest(t *testing.T, text string) []byte {
	t.Helper()
	var in struct {
		Parent                      map[string]any
		Slices, Services, Endpoints []map[string]any
	}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &in))
	typed := func(o map[string]any, apiVersion, kind string) map[string]any {
		o["apiVersion"], o["kind"] = apiVersion, kind
		return o
	}
	group := func(list []map[string]any, apiVersion, kind string) map[string]any {
		objects := make(map[string]any, len(list))
		for _, o := range list {
			objects[o["metadata"].(map[string]any)["name"].(string)] = typed(o, apiVersion, kind)
		}
		return objects
	}
	body, err := json.Marshal(map[string]any{
		"parent":   typed(in.Parent, crdv1.APIVersion, crdv1.KindTCPIngress),
		"children": map[string]any{},
		"related": map[string]any{
			"TCPIngressSlice.nginx-stream.dev/v1": group(in.Slices, crdv1.APIVersion, crdv1.KindTCPIngressSlice),
			"Service.v1":                          group(in.Services, "v1", "Service"),
			"EndpointSlice.discovery.k8s.io/v1":   group(in.Endpoints, "discovery.k8s.io/v1", "EndpointSlice"),
		},
	})
	require.NoError(t, err)
	return body
}

func ingressStatus(t *testing.T, text string) crdv1.TCPIngressStatus {
	t.Helper()
	response, err := syncIngress(ingressRequest(t, text), clock())
	require.NoError(t, err)
	composite := response.(metacontroller.CompositeResponse)
	assert.Empty(t, composite.Children, "a TCPIngress has no children")
	return composite.Status.(crdv1.TCPIngressStatus)
}

// words gives conditions in one line each.
func words(conditions []metav1.Condition) []string {
	lines := make([]string, 0, len(conditions))
	for _, c := range conditions {
		lines = append(lines, c.Type+"="+string(c.Status)+"/"+c.Reason+": "+c.Message)
	}
	return lines
}

const parentRedis = `
parent:
  metadata: {namespace: data, name: redis, generation: 2}
  spec:
    ingressClassName: nginx
    rules:
    - port: 6379
      backend: {service: {name: redis, port: {number: 6379}}}
`

const redisBackend = `
services:
- metadata: {namespace: data, name: redis}
  spec: {ports: [{name: redis, port: 6379, protocol: TCP, targetPort: 16379}]}
endpoints:
- metadata: {namespace: data, name: redis-x, labels: {kubernetes.io/service-name: redis}}
  ports: [{name: redis, port: 16379, protocol: TCP}]
  endpoints: [{addresses: [10.0.0.1], conditions: {ready: true}}]
`

func slice(entry string) string {
	return `
slices:
- metadata: {name: nginx-00}
  class: nginx
  addresses: [{protocol: TCP, type: IPAddress, value: 203.0.113.7}, {protocol: UDP, type: IPAddress, value: 203.0.113.8}]
  entries:
    data/redis: ` + entry + "\n"
}

func TestConditionsOfTCPIngress(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		request string
		want    []string
	}{
		"no class has judged it yet": {
			request: parentRedis + redisBackend,
			want: []string{
				"Ready=Unknown/Pending: TCPIngressClass nginx has not judged this object yet; does it exist, and is it accepted? kubectl get tcpingressclass nginx",
				"Accepted=Unknown/Pending: TCPIngressClass nginx has not judged this object yet; does it exist, and is it accepted? kubectl get tcpingressclass nginx",
				"ResolvedRefs=True/ResolvedRefs: All rules are resolved.",
				"BackendsReady=True/EndpointsReady: All rules are backed by ready endpoints.",
				"Programmed=Unknown/Pending: TCPIngressClass nginx has not judged this object yet; does it exist, and is it accepted? kubectl get tcpingressclass nginx",
			},
		},
		"an object that is being deleted holds nothing, whatever was judged": {
			request: strings.Replace(parentRedis, "generation: 2", `generation: 2, deletionTimestamp: "2026-01-01T00:00:00Z"`, 1) +
				redisBackend + slice("{generation: 2, rules: {tcp-6379: {port: 6379, protocol: TCP, live: true}}}"),
			want: []string{
				"Ready=Unknown/Pending: The TCPIngress is being deleted and holds no ports any more.",
				"Accepted=Unknown/Pending: The TCPIngress is being deleted and holds no ports any more.",
				"ResolvedRefs=True/ResolvedRefs: All rules are resolved.",
				"BackendsReady=True/EndpointsReady: All rules are backed by ready endpoints.",
				"Programmed=Unknown/Pending: The TCPIngress is being deleted and holds no ports any more.",
			},
		},
		"an earlier generation was judged, which claims nothing for this one": {
			request: parentRedis + redisBackend + slice("{generation: 1, rules: {tcp-6379: {port: 6379, protocol: TCP, live: true}}}"),
			want: []string{
				"Ready=Unknown/Pending: TCPIngressClass nginx has judged an earlier generation; its verdict on this one is on the way, if the class is accepted: kubectl get tcpingressclass nginx",
				"Accepted=Unknown/Pending: TCPIngressClass nginx has judged an earlier generation; its verdict on this one is on the way, if the class is accepted: kubectl get tcpingressclass nginx",
				"ResolvedRefs=True/ResolvedRefs: All rules are resolved.",
				"BackendsReady=True/EndpointsReady: All rules are backed by ready endpoints.",
				"Programmed=Unknown/Pending: TCPIngressClass nginx has judged an earlier generation; its verdict on this one is on the way, if the class is accepted: kubectl get tcpingressclass nginx",
			},
		},
		"everything is as it should be": {
			request: parentRedis + redisBackend + slice("{generation: 2, rules: {tcp-6379: {port: 6379, protocol: TCP, live: true}}}"),
			want: []string{
				"Ready=True/Ready: All rules are accepted, resolved and programmed.",
				"Accepted=True/Accepted: All rules are accepted.",
				"ResolvedRefs=True/ResolvedRefs: All rules are resolved.",
				"BackendsReady=True/EndpointsReady: All rules are backed by ready endpoints.",
				"Programmed=True/Programmed: All rules are programmed.",
			},
		},
		"a missing Service keeps what is programmed, and says so": {
			request: parentRedis + slice("{generation: 2, rules: {tcp-6379: {port: 6379, protocol: TCP, live: true}}}"),
			want: []string{
				"Ready=False/ServiceNotFound: Service redis does not exist in this namespace; create it, or correct backend.service.name.",
				"Accepted=True/Accepted: All rules are accepted.",
				"ResolvedRefs=False/ServiceNotFound: Service redis does not exist in this namespace; create it, or correct backend.service.name.",
				"BackendsReady=Unknown/ServiceNotFound: Service redis does not exist in this namespace; create it, or correct backend.service.name.",
				"Programmed=True/Programmed: All rules are programmed.",
			},
		},
		"a refused rule is not programmed": {
			request: parentRedis + redisBackend + slice("{generation: 2, rules: {tcp-6379: {port: 6379, protocol: TCP, reason: PortConflict, message: It is taken.}}}"),
			want: []string{
				"Ready=False/PortConflict: It is taken.",
				"Accepted=False/PortConflict: It is taken.",
				"ResolvedRefs=True/ResolvedRefs: All rules are resolved.",
				"BackendsReady=True/EndpointsReady: All rules are backed by ready endpoints.",
				"Programmed=False/NotAccepted: The rule is not accepted, see the condition Accepted.",
			},
		},
		"an accepted rule without an address is not programmed": {
			request: parentRedis + redisBackend + slice("{generation: 2, rules: {tcp-6379: {port: 6379, protocol: TCP, reason: AddressPending, message: No address.}}}"),
			want: []string{
				"Ready=False/AddressPending: No address.",
				"Accepted=True/Accepted: All rules are accepted.",
				"ResolvedRefs=True/ResolvedRefs: All rules are resolved.",
				"BackendsReady=True/EndpointsReady: All rules are backed by ready endpoints.",
				"Programmed=False/AddressPending: No address.",
			},
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, words(ingressStatus(t, tc.request).Conditions))
		})
	}
}

func TestResolvedRefs(t *testing.T) {
	t.Parallel()
	rule := func(backend, more string) string {
		return `
parent:
  metadata: {namespace: data, name: redis, generation: 1}
  spec: {rules: [{port: 22, backend: {service: {name: svc, ` + backend + `}}` + more + `}]}
services:
- metadata: {namespace: data, name: svc}
`
	}
	cases := map[string]struct {
		request string
		want    string
	}{
		"by number, UDP and TCP on one number (C05)": {
			rule("port: {number: 5001}", "") + "  spec: {ports: [{name: u, port: 5001, protocol: UDP}, {name: t, port: 5001, protocol: TCP}]}",
			"True/ResolvedRefs: Service svc has the port.",
		},
		"the targetPort was meant (C84)": {
			rule("port: {number: 2222}", "") + "  spec: {ports: [{name: ssh, port: 8222, protocol: TCP, targetPort: 2222}]}",
			"False/ServicePortNotFound: Service svc has no port 2222/TCP; it has 8222/TCP (ssh). 2222 is the targetPort of its port 8222: name the Service's own port, 8222.",
		},
		"the targetPort was meant, by its name": {
			rule("port: {name: sshd}", "") + "  spec: {ports: [{name: ssh, port: 8222, protocol: TCP, targetPort: sshd}]}",
			"False/ServicePortNotFound: Service svc has no port sshd/TCP; it has 8222/TCP (ssh). sshd is the targetPort of its port 8222: name the Service's own port, 8222.",
		},
		"no targetPort is meant where none is set": {
			rule("port: {number: 2222}", "") + "  spec: {ports: [{name: ssh, port: 8222, protocol: TCP}]}",
			"False/ServicePortNotFound: Service svc has no port 2222/TCP; it has 8222/TCP (ssh).",
		},
		"neither a range nor a port": {
			rule("", "") + "  spec: {ports: [{name: ssh, port: 22, protocol: TCP}]}",
			"False/ServicePortNotFound: The rule names no port of Service svc; it has 22/TCP (ssh). Name one in backend.service.port.",
		},
		"a port that says nothing": {
			rule("port: {}", "") + "  spec: {ports: [{port: 22}]}",
			"False/ServicePortNotFound: The rule names no port of Service svc; it has 22/TCP. Name one in backend.service.port.",
		},
		"a range that ends nowhere": {
			rule("", ", endPort: 2147483647") + "  spec: {ports: [{port: 22}]}",
			"False/ServicePortNotFound: The rule names no port of Service svc; it has 22/TCP. Name one in backend.service.port.",
		},
		"the other protocol": {
			rule("port: {number: 53}", "") + "  spec: {ports: [{name: dns, port: 53, protocol: UDP}]}",
			"False/ProtocolMismatch: Service svc has port 53, but not for TCP; it has 53/UDP (dns). Correct the rule's protocol or the Service.",
		},
		"a Service without ports": {
			rule("port: {name: x}", "") + "  spec: {}",
			"False/ServicePortNotFound: Service svc has no port x/TCP; it has no ports.",
		},
		"headless is fine (C11)": {
			rule("port: {name: amqp}", "") + "  spec: {clusterIP: None, ports: [{name: amqp, port: 5672}]}",
			"True/ResolvedRefs: Service svc has the port.",
		},
		"ExternalName is not": {
			rule("port: {number: 5432}", "") + "  spec: {type: ExternalName, externalName: db.example.com, ports: [{port: 5432}]}",
			"False/UnsupportedService: Service svc is of type ExternalName, which this class does not forward to; use a Service with endpoints.",
		},
		"a range that the Service has in part": {
			`
parent:
  metadata: {namespace: data, name: redis, generation: 1}
  spec: {rules: [{port: 8000, endPort: 8003, backend: {service: {name: svc}}}]}
services:
- metadata: {namespace: data, name: svc}
  spec: {ports: [{name: a, port: 8000}, {name: b, port: 8002}]}`,
			"False/ServicePortNotFound: Service svc lacks 2 of the range's ports, first 8001/TCP; a range is forwarded number by number, so the Service must list each.",
		},
		"a Service of another namespace, whatever its key says (C55)": {
			`
parent:
  metadata: {namespace: data, name: redis, generation: 1}
  spec: {rules: [{port: 22, backend: {service: {name: svc, port: {number: 22}}}}]}
services:
- metadata: {namespace: other, name: svc}
  spec: {ports: [{port: 22}]}`,
			"False/ServiceNotFound: Service svc does not exist in this namespace; create it, or correct backend.service.name.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := ingressStatus(t, tc.request)
			require.Len(t, status.Rules, 1)
			assert.Equal(t, "ResolvedRefs="+tc.want, words(status.Rules[0].Conditions)[1])
		})
	}
}

func TestBackendsReady(t *testing.T) {
	t.Parallel()
	request := func(endpoints string) string {
		return parentRedis + `
services:
- metadata: {namespace: data, name: redis}
  spec: {ports: [{name: redis, port: 6379, protocol: TCP}]}
endpoints:
- metadata: {namespace: data, name: redis-x, labels: {kubernetes.io/service-name: redis}}
` + endpoints
	}
	const notReady = "BackendsReady=False/NoReadyEndpoints: Service redis has no ready endpoint for port 6379; look at its pods."
	const isReady = "BackendsReady=True/EndpointsReady: Service redis has ready endpoints."
	cases := map[string]struct{ endpoints, want string }{
		"ready":                     {"  ports: [{name: redis}]\n  endpoints: [{conditions: {ready: false}}, {conditions: {ready: true}}]", isReady},
		"unset counts as ready":     {"  ports: [{name: redis}]\n  endpoints: [{addresses: [10.0.0.1]}]", isReady},
		"none is ready":             {"  ports: [{name: redis}]\n  endpoints: [{conditions: {ready: false}}]", notReady},
		"no endpoints":              {"  ports: [{name: redis}]\n  endpoints: []", notReady},
		"endpoints of another port": {"  ports: [{name: metrics}]\n  endpoints: [{conditions: {ready: true}}]", notReady},
		"of another protocol":       {"  ports: [{name: redis, protocol: UDP}]\n  endpoints: [{conditions: {ready: true}}]", notReady},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			status := ingressStatus(t, request(tc.endpoints))
			assert.Equal(t, tc.want, words(status.Rules[0].Conditions)[2])
		})
	}
}

func TestAddressesAreThoseOfTheProtocolsHeld(t *testing.T) {
	t.Parallel()
	status := ingressStatus(t, parentRedis+redisBackend+slice("{generation: 2, rules: {tcp-6379: {port: 6379, protocol: TCP, live: true}}}"))
	assert.Equal(t, []crdv1.Address{{Protocol: "TCP", Type: "IPAddress", Value: "203.0.113.7"}}, status.Addresses)
	assert.Equal(t, "6379", status.Ports)
	assert.Equal(t, "nginx", status.ClassName)
}

func TestPortsColumn(t *testing.T) {
	t.Parallel()
	got := portsColumn([]ruleReport{
		{Port: 6379, Protocol: "TCP"},
		{Port: 53, Protocol: "UDP"},
		{Port: 53, Protocol: "TCP"},
		{Port: 8000, EndPort: 8010, Protocol: "TCP"},
		{Port: 0, Protocol: "TCP"},
		{Port: 6379, Protocol: "TCP"},
	})
	assert.Equal(t, "53,53/UDP,6379,8000-8010", got)
}

func TestTransitionTimes(t *testing.T) {
	t.Parallel()
	const before = `
  status:
    className: nginx
    conditions:
    - {type: Accepted, status: "True", reason: Accepted, message: old words, lastTransitionTime: "2020-01-01T00:00:00Z"}
    - {type: Programmed, status: "False", reason: Pending, message: "", lastTransitionTime: "2020-01-01T00:00:00Z"}
`
	status := ingressStatus(t, parentRedis+before+redisBackend+slice("{generation: 2, rules: {tcp-6379: {port: 6379, protocol: TCP, live: true}}}"))
	times := make(map[string]string)
	for _, c := range status.Conditions {
		times[c.Type] = c.LastTransitionTime.UTC().Format(time.RFC3339)
		assert.Equal(t, int64(2), c.ObservedGeneration)
	}
	assert.Equal(t, "2020-01-01T00:00:00Z", times["Accepted"], "only the words changed")
	assert.Equal(t, "2026-05-06T07:08:09Z", times["Programmed"], "the status changed")
}

func TestPoolPortStaysInStatusUntilJudgedAgain(t *testing.T) {
	t.Parallel()
	status := ingressStatus(t, `
parent:
  metadata: {namespace: data, name: redis, generation: 3}
  spec:
    ingressClassName: nginx
    rules:
    - name: any
      backend: {service: {name: redis, port: {name: gone}}}
  status:
    className: nginx
    rules: [{name: any, port: 30007, protocol: TCP, serviceName: redis, portName: gone, backendPort: 6379}]
`)
	require.Len(t, status.Rules, 1)
	assert.Equal(t, int32(30007), status.Rules[0].Port)
	assert.Equal(t, int32(6379), status.Rules[0].BackendPort, "kept while the Service is missing")
	assert.Equal(t, "nginx", status.ClassName)
}

func TestMoveToAnotherClassForgetsThePortsOfTheOld(t *testing.T) {
	t.Parallel()
	status := ingressStatus(t, `
parent:
  metadata: {namespace: data, name: redis, generation: 3}
  spec:
    ingressClassName: other
    rules: [{name: any, backend: {service: {name: redis, port: {number: 1}}}}]
  status:
    className: nginx
    rules: [{name: any, port: 30007, protocol: TCP}]
`)
	assert.Zero(t, status.Rules[0].Port)
	assert.Empty(t, status.ClassName)
}

func TestClasslessTakesTheSliceOfItsClass(t *testing.T) {
	t.Parallel()
	status := ingressStatus(t, `
parent:
  metadata: {namespace: data, name: redis, generation: 1}
  spec: {rules: [{port: 6379, backend: {service: {name: redis, port: {number: 6379}}}}]}
  status: {className: nginx}
slices:
- {metadata: {name: a-00}, class: a, entries: {data/redis: {generation: 1, rules: {tcp-6379: {port: 6379, protocol: TCP}}}}}
- {metadata: {name: nginx-00}, class: nginx, entries: {data/redis: {generation: 1, rules: {tcp-6379: {port: 6379, protocol: TCP, live: true}}}}}
- {metadata: {name: z-00}, class: z, entries: {data/other: {generation: 1}}}
`)
	assert.Equal(t, "nginx", status.ClassName)
	assert.Equal(t, metav1.ConditionTrue, status.Rules[0].Conditions[3].Status)
}

func TestStatusOfRulesThatCamePastAdmissionFitsTheSchema(t *testing.T) {
	t.Parallel()
	status := ingressStatus(t, `
parent:
  metadata: {namespace: data, name: redis, generation: 1}
  spec:
    rules:
    - {port: 70000, protocol: SCTP, backend: {service: {name: "team-b/mysql", port: {name: "a:b"}}}}
    - {port: -1, backend: {service: {name: "x.y", port: {number: 0}}}}
`)
	require.Len(t, status.Rules, 2)
	for _, r := range status.Rules {
		assert.Zero(t, r.Port)
		assert.Empty(t, r.ServiceName)
		assert.Empty(t, r.PortName)
	}
	assert.Empty(t, status.Rules[0].Protocol)
	assert.Empty(t, status.Ports)
}

func TestMissingGroupsAreErrors(t *testing.T) {
	t.Parallel()
	const parent = `{"apiVersion":"nginx-stream.dev/v1","kind":"TCPIngress","metadata":{"namespace":"a","name":"b"},"spec":{"rules":[{"port":1,"backend":{"service":{"name":"s","port":{"number":1}}}}]}}`
	for name, related := range map[string]string{
		"no slices":    `{"Service.v1":{},"EndpointSlice.discovery.k8s.io/v1":{}}`,
		"no Services":  `{"TCPIngressSlice.nginx-stream.dev/v1":{},"EndpointSlice.discovery.k8s.io/v1":{}}`,
		"no endpoints": `{"TCPIngressSlice.nginx-stream.dev/v1":{},"Service.v1":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := syncIngress([]byte(`{"parent":`+parent+`,"children":{},"related":`+related+`}`), clock())
			var missing *metacontroller.MissingGroup
			require.ErrorAs(t, err, &missing)
		})
	}
}
