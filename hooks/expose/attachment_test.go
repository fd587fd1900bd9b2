package expose

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

func newService(ports ...servicePort) *service {
	s := &service{}
	s.Name, s.Namespace = "store", "data"
	s.Spec.Ports = ports
	return s
}

func TestDesiredLeadsTo(t *testing.T) {
	redis := servicePort{Name: "redis", Port: 6379}
	dns := servicePort{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP}
	dnsTCP := servicePort{Name: "dns-tcp", Port: 53, Protocol: corev1.ProtocolTCP}
	metrics := servicePort{Name: "metrics", Port: 9153}
	long := servicePort{Name: "a-name-of-more-than-15-characters", Port: 7000}
	cases := map[string]struct {
		ports      []servicePort
		annotation string
		want       string
	}{
		"the port of the same number":      {[]servicePort{redis, metrics}, "6379", "store: 6379 -> 6379"},
		"the sole port, if no number fits": {[]servicePort{redis}, "16379", "store: 16379 -> 6379"},
		"the sole port of that protocol":   {[]servicePort{redis, dns}, "16379, 10053/UDP", "store: 16379 -> 6379; store-udp: 10053/UDP -> 53"},
		"a name":                           {[]servicePort{redis, metrics}, "80:metrics", "store: 80 -> metrics"},
		"a number":                         {[]servicePort{redis, metrics}, "80:9153", "store: 80 -> 9153"},
		"a name too long for a TCPIngress, by its number":    {[]servicePort{redis, long}, "80:a-name-of-more-than-15-characters", "store: 80 -> 7000"},
		"one number for both protocols":                      {[]servicePort{dns, dnsTCP}, "53, 53/UDP", "store: 53 -> 53; store-udp: 53/UDP -> 53"},
		"UDP alone, under the name for UDP":                  {[]servicePort{dns}, "53/UDP", "store-udp: 53/UDP -> 53"},
		"a range to the same numbers":                        {[]servicePort{{Port: 8000}, {Port: 8001}}, "8000-8001", "store: 8000-8001 ->"},
		"two ports to one":                                   {[]servicePort{redis}, "1, 2", "store: 1 -> 6379 2 -> 6379"},
		"rules in the order of ports, however it is written": {[]servicePort{redis, metrics}, "9153,6379", "store: 6379 -> 6379 9153 -> 9153"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			list, problem := desired(newService(tc.ports...), tc.annotation)
			require.Empty(t, problem)
			assert.Equal(t, tc.want, describe(list))
		})
	}
}

func describe(list []attachment) string {
	var objects []string
	for _, a := range list {
		text := a.Metadata.Name + ":"
		for _, r := range a.Spec.Rules {
			text += fmt.Sprintf(" %d", r.Port)
			if r.EndPort != 0 {
				text += fmt.Sprintf("-%d", r.EndPort)
			}
			if r.Protocol != "" {
				text += "/" + string(r.Protocol)
			}
			text += " ->"
			if p := r.Backend.Service.Port; p != nil && p.Number != 0 {
				text += fmt.Sprintf(" %d", p.Number)
			} else if p != nil {
				text += " " + p.Name
			}
		}
		objects = append(objects, text)
	}
	return strings.Join(objects, "; ")
}

func TestDesiredComplains(t *testing.T) {
	redis := servicePort{Name: "redis", Port: 6379}
	dns := servicePort{Name: "dns", Port: 53, Protocol: corev1.ProtocolUDP}
	sip := servicePort{Name: "sip", Port: 5060, Protocol: corev1.ProtocolSCTP}
	metrics := servicePort{Port: 9153}
	many := make([]servicePort, 65)
	var entries []string
	for i := range many {
		many[i] = servicePort{Port: int32(7000 + 2*i)}
		entries = append(entries, fmt.Sprint(many[i].Port))
	}
	wide := make([]servicePort, 1025)
	for i := range wide {
		wide[i] = servicePort{Port: int32(20000 + i)}
	}
	cases := map[string]struct {
		change     func(*service)
		ports      []servicePort
		annotation string
		want       string
	}{
		"several ports to choose from": {nil, []servicePort{redis, metrics}, "80", `Entry "80" does not say which port of the Service it leads to: write one after a colon, as in "80:6379"; it has 6379 (redis), 9153.`},
		"no port of that protocol":     {nil, []servicePort{dns}, "80", `Entry "80" is TCP, and the Service has no TCP port: it has 53/UDP (dns).`},
		"no port at all":               {nil, nil, "80", `Entry "80" is TCP, and the Service has no TCP port: it has no ports.`},
		"an unknown number":            {nil, []servicePort{redis}, "80:81", `Entry "80:81" names the port 81, which the Service does not have: it has 6379 (redis).`},
		"an unknown name":              {nil, []servicePort{redis}, "80:http", `Entry "80:http" names the port "http", which the Service does not have: it has 6379 (redis).`},
		"a number that is UDP only, though there is one TCP port": {nil, []servicePort{dns, metrics}, "53", `Entry "53" is TCP, but port 53/UDP (dns) of the Service is UDP only: write "53/UDP".`},
		"a Service port that is UDP only":                         {nil, []servicePort{dns, metrics}, "5353:53", `Entry "5353:53" is TCP, but port 53/UDP (dns) of the Service is UDP only: write "5353:53/UDP".`},
		"a name that is UDP":                                      {nil, []servicePort{dns}, "53:dns/tcp", `Entry "53:dns/tcp" is TCP, but port 53/UDP (dns) of the Service is UDP only: write "53:dns/UDP".`},
		"a name that is TCP":                                      {nil, []servicePort{redis}, "53:redis/UDP", `Entry "53:redis/UDP" is UDP, but port 6379 (redis) of the Service is TCP only: write "53:redis/TCP".`},
		"SCTP":                                                    {nil, []servicePort{sip}, "5060", `Entry "5060" leads to port 5060/SCTP (sip) of the Service, and nginx forwards TCP and UDP only: name another port.`},
		"a range with a hole":                                     {nil, []servicePort{{Port: 8000}, {Port: 8002}}, "8000-8002", `Entry "8000-8002" names the port 8001, which the Service does not have: it has 8000, 8002.`},
		"a port twice":                                            {nil, []servicePort{redis}, "80,81,80:redis", `Entry "80:redis" asks for port 80/TCP, and so does entry "80": leave one of them out.`},
		"a port in a range":                                       {nil, []servicePort{{Port: 8000}, {Port: 8001}}, "8001, 8000-8001", `Entry "8001" asks for port 8001/TCP, and so does entry "8000-8001": leave one of them out.`},
		"many ports are cut short":                                {nil, many[:12], "80", `Entry "80" does not say which port of the Service it leads to: write one after a colon, as in "80:7000"; it has 7000, 7002, 7004, 7006, 7008, 7010, 7012, 7014, 4 more.`},
		"more rules than a TCPIngress can have":                   {nil, many, strings.Join(entries, ","), `The TCPIngress store would not be valid, spec.rules[64]: a TCPIngress has at most 64 rules; move this one to another TCPIngress.`},
		"a range that is too wide":                                {nil, wide, "20000-21024", `The TCPIngress store would not be valid, spec.rules[0].endPort: a range has at most 1024 ports; split it into several rules.`},
		"a name too long for UDP": {
			func(s *service) { s.Name = strings.Repeat("a", 60) },
			[]servicePort{dns},
			"53/UDP",
			`The TCPIngress would be named "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...", which is longer than 63 characters: give the Service a shorter name, or write a TCPIngress by hand.`,
		},
		"a Service that only stands for a name": {
			func(s *service) { s.Spec.Type = corev1.ServiceTypeExternalName },
			[]servicePort{redis},
			"6379",
			"The Service is of type ExternalName, which can lead out of the namespace: expose the Service that it stands for.",
		},
		"a class that cannot exist": {
			func(s *service) { s.Annotations = map[string]string{crdv1.AnnotationIngressClass: "No Class"} },
			[]servicePort{redis},
			"6379",
			"",
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			s := newService(tc.ports...)
			if tc.change != nil {
				tc.change(s)
			}
			list, problem := desired(s, tc.annotation)
			assert.Empty(t, list)
			if tc.want == "" {
				assert.True(t, strings.HasPrefix(problem, `The annotation nginx-stream.dev/ingress-class is "No Class": it must `), problem)
				return
			}
			assert.Equal(t, tc.want, problem)
		})
	}
}

func TestTheLongestNameThatFits(t *testing.T) {
	s := newService(servicePort{Port: 53, Protocol: corev1.ProtocolUDP})
	s.Name = strings.Repeat("a", 59)
	list, problem := desired(s, "53/UDP")
	require.Empty(t, problem)
	require.Len(t, list, 1)
	assert.Len(t, list[0].Metadata.Name, 63)
}
