package resolve

import (
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

func TestARuleBecomesAListener(t *testing.T) {
	t.Parallel()
	full := rule("db=8443/TCP b.org,*.a.org -> pg:db +accept +send")
	full.AllowSources = []string{"192.0.2.0/24", "2001:db8::/32", "10.0.0.0/8", "10.0.0.0/16"}
	full.Timeouts = &crdv1.Timeouts{Connect: "1m30s", Idle: "500ms"}
	full.Limits = &crdv1.Limits{ConnectionsPerClient: 7}
	owner := l4.Owner{Namespace: "a", Name: "x", Rule: "db"}
	tests := map[string]struct {
		rule crdv1.Rule
		want l4.Listener
	}{
		"with everything, lists sorted": {full, l4.Listener{
			Owner: owner, Protocol: l4.TCP, Port: 8443, Hosts: []string{"*.a.org", "b.org"}, AcceptProxy: true, SendProxy: l4.SendV1,
			AllowSources: []netip.Prefix{
				netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("10.0.0.0/16"),
				netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32"),
			},
			ConnectTimeout: 90 * time.Second, IdleTimeout: 500 * time.Millisecond, ConnectionsPerClient: 7,
			Backend: l4.Backend{Namespace: "a", Service: "pg", PortName: "db"},
		}},
		"with nothing": {rule("1 -> x:2"), l4.Listener{
			Owner: owner, Protocol: l4.TCP, Port: 1, Backend: l4.Backend{Namespace: "a", Service: "x", Port: 2},
		}},
		"of a range": {rule("1-3/UDP -> x"), l4.Listener{
			Owner: owner, Protocol: l4.UDP, Port: 1, EndPort: 3, Backend: l4.Backend{Namespace: "a", Service: "x"},
		}},
		"of a range of one port": {rule("3-3/UDP -> x"), l4.Listener{
			Owner: owner, Protocol: l4.UDP, Port: 3, Backend: l4.Backend{Namespace: "a", Service: "x", Port: 3},
		}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			before := *tc.rule.DeepCopy()
			assert.Equal(t, tc.want, listenerOf(&tc.rule, owner))
			assert.Equal(t, before, tc.rule)
		})
	}
}
