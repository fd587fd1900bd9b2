// Package bundle is what the renderer of provider Nginx hands to the agent beside
// nginx: configuration files, and the index of them. Both sides import it, so that
// neither knows the other. No file is read or written here.
package bundle

import (
	"crypto/sha256"
	"encoding/hex"
)

// Names of files. The renderer writes IndexFile, MainFile and the files that the
// index names. The agent adds the others, because only it knows what is in them;
// MainFile includes them by these relative names.
const (
	// IndexFile holds an Index as JSON.
	IndexFile = "index.json"
	// MainFile is the nginx.conf, which serves TCP.
	MainFile = "nginx.conf"
	// UDPFile is the nginx.conf of the nginx that serves UDP. All files whose names
	// begin with UDPPrefix are for that one, and no other.
	UDPFile   = UDPPrefix + ".conf"
	UDPPrefix = "udp"
	// ModulesFile, in the main context, loads the stream module where nginx does
	// not have it built in; it is empty for the official image.
	ModulesFile = "modules.conf"
	// ResolverFile, in the stream context, says which DNS servers are asked.
	ResolverFile = "resolver.conf"
	// GenerationFile, in the stream context, is the server that answers with the
	// name of the generation.
	GenerationFile = "generation.conf"
)

// ListenIPv6 begins each line that opens a port for IPv6, besides one for IPv4 before it.
// The agent leaves these lines out where the kernel has no IPv6.
const ListenIPv6 = "listen [::]:"

// Places in the pod. Everything is below the directory that the agent and nginx
// share, so that a test can have several of them.
const (
	// MountDir is where the ConfigMaps are mounted, for the agent only.
	MountDir = "/etc/tcpingress"
	// SharedDir is the directory that nginx and the agent share.
	SharedDir = "/run/tcpingress"
	// ConfLink in the shared directory is a symbolic link to the files of one
	// generation; nginx is started with -c <shared>/conf/nginx.conf.
	ConfLink = "conf"
	// PIDFile in the shared directory is written by nginx.
	PIDFile = "nginx.pid"
	// AccessLog in the shared directory has a Session as JSON in each line.
	AccessLog = "log/access.log"
	// ErrorLog in the shared directory is nginx's own.
	ErrorLog = "log/error.log"
	// UDPDir in the shared directory is to the nginx for UDP what the shared directory
	// is to that for TCP: it has ConfLink, PIDFile and GenerationSocket too. Both write
	// one AccessLog.
	UDPDir = "udp"
	// UDPErrorLog in the shared directory is that of the nginx for UDP.
	UDPErrorLog = "log/udp-error.log"
	// AgentPort is where the agent serves /metrics, /readyz and /livez.
	AgentPort = 10270
)

// GenerationSocket gives the path, in the shared directory, of the socket that
// answers with the name of the generation.
func GenerationSocket(generation string) string { return "gen-" + generation + ".sock" }

// Index tells which files belong together, and how the agent shall work. It is in a
// ConfigMap of its own size class: nothing in it grows with the listeners but Files.
type Index struct {
	// Files holds, by name, the Sum of each file, MainFile among them. ConfigMaps
	// may arrive one after the other: until all sums fit, nothing is loaded.
	Files map[string]string `json:"files"`
	// Resolvers are addresses of DNS servers; none means those of /etc/resolv.conf.
	Resolvers []string `json:"resolvers,omitempty"`
	// ResolverTimeout is a duration such as "2s".
	ResolverTimeout string `json:"resolverTimeout,omitempty"`
	// ReloadInterval is the least time between two reloads, such as "2s".
	ReloadInterval string `json:"reloadInterval,omitempty"`
	// MaxOldWorkers is how many workers of earlier generations may live on.
	MaxOldWorkers int `json:"maxOldWorkers,omitempty"`
}

// Sum is the SHA-256 of a file's content, in lower-case hex.
func Sum(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}
