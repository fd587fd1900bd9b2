package validate

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// special are the bytes that mean something in a ConfigMap value or an nginx configuration.
const special = "/:@;{}\"'$\\#,=~() \t\r\n\x00"

// Rules come as JSON, so that the fuzzer reaches every field.
func FuzzRule(f *testing.F) {
	for _, seed := range []string{
		`{"port":6379,"backend":{"service":{"name":"redis","port":{"number":6379}}}}`,
		`{"name":"tls","port":8443,"hosts":["db.example.com","*.example.com"],"backend":{"service":{"name":"db","port":{"name":"tls"}}},"proxyProtocol":{"accept":true,"send":"V1"}}`,
		`{"port":30000,"endPort":30100,"protocol":"UDP","backend":{"service":{"name":"rtp"}},"allowSources":["10.0.0.0/8"],"timeouts":{"connect":"1s","idle":"1h30m"},"limits":{"connectionsPerClient":7}}`,
		`{"port":-1,"endPort":2147483647,"name":"tcp-1","backend":{"service":{"name":"a/b:1:PROXY","port":{"name":"x;","number":-1}}}}`,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var r crdv1.Rule
		if json.Unmarshal([]byte(text), &r) != nil {
			return
		}
		twice := &crdv1.TCPIngress{Spec: crdv1.TCPIngressSpec{Rules: []crdv1.Rule{r, r}}}
		require.NotEmpty(t, TCPIngress(twice), "the same rule twice has one name or one port")
		if len(Rule(&r, nil)) > 0 {
			return
		}
		words := append([]string{r.Name, RuleName(&r), r.Backend.Service.Name}, r.Hosts...)
		if p := r.Backend.Service.Port; p != nil {
			words = append(words, p.Name)
			assert.True(t, (p.Name == "") != (p.Number == 0))
		}
		for _, word := range words {
			assert.False(t, strings.ContainsAny(word, special), "%q", word)
		}
		assert.True(t, 0 <= r.Port && r.Port <= 65535)
		assert.True(t, r.EndPort == 0 || r.Port > 0 && r.Port <= r.EndPort && r.EndPort <= 65535 && r.EndPort-r.Port < 1024)
		for _, cidr := range r.AllowSources {
			assert.Empty(t, validation.IsValidCIDR(nil, cidr))
		}
		if r.Timeouts != nil {
			for _, d := range []crdv1.Duration{r.Timeouts.Connect, r.Timeouts.Idle} {
				got, err := ParseDuration(d)
				require.NoError(t, err)
				assert.True(t, d == "" || got > 0)
			}
		}
	})
}

func FuzzClass(f *testing.F) {
	for _, seed := range []string{
		`{"namespace":"ingress-nginx"}`,
		`{"provider":"Nginx","namespace":"nginx","nginx":{"image":"nginx:1.29","resolver":["10.96.0.10"],"tolerations":[{"operator":"Exists"}],"resources":{"limits":{"cpu":"1"}},"clusterDomain":"cluster.local"}}`,
		`{"namespace":"n","ingressNginx":{"tcpConfigMapName":"a","selector":{"a":"b"}},"service":{"type":"NodePort","tcpName":"x","annotations":{"a":"b"},"labels":{"c":"d"},"maxPorts":2000,"idlePort":9}}`,
		`{"namespace":"n","ports":{"allowed":[{"from":1,"to":2}],"pool":{"from":1,"to":2},"grants":[{"namespaces":["a"],"ports":[{"from":1,"to":1}]}]},"allowedNamespaces":{"from":"Selector","selector":{"matchExpressions":[{"key":"a","operator":"Exists"}]}}}`,
	} {
		f.Add(seed, "nginx")
	}
	f.Fuzz(func(t *testing.T, text, name string) {
		var spec crdv1.TCPIngressClassSpec
		if json.Unmarshal([]byte(text), &spec) != nil {
			return
		}
		if len(Class(&spec, name)) > 0 {
			return
		}
		assert.Empty(t, ClassUpdate(&spec, &spec, name))
		is := fixed(&spec, name)
		for _, service := range []string{is.tcpName, is.udpName} {
			assert.Empty(t, validation.IsDNS1035Label(service))
		}
		assert.NotEqual(t, is.tcpName, is.udpName)
		for _, configMap := range []string{is.tcpConfigMapName, is.udpConfigMapName} {
			assert.True(t, configMap == "" || len(validation.IsDNS1123Subdomain(configMap)) == 0)
		}
		assert.Empty(t, validation.IsDNS1123Label(is.namespace))
		if n := spec.Nginx; n != nil {
			for _, word := range []string{n.ClusterDomain, n.PriorityClassName} {
				assert.False(t, strings.ContainsAny(word, special), "%q", word)
			}
			assert.False(t, strings.ContainsAny(n.Image, ";{}\"'$\\# \t\r\n\x00"), "%q", n.Image)
		}
	})
}
