package resolve

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// The settled book, as lines "ns/name rule: port reason".
func TestResolveSettlesClaims(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		world *World
		dp    fake
		want  map[string]string
	}{
		"of two newcomers the older gets the port": {
			world: newWorld(
				ti("team-b/db", 2, "3306/TCP -> mysql:3306"),
				ti("team-a/db", 1, "3306/TCP -> mysql:3306"),
			),
			want: map[string]string{
				"team-a/db tcp-3306": "3306/TCP",
				"team-b/db tcp-3306": "3306/TCP PortConflict",
			},
		},
		"of two of the same second the lower namespace gets the port": {
			world: newWorld(
				ti("team-b/a", 1, "3306/TCP -> mysql:3306"),
				ti("team-a/b", 1, "3306/TCP -> mysql:3306"),
			),
			want: map[string]string{
				"team-a/b tcp-3306": "3306/TCP",
				"team-b/a tcp-3306": "3306/TCP PortConflict",
			},
		},
		"a namespace is compared before a name, not as one string": {
			world: newWorld(
				ti("a-b/x", 1, "3306/TCP -> mysql:3306"),
				ti("a/x", 1, "3306/TCP -> mysql:3306"),
			),
			want: map[string]string{
				"a/x tcp-3306":   "3306/TCP",
				"a-b/x tcp-3306": "3306/TCP PortConflict",
			},
		},
		"the other rules of a loser work": {
			world: newWorld(
				ti("team-a/db", 1, "3306/TCP -> mysql:3306"),
				ti("team-b/db", 2, "3306/TCP -> mysql:3306; 3307/TCP -> mysql:3306"),
			),
			want: map[string]string{
				"team-a/db tcp-3306": "3306/TCP",
				"team-b/db tcp-3306": "3306/TCP PortConflict",
				"team-b/db tcp-3307": "3307/TCP",
			},
		},
		"TCP and UDP are separate books": {
			world: newWorld(
				ti("voip/sip", 1, "5060/TCP -> sip:5060; 5060/UDP -> sip:5060"),
				ti("other/sip", 2, "5060/UDP -> sip:5060"),
			),
			want: map[string]string{
				"voip/sip tcp-5060":  "5060/TCP",
				"voip/sip udp-5060":  "5060/UDP",
				"other/sip udp-5060": "5060/UDP PortConflict",
			},
		},
		"ranges overlap as ranges": {
			world: newWorld(
				ti("a/ftp", 1, "30000-30010/TCP -> ftp"),
				ti("b/one", 2, "30010/TCP -> x:1"),
				ti("c/two", 3, "30011/TCP -> x:1"),
				ti("d/three", 4, "29990-30000/TCP -> x"),
				ti("e/four", 5, "30000-30010/UDP -> x"),
			),
			want: map[string]string{
				"a/ftp tcp-30000":   "30000-30010/TCP",
				"b/one tcp-30010":   "30010/TCP PortConflict",
				"c/two tcp-30011":   "30011/TCP",
				"d/three tcp-29990": "29990-30000/TCP PortConflict",
				"e/four udp-30000":  "30000-30010/UDP",
			},
		},
		"hosts share a port, if they differ": {
			world: newWorld(
				ti("a/db", 1, "8443/TCP db.example.com -> a:1"),
				ti("b/db", 2, "8443/TCP mq.example.com -> a:1"),
				ti("c/db", 3, "8443/TCP mq.example.com -> a:1"),
				ti("d/db", 4, "8443/TCP -> a:1"),
			),
			want: map[string]string{
				"a/db tcp-8443": "8443/TCP",
				"b/db tcp-8443": "8443/TCP",
				"c/db tcp-8443": "8443/TCP HostConflict",
				"d/db tcp-8443": "8443/TCP PortConflict",
			},
		},
		"a port that is held as a whole is not shared": {
			world: newWorld(
				ti("a/db", 1, "8443/TCP -> a:1"),
				ti("b/db", 2, "8443/TCP mq.example.com -> a:1"),
			),
			want: map[string]string{
				"a/db tcp-8443": "8443/TCP",
				"b/db tcp-8443": "8443/TCP PortConflict",
			},
		},
		"rules that share a port agree on the PROXY protocol": {
			world: newWorld(
				ti("a/db", 1, "8443/TCP a.example.com -> a:1 +accept"),
				ti("b/db", 2, "8443/TCP b.example.com -> a:1"),
				ti("c/db", 3, "8443/TCP c.example.com -> a:1 +accept"),
			),
			want: map[string]string{
				"a/db tcp-8443": "8443/TCP",
				"b/db tcp-8443": "8443/TCP HostConflict",
				"c/db tcp-8443": "8443/TCP",
			},
		},
		"a wildcard takes no host of another namespace, and the other way round": {
			world: newWorld(
				ti("a/db", 1, "8443/TCP *.example.com -> a:1"),
				ti("a/more", 2, "8443/TCP db.example.com -> a:1"),
				ti("b/db", 3, "8443/TCP mq.example.com -> a:1"),
				ti("b/other", 4, "8443/TCP mq.example.org -> a:1"),
				ti("c/db", 5, "8443/TCP *.example.org -> a:1"),
				ti("c/apex", 6, "8443/TCP example.com -> a:1"),
			),
			want: map[string]string{
				"a/db tcp-8443":    "8443/TCP",
				"a/more tcp-8443":  "8443/TCP",
				"b/db tcp-8443":    "8443/TCP HostConflict",
				"b/other tcp-8443": "8443/TCP",
				"c/db tcp-8443":    "8443/TCP HostConflict",
				"c/apex tcp-8443":  "8443/TCP",
			},
		},
		"a number that somebody else's Service port has is given to nobody": {
			world: taken(newWorld(ti("a/web", 1, "8080/TCP -> a:1; 8079-8081/UDP -> a"))),
			want: map[string]string{
				"a/web tcp-8080": "8080/TCP PortConflict",
				"a/web udp-8079": "8079-8081/UDP PortConflict",
			},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			assert.Equal(t, tc.want, verdicts(Resolve(tc.world, &tc.dp)))
		})
	}
}
