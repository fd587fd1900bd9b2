package validate

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

func TestWarnings(t *testing.T) {
	const (
		privileged = ": ports below 1024 need an nginx that may bind them"
		proxy      = ": only a load balancer that speaks the PROXY protocol can connect; other clients are cut off"
		twice      = ": TCP and UDP have a Service each, so this number has two addresses"
	)
	tests := map[string]struct {
		rules string
		want  []string
	}{
		"nothing to say":                  {`[{"port":6379},{"port":6380,"protocol":"UDP"},{"name":"pool"}]`, nil},
		"the first unprivileged port":     {`[{"port":1024}]`, nil},
		"the last privileged port":        {`[{"port":1023}]`, []string{"spec.rules[0].port" + privileged}},
		"a range that begins there":       {`[{"port":1000,"endPort":1100}]`, []string{"spec.rules[0].port" + privileged}},
		"several are one warning":         {`[{"port":21},{"port":22},{"port":9000},{"port":23},{"port":24},{"port":25}]`, []string{"spec.rules[0].port, spec.rules[1].port, spec.rules[3].port and 2 more" + privileged}},
		"PROXY accept":                    {`[{"port":6379,"proxyProtocol":{"accept":true}}]`, []string{"spec.rules[0].proxyProtocol.accept" + proxy}},
		"PROXY send only":                 {`[{"port":6379,"proxyProtocol":{"send":"V1"}}]`, nil},
		"both protocols":                  {`[{"port":5353},{"port":5353,"protocol":"UDP"}]`, []string{"spec.rules[1].port" + twice}},
		"both protocols, by ranges":       {`[{"port":5000,"endPort":5100,"protocol":"UDP"},{"port":5101},{"port":5100}]`, []string{"spec.rules[2].port" + twice}},
		"two numbers":                     {`[{"port":5353},{"port":5354,"protocol":"UDP"}]`, nil},
		"two ports from the pool":         {`[{"name":"a"},{"name":"b","protocol":"UDP"}]`, nil},
		"one protocol, shared by hosts":   {`[{"port":8443,"hosts":["a"]},{"port":8443,"hosts":["b"]}]`, nil},
		"all of it, in an order of kinds": {`[{"port":53,"proxyProtocol":{"accept":true}},{"port":53,"protocol":"UDP"}]`, []string{"spec.rules[0].port, spec.rules[1].port" + privileged, "spec.rules[0].proxyProtocol.accept" + proxy, "spec.rules[1].port" + twice}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var obj crdv1.TCPIngress
			require.NoError(t, json.Unmarshal([]byte(tc.rules), &obj.Spec.Rules))
			assert.Equal(t, tc.want, Warnings(&obj))
		})
	}
}

func TestWarningsFitIntoWhatTheAPIServerShows(t *testing.T) {
	var obj crdv1.TCPIngress
	for i := range int32(maxRules) {
		obj.Spec.Rules = append(obj.Spec.Rules, crdv1.Rule{
			Port: 1 + i/2, Protocol: []crdv1.Protocol{crdv1.ProtocolTCP, crdv1.ProtocolUDP}[i%2],
			ProxyProtocol: &crdv1.ProxyProtocol{Accept: true},
		})
	}
	spec := crdv1.TCPIngressClassSpec{
		Provider:     crdv1.ProviderNginx,
		IngressNginx: &crdv1.IngressNginx{},
		Service:      &crdv1.ClassService{ExternalTrafficPolicy: "Cluster"},
		Ports:        &crdv1.ClassPorts{Allowed: []crdv1.PortRange{{From: 1, To: 1}}},
	}
	for range maxGrants {
		spec.Ports.Grants = append(spec.Ports.Grants, crdv1.PortGrant{Ports: []crdv1.PortRange{{From: 40000, To: 40001}}})
	}
	all := append(Warnings(&obj), ClassWarnings(&spec)...)
	assert.Len(t, all, 8)
	for _, warning := range all {
		assert.LessOrEqual(t, len(warning), 256, warning)
		assert.Contains(t, warning, " and ")
	}
}

func TestClassWarnings(t *testing.T) {
	const (
		idle     = ": these settings belong to another provider, and do nothing"
		reserved = ": nginx itself needs these ports (see reservedPorts), so they stay refused"
		useless  = ": none of these ports is in ports.allowed, so they stay refused"
		shared   = ": an earlier grant gives some of these ports too; whoever asks first holds them"
		hidden   = "spec.service.externalTrafficPolicy: Cluster hides the clients' addresses, so allowSources and limits judge nodes; Local keeps them"
	)
	grants := func(provider, more string, grants ...string) string {
		var list []string
		for i, ports := range grants {
			list = append(list, fmt.Sprintf(`{"namespaces":["n%d"],"ports":[%s]}`, i, ports))
		}
		return fmt.Sprintf(`{"provider":%q,"ports":{"grants":[%s]%s}}`, provider, strings.Join(list, ","), more)
	}
	tests := map[string]struct {
		spec string
		want []string
	}{
		"nothing to say":                       {`{"namespace":"n"}`, nil},
		"settings of nginx for ingress-nginx":  {`{"nginx":{}}`, []string{"spec.nginx" + idle}},
		"settings of ingress-nginx for nginx":  {`{"provider":"Nginx","ingressNginx":{}}`, []string{"spec.ingressNginx" + idle}},
		"Cluster with our nginx":               {`{"provider":"Nginx","service":{"externalTrafficPolicy":"Cluster"}}`, []string{hidden}},
		"Local with our nginx":                 {`{"provider":"Nginx","service":{"externalTrafficPolicy":"Local"}}`, nil},
		"Cluster with ingress-nginx":           {`{"service":{"externalTrafficPolicy":"Cluster"}}`, nil},
		"a grant of a reserved port":           {grants("IngressNginx", "", `{"from":443,"to":443}`), []string{"spec.ports.grants[0].ports[0]" + reserved}},
		"a grant of reserved neighbours":       {grants("", "", `{"from":10245,"to":10247}`), []string{"spec.ports.grants[0].ports[0]" + reserved}},
		"a grant with a reserved port in it":   {grants("", "", `{"from":440,"to":450}`), nil},
		"a grant of what the class reserves":   {`{"ingressNginx":{"reservedPorts":[9]},"ports":{"grants":[{"ports":[{"from":443,"to":443},{"from":9,"to":9}]}]}}`, []string{"spec.ports.grants[0].ports[1]" + reserved}},
		"a grant of ephemeral ports":           {grants("Nginx", "", `{"from":40000,"to":40100}`), []string{"spec.ports.grants[0].ports[0]" + reserved}},
		"a grant of ephemeral ports elsewhere": {grants("IngressNginx", "", `{"from":40000,"to":40100}`), nil},
		"a grant of moved ephemeral ports":     {`{"provider":"Nginx","nginx":{"ipLocalPortRange":{"from":50000,"to":60000},"reservedPorts":[60001]},"ports":{"grants":[{"ports":[{"from":40000,"to":40100},{"from":59999,"to":60001}]}]}}`, []string{"spec.ports.grants[0].ports[1]" + reserved}},
		"a grant of what is not allowed":       {grants("", `,"allowed":[{"from":1,"to":9}]`, `{"from":9,"to":10},{"from":10,"to":11}`), []string{"spec.ports.grants[0].ports[1]" + useless}},
		"grants that overlap":                  {grants("", "", `{"from":5000,"to":5010}`, `{"from":6000,"to":6001},{"from":5010,"to":5020}`), []string{"spec.ports.grants[1]" + shared}},
		"grants side by side":                  {grants("", "", `{"from":5000,"to":5010}`, `{"from":5011,"to":5020}`), nil},
		"ranges of one grant may overlap":      {grants("", "", `{"from":5000,"to":5010},{"from":5005,"to":5020}`), nil},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var spec crdv1.TCPIngressClassSpec
			require.NoError(t, json.Unmarshal([]byte(tc.spec), &spec))
			assert.Equal(t, tc.want, ClassWarnings(&spec))
			for _, r := range reservedRanges(&spec) {
				assert.True(t, isReserved(&spec, r.From) && isReserved(&spec, r.To), "both must say the same of %v", r)
			}
		})
	}
}
