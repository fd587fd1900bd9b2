package service_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/service"
)

func tcpKey(port int32) l4.Key { return l4.Key{Protocol: l4.TCP, Port: port} }

func TestObservePorts(t *testing.T) {
	tests := map[string]struct {
		observed string
		ours     map[int32]bool
		foreign  []string
		taken    map[l4.Key]string
	}{
		"hand-edited ports are left alone, and one without protocol is TCP (C116)": {
			observed: `
spec:
  ports:
  - {name: tcp-6379, port: 6379, protocol: TCP, targetPort: 6379, nodePort: 31000}
  - {name: tcp-1433, port: 1433, targetPort: 1433, appProtocol: example.com/tds}
  - {name: admin, port: 8001, protocol: TCP, targetPort: 8001}
  - {name: web, port: 9443, targetPort: 9443, appProtocol: https}`,
			ours:    map[int32]bool{6379: true, 1433: true},
			foreign: []string{"admin", "web"},
			taken: map[l4.Key]string{
				tcpKey(8001): "Port admin (8001/TCP) of Service ingress-nginx/nginx-stream-tcp is not managed by this class; remove it there, or choose another port.",
				tcpKey(9443): "Port web (9443/TCP) of Service ingress-nginx/nginx-stream-tcp is not managed by this class; remove it there, or choose another port.",
			},
		},
		"the chart's port of a number is not ours": {
			observed: `{spec: {ports: [{name: 6379-tcp, port: 6379, protocol: TCP, targetPort: 6379-tcp}]}}`,
			ours:     map[int32]bool{},
			foreign:  []string{"6379-tcp"},
			taken: map[l4.Key]string{
				tcpKey(6379): "Port 6379-tcp (6379/TCP) of Service ingress-nginx/nginx-stream-tcp is not managed by this class; remove it there, or choose another port.",
			},
		},
		"our name with another target is not ours": {
			observed: `{spec: {ports: [{name: tcp-22, port: 22, protocol: TCP, targetPort: 2222}, {name: tcp-23, port: 23, protocol: TCP, targetPort: "23"}]}}`,
			ours:     map[int32]bool{},
			foreign:  []string{"tcp-22", "tcp-23"},
			taken: map[l4.Key]string{
				tcpKey(22): "Port tcp-22 (22/TCP) of Service ingress-nginx/nginx-stream-tcp is not managed by this class; remove it there, or choose another port.",
				tcpKey(23): "Port tcp-23 (23/TCP) of Service ingress-nginx/nginx-stream-tcp is not managed by this class; remove it there, or choose another port.",
			},
		},
		"our name on another number takes both numbers": {
			observed: `{spec: {ports: [{name: tcp-22, port: 2222, protocol: TCP, targetPort: 2222}]}}`,
			ours:     map[int32]bool{},
			foreign:  []string{"tcp-22"},
			taken: map[l4.Key]string{
				tcpKey(22):   "Port tcp-22 (2222/TCP) of Service ingress-nginx/nginx-stream-tcp is not managed by this class; remove it there, or choose another port.",
				tcpKey(2222): "Port tcp-22 (2222/TCP) of Service ingress-nginx/nginx-stream-tcp is not managed by this class; remove it there, or choose another port.",
			},
		},
		"the number of a UDP port is taken for TCP, because the merge takes both for one": {
			observed: `{spec: {ports: [{name: dns, port: 53, protocol: UDP, targetPort: 53}]}}`,
			ours:     map[int32]bool{},
			foreign:  []string{"dns"},
			taken: map[l4.Key]string{
				tcpKey(53): "Port dns (53/UDP) of Service ingress-nginx/nginx-stream-tcp is not managed by this class; remove it there, or choose another port.",
			},
		},
		"but not under server-side apply": {
			observed: `
metadata:
  managedFields: [{manager: metacontroller, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:metadata": {}}}]
spec: {ports: [{name: dns, port: 53, protocol: UDP, targetPort: 53}]}`,
			ours:    map[int32]bool{},
			foreign: []string{"dns"},
			taken:   map[l4.Key]string{},
		},
		"a port that we wrote and somebody changed is nobody's": {
			observed: `
metadata: {annotations: {metacontroller.k8s.io/last-applied-configuration: '{"spec":{"ports":[{"port":22,"protocol":"TCP"},{"port":53,"protocol":"TCP"}]}}'}}
spec: {ports: [{name: ssh, port: 22, protocol: TCP, targetPort: 2222}, {name: tcp-53, port: 53, protocol: UDP, targetPort: 53}]}`,
			ours:  map[int32]bool{},
			taken: map[l4.Key]string{},
		},
		"a twin of a port that we wrote is somebody else's": {
			observed: `
metadata: {annotations: {metacontroller.k8s.io/last-applied-configuration: '{"spec":{"ports":[{"port":53,"protocol":"TCP"}]}}'}}
spec: {ports: [{name: tcp-53, port: 53, protocol: TCP, targetPort: 53}, {name: dns, port: 53, protocol: UDP, targetPort: 53}]}`,
			ours:    map[int32]bool{53: true},
			foreign: []string{"dns"},
			taken: map[l4.Key]string{
				tcpKey(53): "Port dns (53/UDP) of Service ingress-nginx/nginx-stream-tcp is not managed by this class; remove it there, or choose another port.",
			},
		},
		"a broken record makes nobody's port ours": {
			observed: `
metadata: {annotations: {metacontroller.k8s.io/last-applied-configuration: '{"spec":'}}
spec: {ports: [{name: ssh, port: 22, protocol: TCP, targetPort: 2222}]}`,
			ours:    map[int32]bool{},
			foreign: []string{"ssh"},
			taken: map[l4.Key]string{
				tcpKey(22): "Port ssh (22/TCP) of Service ingress-nginx/nginx-stream-tcp is not managed by this class; remove it there, or choose another port.",
			},
		},
		"no Service takes nothing": {taken: map[l4.Key]string{}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			svc := observed(t, tc.observed)
			got := service.Observe(settings(nil), svc)
			var foreign []string
			for _, port := range got.Foreign {
				foreign = append(foreign, port.Name)
			}
			assert.Equal(t, svc != nil, got.Exists)
			assert.Equal(t, tc.ours, got.Ours)
			assert.Equal(t, tc.foreign, foreign)
			assert.Equal(t, tc.taken, service.Taken(settings(nil), svc))
		})
	}
}

func TestObserveKeepsForeignPortsWhole(t *testing.T) {
	got := service.Observe(settings(nil), observed(t, chart))
	assert.Equal(t, []corev1.ServicePort{
		{Name: "http", Port: 80, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("http"), NodePort: 30080},
		{Name: "https", Port: 443, Protocol: corev1.ProtocolTCP, TargetPort: intstr.FromString("https"), NodePort: 30443},
	}, got.Foreign)
	assert.Equal(t, "NodePort", got.Type)
}

func TestAddressesAndLive(t *testing.T) {
	const port = `ports: [{name: tcp-22, port: 22, protocol: TCP, targetPort: 22}]`
	tests := map[string]struct {
		settings  service.Settings
		observed  string
		addresses []service.Address
		addressed bool
		live      bool
	}{
		"no Service": {settings: settings(nil)},
		"a LoadBalancer without an address": {
			settings: settings(nil),
			observed: `{spec: {type: LoadBalancer, clusterIP: 10.0.0.1, ` + port + `}}`,
			live:     true,
		},
		"a LoadBalancer with an empty ingress": {
			settings: settings(nil),
			observed: `{spec: {type: LoadBalancer, ` + port + `}, status: {loadBalancer: {ingress: [{ipMode: VIP}]}}}`,
			live:     true,
		},
		"a LoadBalancer with addresses": {
			settings: settings(nil),
			observed: `{spec: {type: LoadBalancer, clusterIP: 10.0.0.1, ` + port + `}, status: {loadBalancer: {ingress: [{ip: 192.0.2.1}, {hostname: lb.example.com}]}}}`,
			addresses: []service.Address{
				{Type: service.IPAddress, Value: "192.0.2.1"}, {Type: service.Hostname, Value: "lb.example.com"},
			},
			addressed: true, live: true,
		},
		"a ClusterIP of both families": {
			settings: settings(nil),
			observed: `{spec: {type: ClusterIP, clusterIP: 10.0.0.1, clusterIPs: [10.0.0.1, "fd00::1"], ` + port + `}}`,
			addresses: []service.Address{
				{Type: service.IPAddress, Value: "10.0.0.1"}, {Type: service.IPAddress, Value: "fd00::1"},
			},
			addressed: true, live: true,
		},
		"a NodePort": {
			settings:  settings(nil),
			observed:  `{spec: {type: NodePort, clusterIP: 10.0.0.1, ` + port + `}}`,
			addresses: []service.Address{{Type: service.IPAddress, Value: "10.0.0.1"}},
			addressed: true, live: true,
		},
		"a ClusterIP without an address yet": {
			settings: settings(nil),
			observed: `{spec: {type: ClusterIP, ` + port + `}}`,
			live:     true,
		},
		"a headless Service promises no address": {
			settings:  settings(nil),
			observed:  `{spec: {type: ClusterIP, clusterIP: None, clusterIPs: [None], ` + port + `}}`,
			addressed: true, live: true,
		},
		"another port is not live": {
			settings:  settings(nil),
			observed:  `{spec: {type: ClusterIP, clusterIP: 10.0.0.1, ports: [{name: tcp-23, port: 23, protocol: TCP, targetPort: 23}]}}`,
			addresses: []service.Address{{Type: service.IPAddress, Value: "10.0.0.1"}},
			addressed: true,
		},
		"a Service that is being deleted is neither": {
			settings:  settings(nil),
			observed:  `{metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}, spec: {type: ClusterIP, clusterIP: 10.0.0.1, ` + port + `}}`,
			addresses: []service.Address{{Type: service.IPAddress, Value: "10.0.0.1"}},
		},
		"type None promises nothing": {
			settings:  settings(func(s *service.Settings) { s.Type = service.None }),
			addressed: true, live: true,
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			got := service.Observe(tc.settings, observed(t, tc.observed))
			assert.Equal(t, tc.addresses, got.Addresses)
			assert.Equal(t, tc.addressed, got.Addressed(), "addressed")
			assert.Equal(t, tc.live, got.Live(22), "live")
		})
	}
}

func TestProblems(t *testing.T) {
	tests := map[string]struct {
		settings service.Settings
		observed string
		want     []string
	}{
		"the chart's Service has none": {settings: settings(nil), observed: chart},
		"no Service has none":          {settings: settings(nil)},
		"a port without a name": {
			settings: settings(nil),
			observed: `{spec: {ports: [{port: 80}]}}`,
			want:     []string{"Port 80/TCP of Service ingress-nginx/nginx-stream-tcp has no name, which is required once there is a second port; give it one."},
		},
		"a number of both protocols": {
			settings: settings(nil),
			observed: `{spec: {ports: [{name: h2, port: 443}, {name: h3, port: 443, protocol: UDP}]}}`,
			want:     []string{"Service ingress-nginx/nginx-stream-tcp has port 443 for TCP and for UDP, which cannot be merged; move one of them to another Service."},
		},
		"a headless Service": {
			settings: settings(func(s *service.Settings) { s.Type = "NodePort" }),
			observed: `{spec: {type: ClusterIP, clusterIP: None}}`,
			want:     []string{"Service ingress-nginx/nginx-stream-tcp is headless and cannot become a NodePort; let it be made anew, or set service.type to ClusterIP."},
		},
		"source ranges of others": {
			settings: settings(func(s *service.Settings) { s.Type = "ClusterIP" }),
			observed: `{spec: {type: LoadBalancer, loadBalancerSourceRanges: [10.0.0.0/8]}}`,
			want:     []string{"Service ingress-nginx/nginx-stream-tcp has source ranges, which only a LoadBalancer may have, and cannot become a ClusterIP; remove them from it first."},
		},
		"source ranges of others in an annotation": {
			settings: settings(func(s *service.Settings) { s.Type = "ClusterIP" }),
			observed: `{metadata: {annotations: {service.beta.kubernetes.io/load-balancer-source-ranges: 10.0.0.0/8}}, spec: {type: LoadBalancer}}`,
			want:     []string{"Service ingress-nginx/nginx-stream-tcp has source ranges, which only a LoadBalancer may have, and cannot become a ClusterIP; remove them from it first."},
		},
		"a class of load balancers that came too late": {
			settings: settings(func(s *service.Settings) { s.LoadBalancerClass = "example.com/nlb" }),
			observed: `{spec: {type: LoadBalancer}}`,
			want:     []string{"The loadBalancerClass of Service ingress-nginx/nginx-stream-tcp cannot be changed any more; leave service.loadBalancerClass out, or let the Service be made anew."},
		},
		"the class of load balancers that it has": {
			settings: settings(func(s *service.Settings) { s.LoadBalancerClass = "example.com/nlb" }),
			observed: `{spec: {type: LoadBalancer, loadBalancerClass: example.com/nlb}}`,
		},
		"a selector that only adds to that of others": {
			settings: settings(func(s *service.Settings) { s.SelectorExplicit = true }),
			observed: chart,
			want:     []string{"The selector of Service ingress-nginx/nginx-stream-tcp has the label chart, which the class does not have; remove it from the Service, or add it to the class."},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			assert.Equal(t, tc.want, service.Observe(tc.settings, observed(t, tc.observed)).Problems)
		})
	}
}

func TestLimit(t *testing.T) {
	no, yes := false, true
	tests := map[string]struct {
		change func(*service.Settings)
		want   int
	}{
		"the wanted limit":                     {func(s *service.Settings) { s.MaxPorts = 50 }, 50},
		"a LoadBalancer takes node ports":      {func(s *service.Settings) { s.MaxPorts = 5000 }, 2000},
		"also if it says so":                   {func(s *service.Settings) { s.MaxPorts, s.AllocateNodePorts = 5000, &yes }, 2000},
		"unless it does not":                   {func(s *service.Settings) { s.MaxPorts, s.AllocateNodePorts = 5000, &no }, 5000},
		"a NodePort takes them always":         {func(s *service.Settings) { s.Type, s.MaxPorts, s.AllocateNodePorts = "NodePort", 5000, &no }, 2000},
		"a ClusterIP takes none":               {func(s *service.Settings) { s.Type, s.MaxPorts = "ClusterIP", 5000 }, 5000},
		"where there is no Service, none goes": {func(s *service.Settings) { s.Type, s.MaxPorts = service.None, 5000 }, 5000},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			s := settings(tc.change)
			assert.Equal(t, tc.want, s.Limit())
		})
	}
}
