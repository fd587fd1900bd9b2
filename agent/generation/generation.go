// Package generation makes of the files that were mounted what nginx loads: it adds
// what only the pod knows, names the whole by its content, and keeps it in the
// directory that is shared with nginx. No process is started or signalled here.
package generation

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// nameLength is in hex digits: 64 bits are enough not to meet by chance.
const nameLength = 16

const defaultResolverTimeout = "2s"

// Pod is what the agent knows and the renderer does not.
type Pod struct {
	// SharedDir is the absolute path of the directory that this nginx shares.
	SharedDir string
	// LoadModules are paths of dynamic modules, none for the official image.
	LoadModules []string
	// ResolvConf is the content of the pod's /etc/resolv.conf.
	ResolvConf string
	// IPv4Only is whether the kernel has no IPv6.
	IPv4Only bool
}

// Generation is files for nginx.
type Generation struct {
	// Name is made of the content: the same files have the same name.
	Name string
	// Files holds all contents by file name.
	Files map[string]string
}

// Split parts the files of a set: those for TCP, and those for UDP, whose main file gets
// the name that it has in every generation.
func Split(contents map[string]string) (tcp, udp map[string]string) {
	tcp, udp = map[string]string{}, map[string]string{}
	for name, text := range contents {
		switch {
		case name == bundle.UDPFile:
			udp[bundle.MainFile] = text
		case strings.HasPrefix(name, bundle.UDPPrefix):
			udp[name] = text
		default:
			tcp[name] = text
		}
	}
	return tcp, udp
}

// New adds the pod's own files to those for one of the two.
func New(index *bundle.Index, contents map[string]string, pod *Pod) (*Generation, error) {
	resolver, err := resolverConf(index, pod)
	if err != nil {
		return nil, err
	}
	var modules strings.Builder
	for _, path := range pod.LoadModules {
		modules.WriteString("load_module " + quote(path) + ";\n")
	}
	g := &Generation{Files: maps.Clone(contents)}
	if pod.IPv4Only {
		for name, text := range g.Files {
			g.Files[name] = withoutIPv6(text)
		}
	}
	g.Files[bundle.ModulesFile] = modules.String()
	g.Files[bundle.ResolverFile] = resolver
	g.Name = name(g.Files)
	socket := filepath.Join(pod.SharedDir, bundle.GenerationSocket(g.Name))
	g.Files[bundle.GenerationFile] = fmt.Sprintf("server {\n    listen %s;\n    access_log off;\n    return %s;\n}\n", quote("unix:"+socket), g.Name)
	return g, nil
}

// withoutIPv6 leaves out what a kernel without IPv6 cannot listen on: nginx would not
// start.
func withoutIPv6(text string) string {
	var kept strings.Builder
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(strings.TrimLeft(line, " "), bundle.ListenIPv6) {
			kept.WriteString(line)
		}
	}
	return kept.String()
}

// name writes the length before each text, so that no two sets read the same.
func name(files map[string]string) string {
	sum := sha256.New()
	for _, file := range slices.Sorted(maps.Keys(files)) {
		_, _ = fmt.Fprintf(sum, "%d %s %d %s", len(file), file, len(files[file]), files[file])
	}
	return hex.EncodeToString(sum.Sum(nil))[:nameLength]
}

func resolverConf(index *bundle.Index, pod *Pod) (string, error) {
	timeout := index.ResolverTimeout
	if timeout == "" {
		timeout = defaultResolverTimeout
	}
	limit, err := time.ParseDuration(timeout)
	if err != nil || limit < time.Millisecond {
		return "", fmt.Errorf("%s has the resolverTimeout %q, which is no duration such as 2s", bundle.IndexFile, timeout)
	}
	servers := index.Resolvers
	if len(servers) == 0 {
		servers = nameservers(pod.ResolvConf)
	}
	if len(servers) == 0 {
		return "", errors.New("no DNS server is known: neither does the class name one in spec.nginx.resolvers, nor the pod's resolv.conf")
	}
	var addresses []string
	for _, server := range servers {
		address, err := resolverAddress(server)
		if err != nil {
			return "", err
		}
		addresses = append(addresses, address)
	}
	if pod.IPv4Only {
		addresses = append(addresses, "ipv6=off")
	}
	return fmt.Sprintf("resolver %s;\nresolver_timeout %dms;\n", strings.Join(addresses, " "), limit.Milliseconds()), nil
}

func resolverAddress(server string) (string, error) {
	if ip, err := netip.ParseAddr(server); err == nil && ip.Zone() == "" {
		if ip.Is6() {
			return "[" + ip.String() + "]", nil
		}
		return ip.String(), nil
	}
	if both, err := netip.ParseAddrPort(server); err == nil && both.Addr().Zone() == "" {
		return both.String(), nil
	}
	return "", fmt.Errorf("the DNS server %q is no IP address", server)
}

// nameservers leaves out addresses with a zone, which nginx cannot ask.
func nameservers(resolvConf string) []string {
	var servers []string
	for line := range strings.Lines(resolvConf) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "nameserver" {
			continue
		}
		if _, err := resolverAddress(fields[1]); err == nil {
			servers = append(servers, fields[1])
		}
	}
	return servers
}

// quote makes one word of nginx's configuration.
func quote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}
