package tcpingress

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// classRequest makes a sync request out of readable YAML: the parent and lists of
// objects, each with its kind left out.
func classRequest(t *testing.T, text string) []byte {
	t.Helper()
	var in struct {
		Parent                                              map[string]any
		ConfigMaps, Services, Slices                        []map[string]any
		Ingresses, Namespaces, ForeignMaps, ForeignServices []map[string]any
	}
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &in))
	typed := func(o map[string]any, apiVersion, kind string) map[string]any {
		o["apiVersion"], o["kind"] = apiVersion, kind
		return o
	}
	group := func(apiVersion, kind string, lists ...[]map[string]any) map[string]any {
		objects := make(map[string]any)
		for _, list := range lists {
			for _, o := range list {
				objects[fmt.Sprint(len(objects))] = typed(o, apiVersion, kind)
			}
		}
		return objects
	}
	parent := typed(in.Parent, crdv1.APIVersion, crdv1.KindTCPIngressClass)
	body, err := json.Marshal(map[string]any{
		"parent": parent,
		"children": map[string]any{
			"ConfigMap.v1":                        group("v1", "ConfigMap", in.ConfigMaps),
			"Service.v1":                          group("v1", "Service", in.Services),
			"TCPIngressSlice.nginx-stream.dev/v1": group(crdv1.APIVersion, crdv1.KindTCPIngressSlice, in.Slices),
		},
		"related": map[string]any{
			"TCPIngress.nginx-stream.dev/v1":      group(crdv1.APIVersion, crdv1.KindTCPIngress, in.Ingresses),
			"TCPIngressClass.nginx-stream.dev/v1": map[string]any{"x": parent},
			"Namespace.v1":                        group("v1", "Namespace", in.Namespaces),
			"ConfigMap.v1":                        group("v1", "ConfigMap", in.ConfigMaps, in.ForeignMaps),
			"Service.v1":                          group("v1", "Service", in.Services, in.ForeignServices),
		},
	})
	require.NoError(t, err)
	return body
}

type classAnswer struct {
	Status   crdv1.TCPIngressClassStatus `json:"status"`
	Children []map[string]any            `json:"children"`
}

func callClass(t *testing.T, text string) classAnswer {
	t.Helper()
	response, err := (classHook{agentImage: crdv1.DefaultAgentImage}).sync(classRequest(t, text), clock())
	require.NoError(t, err)
	data, err := metacontroller.Encode(response)
	require.NoError(t, err)
	var answer classAnswer
	require.NoError(t, json.Unmarshal(data, &answer))
	return answer
}

// child gives a child as compact JSON, or "" if there is none.
func (a *classAnswer) child(kind, name string) string {
	for _, c := range a.Children {
		if c["kind"] == kind && c["metadata"].(map[string]any)["name"] == name {
			data, _ := json.Marshal(c)
			return string(data)
		}
	}
	return ""
}

// rule gives the verdict on a rule of the TCPIngress data/redis.
func (a *classAnswer) rule(t *testing.T, rule string) crdv1.SliceRule {
	t.Helper()
	const ingress = "data/redis"
	data := a.child(crdv1.KindTCPIngressSlice, sliceName("nginx", page(ingress)))
	var slice crdv1.TCPIngressSlice
	require.NoError(t, json.Unmarshal([]byte(data), &slice), "no slice for %s", ingress)
	require.Contains(t, slice.Entries[ingress].Rules, rule)
	return slice.Entries[ingress].Rules[rule]
}

const parentClass = `
parent:
  metadata: {name: nginx, uid: u-1, generation: 1, creationTimestamp: "2026-01-01T00:00:00Z"}
  spec: {namespace: ingress-nginx}
`

// bookedClass has been answered before, so that no verdict is held back.
const bookedClass = parentClass + `
  status: {listeners: {"6379/TCP": data/redis/tcp-6379, "6380/TCP": data/redis/tcp-6380}}
`

const judgedRedis = `
ingresses:
- metadata: {namespace: data, name: redis, generation: 4, creationTimestamp: "2026-01-02T00:00:00Z"}
  spec: {ingressClassName: nginx, rules: [{port: 6379, backend: {service: {name: redis, port: {number: 6379}}}}]}
  status: {className: nginx, rules: [{name: tcp-6379, port: 6379, protocol: TCP, serviceName: redis}]}
`

const programmedChildren = `
configMaps:
- metadata: {namespace: ingress-nginx, name: tcp-services, uid: a}
  data: {"6379": "data/redis:6379"}
- metadata: {namespace: ingress-nginx, name: udp-services, uid: b}
services:
- metadata: {namespace: ingress-nginx, name: nginx-stream-tcp, uid: c}
  spec:
    type: LoadBalancer
    clusterIP: 10.96.0.1
    selector: {app.kubernetes.io/name: ingress-nginx, app.kubernetes.io/instance: ingress-nginx, app.kubernetes.io/component: controller}
    ports: [{name: tcp-6379, port: 6379, protocol: TCP, targetPort: 6379, nodePort: 31000}]
`

const addressed = "  status: {loadBalancer: {ingress: [{ip: 203.0.113.7}]}}\n"

func TestProgrammedIsClaimedOnlyWhenObserved(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		request string
		want    crdv1.SliceRule
		class   string
	}{
		"no children yet": {
			request: bookedClass + judgedRedis,
			want:    crdv1.SliceRule{Port: 6379, Protocol: "TCP", Reason: crdv1.ReasonPending, Message: pendingMessage("nginx")},
			class:   "False/Pending",
		},
		"everything is there": {
			request: bookedClass + judgedRedis + programmedChildren + addressed,
			want:    crdv1.SliceRule{Port: 6379, Protocol: "TCP", Live: true},
			class:   "True/Programmed",
		},
		"the load balancer has no address yet": {
			request: bookedClass + judgedRedis + programmedChildren,
			want:    crdv1.SliceRule{Port: 6379, Protocol: "TCP", Reason: crdv1.ReasonAddressPending, Message: addressPending("Service ingress-nginx/nginx-stream-tcp")},
			class:   "False/AddressPending",
		},
		"the key was deleted by hand (C69)": {
			request: bookedClass + judgedRedis + strings.ReplaceAll(programmedChildren+addressed, `"6379": "data/redis:6379"`, ""),
			want:    crdv1.SliceRule{Port: 6379, Protocol: "TCP", Reason: crdv1.ReasonPending, Message: pendingMessage("nginx")},
			class:   "False/Pending",
		},
		"the Service leads elsewhere": {
			request: bookedClass + judgedRedis + strings.ReplaceAll(programmedChildren+addressed, "targetPort: 6379", "targetPort: 6380"),
			want:    crdv1.SliceRule{Port: 6379, Protocol: "TCP", Reason: crdv1.ReasonPortConflict},
			class:   "True/Programmed",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := callClass(t, tc.request)
			got := answer.rule(t, "tcp-6379")
			if tc.want.Reason == crdv1.ReasonPortConflict {
				assert.NotEmpty(t, got.Message)
				got.Message = ""
			}
			assert.Equal(t, tc.want, got)
			c := answer.Status.Conditions[1]
			assert.Equal(t, tc.class, string(c.Status)+"/"+c.Reason, c.Message)
		})
	}
}

func TestRuleIsRenderedOnceItsServiceHasBeenJudged(t *testing.T) {
	t.Parallel()
	notJudged := strings.ReplaceAll(judgedRedis, "  status: {className: nginx, rules: [{name: tcp-6379, port: 6379, protocol: TCP, serviceName: redis}]}\n", "")
	answer := callClass(t, bookedClass+notJudged)
	assert.NotContains(t, answer.child("ConfigMap", "tcp-services"), "6379")
	assert.Empty(t, answer.child("Service", "nginx-stream-tcp"))
	assert.Equal(t, map[string]string{"6379/TCP": "data/redis/tcp-6379"}, answer.Status.Listeners, "the claim counts")
	assert.Equal(t, waitingForService("redis"), answer.rule(t, "tcp-6379").Message)
}

func TestServiceStaysWhileItsOnlyRuleWaits(t *testing.T) {
	t.Parallel()
	// Port and backend were edited at once: nothing of the old entry is wanted, and
	// the new Service has not been looked at.
	edited := strings.ReplaceAll(judgedRedis, "rules: [{port: 6379, backend: {service: {name: redis,", "rules: [{port: 6380, backend: {service: {name: cache,")
	answer := callClass(t, bookedClass+edited+programmedChildren)
	assert.NotContains(t, answer.child("ConfigMap", "tcp-services"), "6379")
	assert.Contains(t, answer.child("Service", "nginx-stream-tcp"), `"ports":[{"name":"tcp-6380","port":6380,"protocol":"TCP","targetPort":6380}]`)
	assert.False(t, answer.rule(t, "tcp-6380").Live)
}

func TestServiceStaysWhileAllRulesAreRefused(t *testing.T) {
	t.Parallel()
	refused := strings.ReplaceAll(judgedRedis, "rules: [{port: 6379,", "rules: [{port: 80,")
	answer := callClass(t, parentClass+refused+programmedChildren)
	assert.Equal(t, crdv1.ReasonPortReserved, answer.rule(t, "tcp-80").Reason)
	assert.Contains(t, answer.child("Service", "nginx-stream-tcp"), `"ports":[{"name":"tcp-6379","port":6379,"protocol":"TCP","targetPort":6379}]`, "its address must not be lost")
	assert.NotContains(t, answer.child("ConfigMap", "tcp-services"), "6379")

	gone := callClass(t, parentClass+programmedChildren)
	assert.Empty(t, gone.child("Service", "nginx-stream-tcp"), "it goes with the last rule")
}

func TestExternalNameIsWithdrawn(t *testing.T) {
	t.Parallel()
	external := strings.ReplaceAll(judgedRedis, "serviceName: redis}",
		`serviceName: redis, conditions: [{type: ResolvedRefs, status: "False", reason: UnsupportedService, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}]}`)
	answer := callClass(t, parentClass+external+programmedChildren)
	assert.NotContains(t, answer.child("ConfigMap", "tcp-services"), "6379")
	assert.Contains(t, answer.Status.Listeners, "6379/TCP", "the claim is kept")
	assert.Equal(t, withdrawn("redis"), answer.rule(t, "tcp-6379").Message)
}

func TestObjectsOfOthersUnderOurNames(t *testing.T) {
	t.Parallel()
	cases := map[string]struct{ foreign, kind, name, want string }{
		"a ConfigMap of nobody (C68)": {
			"foreignMaps: [{metadata: {namespace: ingress-nginx, name: tcp-services}}]", "ConfigMap", "tcp-services",
			"ConfigMap ingress-nginx/tcp-services exists already and does not belong to TCPIngressClass nginx. To hand it over (it is deleted with the class then): kubectl label configmap -n ingress-nginx tcp-services controller-uid=u-1; or name another one in a new class.",
		},
		"a Service of somebody": {
			"foreignServices: [{metadata: {namespace: ingress-nginx, name: nginx-stream-tcp, ownerReferences: [{apiVersion: v1, kind: TCPIngressClass, name: other, uid: u-2, controller: true}]}}]", "Service", "nginx-stream-tcp",
			"Service ingress-nginx/nginx-stream-tcp exists already and is controlled by TCPIngressClass other; name another one in a new class.",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			answer := callClass(t, parentClass+judgedRedis+tc.foreign)
			got := answer.rule(t, "tcp-6379")
			assert.Equal(t, crdv1.ReasonChildNotOwned, got.Reason)
			assert.Equal(t, tc.want, got.Message)
			assert.Equal(t, tc.want, answer.Status.Conditions[1].Message)
			assert.Empty(t, answer.child(tc.kind, tc.name), "server-side apply would take it over")
			assert.NotEmpty(t, answer.child("ConfigMap", "udp-services"), "the others are not held up")
		})
	}
}

func TestObjectsOfOthersThatAreBeingDeletedAreWaitedFor(t *testing.T) {
	t.Parallel()
	answer := callClass(t, bookedClass+judgedRedis+
		"foreignMaps: [{metadata: {namespace: ingress-nginx, name: tcp-services, deletionTimestamp: \"2026-01-01T00:00:00Z\"}}]")
	assert.Empty(t, answer.child("ConfigMap", "tcp-services"))
	assert.Equal(t, crdv1.ReasonPending, answer.rule(t, "tcp-6379").Reason)
}

func TestOtherNamespacesDoNotCount(t *testing.T) {
	t.Parallel()
	answer := callClass(t, bookedClass+judgedRedis+"foreignMaps: [{metadata: {namespace: elsewhere, name: tcp-services}}]")
	assert.Equal(t, crdv1.ReasonPending, answer.rule(t, "tcp-6379").Reason)
}

func TestForeignEntries(t *testing.T) {
	t.Parallel()
	request := parentClass + judgedRedis + strings.ReplaceAll(programmedChildren, `"6379": "data/redis:6379"`, `"6379": "data/redis:6379", "9999": "x/y:1"`)
	answer := callClass(t, request)
	c := answer.Status.Conditions[2]
	assert.Equal(t, "True", string(c.Status))
	assert.Equal(t, "Entries that no TCPIngress asks for are left alone: key 9999 of ConfigMap ingress-nginx/tcp-services.", c.Message)
}

func TestPortsOfOthersOnASharedServiceAreNoForeignEntries(t *testing.T) {
	t.Parallel()
	request := parentClass + judgedRedis + strings.ReplaceAll(programmedChildren+addressed, "ports: [{", "ports: [{name: https, port: 443, protocol: TCP, targetPort: https}, {")
	require.Contains(t, request, "port: 443")
	answer := callClass(t, request)
	assert.Equal(t, []string{
		"Accepted=True/Accepted: The class can be used.",
		"Programmed=True/Programmed: The observed children carry all rules.",
		"ForeignEntries=False/NoForeignEntries: The ConfigMaps hold no entries of others.",
	}, words(answer.Status.Conditions))
}

func TestUnusableClassChangesNothing(t *testing.T) {
	t.Parallel()
	parent := strings.ReplaceAll(parentClass, "spec: {namespace: ingress-nginx}",
		"spec: {namespace: ingress-nginx, ingressNginx: {tcpConfigMapName: same, udpConfigMapName: same}}\n  status: {listeners: {\"6379/TCP\": data/redis/tcp-6379}}")
	const children = `
configMaps:
- metadata:
    namespace: ingress-nginx
    name: same
    annotations: {metacontroller.k8s.io/last-applied-configuration: '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"same","namespace":"ingress-nginx"},"data":{"6379":"data/redis:6379"}}'}
  data: {"6379": "data/redis:6379", "9999": "x/y:1"}
services:
- metadata:
    namespace: ingress-nginx
    name: nginx-stream-tcp
    managedFields:
    - {manager: metacontroller, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, time: "2026-01-01T00:00:00Z", fieldsV1: {"f:spec": {"f:ports": {'k:{"port":6379,"protocol":"TCP"}': {".": {}, "f:name": {}, "f:port": {}, "f:protocol": {}, "f:targetPort": {}}}}}}
  spec: {type: LoadBalancer, ports: [{name: tcp-6379, port: 6379, protocol: TCP, targetPort: 6379, nodePort: 31000}]}
slices:
- {metadata: {name: nginx-05, labels: {nginx-stream.dev/class: nginx, nginx-stream.dev/slice: "05", controller-uid: u-1}}, class: nginx, entries: {data/redis: {generation: 4}}}
`
	answer := callClass(t, parent+judgedRedis+children)
	assert.Equal(t, "Accepted=False/InvalidClass", strings.Split(words(answer.Status.Conditions)[0], ":")[0])
	assert.Equal(t, map[string]string{"6379/TCP": "data/redis/tcp-6379"}, answer.Status.Listeners)
	require.Len(t, answer.Children, 3)
	assert.JSONEq(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"same","namespace":"ingress-nginx"},"data":{"6379":"data/redis:6379"}}`, answer.child("ConfigMap", "same"))
	assert.JSONEq(t, `{"apiVersion":"v1","kind":"Service","metadata":{"name":"nginx-stream-tcp","namespace":"ingress-nginx"},"spec":{"ports":[{"name":"tcp-6379","port":6379,"protocol":"TCP","targetPort":6379}]}}`, answer.child("Service", "nginx-stream-tcp"))
	assert.JSONEq(t, `{"apiVersion":"nginx-stream.dev/v1","kind":"TCPIngressSlice","metadata":{"name":"nginx-05","labels":{"nginx-stream.dev/class":"nginx","nginx-stream.dev/slice":"05"}},"class":"nginx","entries":{"data/redis":{"generation":4}}}`, answer.child("TCPIngressSlice", "nginx-05"))
}

// A controller of an older release does not send the children of provider Nginx;
// what is not seen must not be taken for missing.
func TestProviderNginxNeedsItsChildrenInTheRequest(t *testing.T) {
	t.Parallel()
	text := strings.ReplaceAll(parentClass, "namespace: ingress-nginx}", "namespace: ingress-nginx, provider: Nginx}")
	_, err := (classHook{}).sync(classRequest(t, text), clock())
	assert.EqualError(t, err, "the request has no related group Deployment.apps/v1")
}

func TestWronglyLabelledObjectsAreKept(t *testing.T) {
	t.Parallel()
	answer := callClass(t, parentClass+`
configMaps: [{metadata: {namespace: shop, name: settings, labels: {controller-uid: u-1}}, data: {a: b}}]
services: [{metadata: {namespace: shop, name: web, labels: {controller-uid: u-1}}, spec: {ports: [{port: 80}]}}]
`)
	assert.JSONEq(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"settings","namespace":"shop"}}`, answer.child("ConfigMap", "settings"))
	assert.JSONEq(t, `{"apiVersion":"v1","kind":"Service","metadata":{"name":"web","namespace":"shop"}}`, answer.child("Service", "web"))
}

func TestSliceOverBudgetLosesMessagesNotReasons(t *testing.T) {
	t.Parallel()
	slice := newSlice("nginx", "00")
	for i := range 1000 {
		slice.Entries[fmt.Sprintf("ns/i-%d", i)] = crdv1.SliceEntry{Rules: map[string]crdv1.SliceRule{
			"r": {Port: 1, Reason: crdv1.ReasonPortConflict, Message: strings.Repeat("long ", 100)},
		}}
	}
	fit(slice)
	for _, e := range slice.Entries {
		assert.Equal(t, crdv1.SliceRule{Port: 1, Reason: crdv1.ReasonPortConflict}, e.Rules["r"])
	}
}

func TestClassRequestsThatCannotBeReadChangeNothing(t *testing.T) {
	t.Parallel()
	whole := string(classRequest(t, parentClass+judgedRedis))
	cases := map[string]struct{ body, want string }{
		"truncated":                 {whole[:len(whole)/2], "ends"},
		"no parent":                 {strings.Replace(whole, `"parent"`, `"other"`, 1), "the request has no parent"},
		"no TCPIngress group":       {strings.Replace(whole, `"TCPIngress.nginx-stream.dev/v1"`, `"controllers"`, 1), ""},
		"no class group":            {strings.Replace(whole, `"TCPIngressClass.nginx-stream.dev/v1"`, `"None.x/v1"`, 1), ""},
		"a child of no group":       {strings.Replace(whole, `"ConfigMap.v1":{}`, `"ConfigMap.v1":{},"Secret.v1":{"a":{"apiVersion":"v1","kind":"Secret"}}`, 1), "Secret.v1"},
		"an object of a wrong kind": {strings.Replace(whole, `"kind":"TCPIngress"`, `"kind":"Ingress"`, 1), "another kind"},
		"no ConfigMaps asked for":   {strings.Replace(whole, `"related":{"ConfigMap.v1":{},`, `"related":{`, 1), "the request has no related group ConfigMap.v1"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := (classHook{agentImage: crdv1.DefaultAgentImage}).sync([]byte(tc.body), clock())
			require.ErrorContains(t, err, tc.want)
			assert.NotContains(t, err.Error(), "\n")
		})
	}
}
