package service_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/service"
)

// settings are those of a class without any setting; change adds some.
func settings(change func(*service.Settings)) service.Settings {
	s := service.Settings{
		Namespace: "ingress-nginx",
		Name:      "nginx-stream-tcp",
		Protocol:  l4.TCP,
		Selector:  map[string]string{"app": "nginx"},
		Labels:    map[string]string{"nginx-stream.dev/class": "nginx"},
		MaxPorts:  1000,
	}
	if change != nil {
		change(&s)
	}
	return s
}

func udp(s *service.Settings) { s.Protocol, s.Name = l4.UDP, "nginx-stream-udp" }

// observed reads a Service as a request carries it.
func observed(t *testing.T, text string) *corev1.Service {
	t.Helper()
	if text == "" {
		return nil
	}
	var svc corev1.Service
	require.NoError(t, yaml.UnmarshalStrict([]byte(text), &svc))
	return &svc
}

// chart is the Service of the ingress-nginx chart, handed over by label.
const chart = `
metadata: {name: nginx-stream-tcp, namespace: ingress-nginx, labels: {controller-uid: u1}}
spec:
  type: NodePort
  clusterIP: 10.0.0.5
  selector: {chart: nginx}
  externalTrafficPolicy: Cluster
  ports:
  - {name: http, port: 80, protocol: TCP, targetPort: http, nodePort: 30080}
  - {name: https, port: 443, protocol: TCP, targetPort: https, nodePort: 30443}
`

// adopted is chart after the first update: ports of ours, and our record.
const adopted = `
metadata:
  name: nginx-stream-tcp
  namespace: ingress-nginx
  annotations:
    metacontroller.k8s.io/last-applied-configuration: '{"spec":{"ports":[{"name":"tcp-6379","port":6379,"protocol":"TCP","targetPort":6379}]}}'
spec:
  type: NodePort
  clusterIP: 10.0.0.5
  selector: {chart: nginx}
  ports:
  - {name: http, port: 80, protocol: TCP, targetPort: http, nodePort: 30080}
  - {name: tcp-6379, port: 6379, protocol: TCP, targetPort: 6379, nodePort: 32808}
`

const head = `{"kind":"Service","apiVersion":"v1","metadata":{"name":"nginx-stream-tcp","namespace":"ingress-nginx","labels":{"nginx-stream.dev/class":"nginx"}}`

func TestRender(t *testing.T) {
	tests := map[string]struct {
		settings service.Settings
		ports    []int32
		observed string
		want     string // "null": no Service
	}{
		"without ports there is no Service": {
			settings: settings(nil),
			want:     `null`,
		},
		"ports are named by protocol and number, begin with a letter and are sorted by number (C13, C19)": {
			settings: settings(nil), ports: []int32{9200, 22, 5432, 443, 80, 3306},
			want: head + `,"spec":{"type":"LoadBalancer","selector":{"app":"nginx"},"ports":[` +
				`{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22},` +
				`{"name":"tcp-80","protocol":"TCP","port":80,"targetPort":80},` +
				`{"name":"tcp-443","protocol":"TCP","port":443,"targetPort":443},` +
				`{"name":"tcp-3306","protocol":"TCP","port":3306,"targetPort":3306},` +
				`{"name":"tcp-5432","protocol":"TCP","port":5432,"targetPort":5432},` +
				`{"name":"tcp-9200","protocol":"TCP","port":9200,"targetPort":9200}]}}`,
		},
		"a number that is given twice is one port": {
			settings: settings(nil), ports: []int32{22, 22},
			want: head + `,"spec":{"type":"LoadBalancer","selector":{"app":"nginx"},"ports":[{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22}]}}`,
		},
		"the Service of UDP has an integer targetPort too (C114)": {
			settings: settings(udp), ports: []int32{9987},
			want: `{"kind":"Service","apiVersion":"v1","metadata":{"name":"nginx-stream-udp","namespace":"ingress-nginx","labels":{"nginx-stream.dev/class":"nginx"}},` +
				`"spec":{"type":"LoadBalancer","selector":{"app":"nginx"},"ports":[{"name":"udp-9987","protocol":"UDP","port":9987,"targetPort":9987}]}}`,
		},
		"every setting of a LoadBalancer is written": {
			settings: settings(func(s *service.Settings) {
				no := false
				s.Type, s.LoadBalancerClass, s.ExternalTrafficPolicy, s.IPFamilyPolicy = "LoadBalancer", "example.com/nlb", "Local", "PreferDualStack"
				s.LoadBalancerSourceRanges, s.AllocateNodePorts = []string{"10.0.0.0/8"}, &no
				s.Annotations = map[string]string{"example.com/a": "b"}
			}),
			ports: []int32{22},
			want: `{"kind":"Service","apiVersion":"v1","metadata":{"name":"nginx-stream-tcp","namespace":"ingress-nginx","labels":{"nginx-stream.dev/class":"nginx"},"annotations":{"example.com/a":"b"}},` +
				`"spec":{"type":"LoadBalancer","selector":{"app":"nginx"},"ipFamilyPolicy":"PreferDualStack","externalTrafficPolicy":"Local","loadBalancerClass":"example.com/nlb","loadBalancerSourceRanges":["10.0.0.0/8"],"allocateLoadBalancerNodePorts":false,` +
				`"ports":[{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22}]}}`,
		},
		"what only a LoadBalancer may have is not written to a ClusterIP": {
			settings: settings(func(s *service.Settings) {
				yes := true
				s.Type, s.LoadBalancerClass, s.ExternalTrafficPolicy = "ClusterIP", "example.com/nlb", "Local"
				s.LoadBalancerSourceRanges, s.AllocateNodePorts = []string{"10.0.0.0/8"}, &yes
				s.Annotations = map[string]string{corev1.AnnotationLoadBalancerSourceRangesKey: "10.0.0.0/8"}
			}),
			ports: []int32{22},
			want:  head + `,"spec":{"type":"ClusterIP","selector":{"app":"nginx"},"ports":[{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22}]}}`,
		},
		"a NodePort has an externalTrafficPolicy": {
			settings: settings(func(s *service.Settings) { s.Type, s.ExternalTrafficPolicy = "NodePort", "Local" }),
			ports:    []int32{22},
			want:     head + `,"spec":{"type":"NodePort","selector":{"app":"nginx"},"externalTrafficPolicy":"Local","ports":[{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22}]}}`,
		},
		"type None makes no Service": {
			settings: settings(func(s *service.Settings) { s.Type = service.None }), ports: []int32{22},
			want: `null`,
		},
		"the idle port makes a TCP Service": {
			settings: settings(func(s *service.Settings) { s.IdlePort = 9 }),
			want:     head + `,"spec":{"type":"LoadBalancer","selector":{"app":"nginx"},"ports":[{"name":"tcp-9","protocol":"TCP","port":9,"targetPort":9}]}}`,
		},
		"the idle port is left out beside a listener": {
			settings: settings(func(s *service.Settings) { s.IdlePort = 9 }), ports: []int32{22},
			want: head + `,"spec":{"type":"LoadBalancer","selector":{"app":"nginx"},"ports":[{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22}]}}`,
		},
		"the idle port makes no UDP Service": {
			settings: settings(func(s *service.Settings) { udp(s); s.IdlePort = 9 }),
			want:     `null`,
		},
		"the idle port keeps a UDP Service": {
			settings: settings(func(s *service.Settings) { udp(s); s.IdlePort = 9 }),
			observed: `
metadata: {name: nginx-stream-udp, namespace: ingress-nginx, annotations: {metacontroller.k8s.io/last-applied-configuration: '{"spec":{"type":"LoadBalancer","selector":{}}}'}}
spec: {type: LoadBalancer, ports: [{name: udp-53, port: 53, protocol: UDP, targetPort: 53}]}`,
			want: `{"kind":"Service","apiVersion":"v1","metadata":{"name":"nginx-stream-udp","namespace":"ingress-nginx","labels":{"nginx-stream.dev/class":"nginx"}},` +
				`"spec":{"type":"LoadBalancer","selector":{"app":"nginx"},"ports":[{"name":"udp-9","protocol":"UDP","port":9,"targetPort":9}]}}`,
		},
		"the type None counts before the idle port": {
			settings: settings(func(s *service.Settings) { s.Type, s.IdlePort = service.None, 9 }),
			want:     `null`,
		},
		"an adopted Service keeps its type, its selector and its ports": {
			settings: settings(nil), ports: []int32{6379}, observed: chart,
			want: head + `,"spec":{"ports":[{"name":"tcp-6379","protocol":"TCP","port":6379,"targetPort":6379}]}}`,
		},
		"an adopted Service keeps them after our first update as well": {
			settings: settings(nil), ports: []int32{6379, 8080}, observed: adopted,
			want: head + `,"spec":{"ports":[{"name":"tcp-6379","protocol":"TCP","port":6379,"targetPort":6379},{"name":"tcp-8080","protocol":"TCP","port":8080,"targetPort":8080}]}}`,
		},
		"an adopted Service is kept for its other ports, with none of ours": {
			settings: settings(nil), observed: adopted,
			want: head + `,"spec":{"ports":[]}}`,
		},
		"an adopted Service needs no idle port": {
			settings: settings(func(s *service.Settings) { s.IdlePort = 9 }), observed: adopted,
			want: head + `,"spec":{"ports":[]}}`,
		},
		"an adopted Service gets what the class says explicitly": {
			settings: settings(func(s *service.Settings) {
				s.Type, s.SelectorExplicit, s.ExternalTrafficPolicy = "LoadBalancer", true, "Local"
			}), ports: []int32{6379}, observed: chart,
			want: head + `,"spec":{"type":"LoadBalancer","selector":{"app":"nginx"},"externalTrafficPolicy":"Local","ports":[{"name":"tcp-6379","protocol":"TCP","port":6379,"targetPort":6379}]}}`,
		},
		"an externalTrafficPolicy is not written to an adopted ClusterIP": {
			settings: settings(func(s *service.Settings) { s.ExternalTrafficPolicy = "Local" }), ports: []int32{6379},
			observed: `{spec: {type: ClusterIP, ports: [{name: http, port: 80}]}}`,
			want:     head + `,"spec":{"ports":[{"name":"tcp-6379","protocol":"TCP","port":6379,"targetPort":6379}]}}`,
		},
		"our own Service keeps what we wrote, also when it is a default": {
			settings: settings(nil), ports: []int32{22},
			observed: `
metadata: {annotations: {metacontroller.k8s.io/last-applied-configuration: '{"spec":{"type":"LoadBalancer","selector":{"app":"nginx"}}}'}}
spec: {type: NodePort, selector: {app: other}, ports: [{name: tcp-22, port: 22, protocol: TCP, targetPort: 22}]}`,
			want: head + `,"spec":{"type":"LoadBalancer","selector":{"app":"nginx"},"ports":[{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22}]}}`,
		},
		"what managed fields call ours stays ours": {
			settings: settings(nil), ports: []int32{22},
			observed: `
metadata:
  managedFields: [{manager: metacontroller, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:spec": {"f:type": {}, "f:selector": {}}}}]
spec: {type: NodePort, ports: [{name: http, port: 80, protocol: TCP, targetPort: 80}]}`,
			want: head + `,"spec":{"type":"LoadBalancer","selector":{"app":"nginx"},"ports":[{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22}]}}`,
		},
		"the loadBalancerClass that we wrote stays": {
			settings: settings(func(s *service.Settings) { s.LoadBalancerClass = "example.com/new" }), ports: []int32{22},
			observed: `
metadata: {annotations: {metacontroller.k8s.io/last-applied-configuration: '{"spec":{"type":"LoadBalancer","selector":{},"loadBalancerClass":"example.com/old"}}'}}
spec: {type: LoadBalancer, loadBalancerClass: example.com/old, ports: [{name: tcp-22, port: 22, protocol: TCP, targetPort: 22}]}`,
			want: head + `,"spec":{"type":"LoadBalancer","selector":{"app":"nginx"},"loadBalancerClass":"example.com/old","ports":[{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22}]}}`,
		},
		"a LoadBalancer without a class never gets one": {
			settings: settings(func(s *service.Settings) { s.LoadBalancerClass = "example.com/new" }), ports: []int32{22},
			observed: `{spec: {type: LoadBalancer, ports: [{name: http, port: 80, protocol: TCP, targetPort: 80}]}}`,
			want:     head + `,"spec":{"ports":[{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22}]}}`,
		},
		"a Service that becomes a LoadBalancer gets its class": {
			settings: settings(func(s *service.Settings) { s.Type, s.LoadBalancerClass = "LoadBalancer", "example.com/new" }), ports: []int32{22},
			observed: `{spec: {type: ClusterIP, clusterIP: 10.0.0.1, ports: [{name: http, port: 80, protocol: TCP, targetPort: 80}]}}`,
			want:     head + `,"spec":{"type":"LoadBalancer","loadBalancerClass":"example.com/new","ports":[{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22}]}}`,
		},
		"a headless Service cannot become a LoadBalancer": {
			settings: settings(func(s *service.Settings) { s.Type, s.LoadBalancerSourceRanges = "LoadBalancer", []string{"10.0.0.0/8"} }), ports: []int32{22},
			observed: `{spec: {type: ClusterIP, clusterIP: None, ports: [{name: http, port: 80, protocol: TCP, targetPort: 80}]}}`,
			want:     head + `,"spec":{"ports":[{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22}]}}`,
		},
		"source ranges of others keep the type": {
			settings: settings(func(s *service.Settings) { s.Type = "NodePort" }), ports: []int32{22},
			observed: `
metadata: {annotations: {metacontroller.k8s.io/last-applied-configuration: '{"spec":{"type":"LoadBalancer"}}'}}
spec: {type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.0/8], ports: [{name: http, port: 80, protocol: TCP, targetPort: 80}]}`,
			want: head + `,"spec":{"type":"LoadBalancer","ports":[{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22}]}}`,
		},
		"our own source ranges go with the type": {
			settings: settings(func(s *service.Settings) { s.Type = "NodePort" }), ports: []int32{22},
			observed: `
metadata: {annotations: {metacontroller.k8s.io/last-applied-configuration: '{"spec":{"type":"LoadBalancer","loadBalancerSourceRanges":["10.0.0.0/8"]}}'}}
spec: {type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.0/8], ports: [{name: http, port: 80, protocol: TCP, targetPort: 80}]}`,
			want: head + `,"spec":{"type":"NodePort","ports":[{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22}]}}`,
		},
		"type None leaves a Service with other ports, and what we wrote to it, as it is": {
			settings: settings(func(s *service.Settings) { s.Type = service.None }), ports: []int32{22},
			observed: `
metadata: {annotations: {metacontroller.k8s.io/last-applied-configuration: '{"spec":{"type":"LoadBalancer","selector":{"app":"nginx"},"externalTrafficPolicy":"Local","ipFamilyPolicy":"SingleStack","loadBalancerClass":"example.com/nlb","loadBalancerSourceRanges":["10.0.0.0/8"],"allocateLoadBalancerNodePorts":true,"ports":[]}}'}}
spec:
  type: LoadBalancer
  selector: {app: nginx, more: x}
  externalTrafficPolicy: Local
  ipFamilyPolicy: SingleStack
  loadBalancerClass: example.com/nlb
  loadBalancerSourceRanges: [10.0.0.0/8]
  allocateLoadBalancerNodePorts: true
  ports: [{name: http, port: 80, protocol: TCP, targetPort: 80}]`,
			want: head + `,"spec":{"type":"LoadBalancer","selector":{"app":"nginx"},"ipFamilyPolicy":"SingleStack","externalTrafficPolicy":"Local","loadBalancerClass":"example.com/nlb","loadBalancerSourceRanges":["10.0.0.0/8"],"allocateLoadBalancerNodePorts":true,"ports":[]}}`,
		},
		"type None touches nothing of an adopted Service": {
			settings: settings(func(s *service.Settings) { s.Type = service.None }), ports: []int32{22}, observed: chart,
			want: head + `,"spec":{"ports":[]}}`,
		},
		"a number or a name that others have is left out": {
			settings: settings(nil), ports: []int32{80, 6379, 7000},
			observed: `{spec: {type: ClusterIP, ports: [{name: http, port: 80, protocol: TCP, targetPort: 80}, {name: tcp-7000, port: 7001, protocol: TCP, targetPort: 7001}]}}`,
			want:     head + `,"spec":{"ports":[{"name":"tcp-6379","protocol":"TCP","port":6379,"targetPort":6379}]}}`,
		},
		"beside a port without a name there is none of ours": {
			settings: settings(nil), ports: []int32{22},
			observed: `{spec: {type: ClusterIP, ports: [{port: 80, protocol: TCP, targetPort: 80}]}}`,
			want:     head + `,"spec":{}}`,
		},
		"beside a number of both protocols there is none of ours": {
			settings: settings(nil), ports: []int32{22},
			observed: `{spec: {type: ClusterIP, ports: [{name: h2, port: 443, protocol: TCP}, {name: h3, port: 443, protocol: UDP}]}}`,
			want:     head + `,"spec":{}}`,
		},
		"unless server-side apply is known": {
			settings: settings(nil), ports: []int32{22},
			observed: `
metadata:
  managedFields: [{manager: metacontroller, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {}}}]
spec: {type: ClusterIP, ports: [{name: h2, port: 443, protocol: TCP}, {name: h3, port: 443, protocol: UDP}]}`,
			want: head + `,"spec":{"ports":[{"name":"tcp-22","protocol":"TCP","port":22,"targetPort":22}]}}`,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			child := service.Render(tc.settings, tc.ports, observed(t, tc.observed))
			got, err := json.Marshal(child)
			require.NoError(t, err)
			require.JSONEq(t, tc.want, string(got))
			if child == nil {
				return
			}
			encoded, err := metacontroller.Encode(child)
			require.NoError(t, err)
			assert.Equal(t, string(got), string(encoded), "what the server encodes")
		})
	}
}

func TestRenderChangesNothingThatItReads(t *testing.T) {
	s := settings(func(s *service.Settings) { s.Annotations = map[string]string{"example.com/a": "b"} })
	ports := []int32{22, 21}
	child := service.Render(s, ports, nil)
	child.Metadata.Labels["x"] = "y"
	child.Metadata.Annotations["x"] = "y"
	child.Spec.Selector["x"] = "y"
	assert.Equal(t, settings(func(s *service.Settings) { s.Annotations = map[string]string{"example.com/a": "b"} }), s)
	assert.Equal(t, []int32{22, 21}, ports)
}
