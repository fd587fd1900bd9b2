package tcpingress

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
)

// What is refused for a pool is what the data plane reserves: a pool of one port is
// right exactly where that port could be given.
func TestReservedPortsAreThoseOfTheDataPlane(t *testing.T) {
	t.Parallel()
	tests := map[string]string{
		"ingress-nginx":                          `{}`,
		"ingress-nginx with ports of its own":    `{ingressNginx: {reservedPorts: [22, 9000]}}`,
		"our nginx":                              `{provider: Nginx}`,
		"our nginx with ports of its own":        `{provider: Nginx, nginx: {reservedPorts: [22, 9000, 32767, 61000]}}`,
		"our nginx with ephemeral ports apart":   `{provider: Nginx, nginx: {ipLocalPortRange: {from: 2000, to: 4000}}}`,
		"our nginx, settings of the other given": `{provider: Nginx, ingressNginx: {reservedPorts: [22]}}`,
	}
	for name, text := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var spec crdv1.TCPIngressClassSpec
			require.NoError(t, yaml.UnmarshalStrict([]byte(text), &spec))
			spec.Namespace = "nginx"
			layout := layoutOf("nginx", &spec, "")
			plane := (&classInput{}).observe(&layout, clock()).dataplane()
			spec.Ports = &crdv1.ClassPorts{Pool: &crdv1.PortRange{}}
			for port := int32(1); port <= 65535; port++ {
				spec.Ports.Pool.From, spec.Ports.Pool.To = port, port
				refused := len(validate.Class(&spec, "nginx")) > 0
				if plane.Reserved(l4.TCP, port) != refused {
					assert.Equal(t, plane.Reserved(l4.TCP, port), refused, "port %d", port)
				}
			}
		})
	}
}
