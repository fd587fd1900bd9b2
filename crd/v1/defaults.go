package v1

// What fields that are left out mean. The API server fills in none of these:
// that a field was left out must stay visible.
const (
	// DefaultTCPConfigMapName and DefaultUDPConfigMapName are what a plain
	// installation of ingress-nginx reads.
	DefaultTCPConfigMapName = "tcp-services"
	DefaultUDPConfigMapName = "udp-services"
	// DefaultTCPNameSuffix and DefaultUDPNameSuffix make the name of a Service
	// from the name of its class.
	DefaultTCPNameSuffix = "-stream-tcp"
	DefaultUDPNameSuffix = "-stream-udp"
	// DefaultMaxPorts is how many ports one Service may have.
	DefaultMaxPorts = 1000
	// MaxPortsWithNodePorts is the limit while each port takes a node port too.
	MaxPortsWithNodePorts = 2000
	// MaxClassName is the length of a class's name from which every derived name fits.
	MaxClassName = 52
	// DefaultNginxNameSuffix makes the name of the Deployment of provider Nginx, and of
	// all that belongs to it, from the name of its class.
	DefaultNginxNameSuffix = "-stream"
	// DefaultNginxImage is the official image in the version that this release was
	// made for, a stable one. nginx and the agent beside it both run in it.
	DefaultNginxImage = "docker.io/library/nginx:1.30.4-alpine"
	// DefaultAgentImage brings the agent's binary; releases add their own tag.
	DefaultAgentImage = "ghcr.io/nginx-stream/tcpingress"
	// The settings of provider Nginx.
	DefaultClusterDomain      = "cluster.local"
	DefaultResolverTimeout    = "2s"
	DefaultReloadInterval     = "2s"
	DefaultMaxOldWorkers      = 16
	DefaultPropagationSeconds = 90
	DefaultSwitchDrainSeconds = 300
	// DefaultEphemeralFrom and DefaultEphemeralTo are the ports that outgoing
	// connections take, unless the class moves them.
	DefaultEphemeralFrom = 32768
	DefaultEphemeralTo   = 60999
	// NginxAgentPort is the port of the agent beside the nginx of provider Nginx, which
	// no rule can have.
	NginxAgentPort = 10270
)

// DefaultReservedPorts are the ports that the pod of an ingress-nginx controller
// uses itself: HTTP and HTTPS, TLS passthrough, its default server, the chart's
// admission webhook, profiler, status, stream configuration, health and syslog.
func DefaultReservedPorts() []int32 {
	return []int32{80, 442, 443, 8181, 8443, 10245, 10246, 10247, 10254, 11514}
}
