package nginx

import (
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// mostUDPSockets is how many an nginx can be handed: their numbers are in one
// environment variable, and Linux ends those at 128 KiB.
const mostUDPSockets = 18_000

// udpHead has, for every port, two sockets in each worker. With reuseport, each worker
// holds the sockets of all. Without a port there is nothing to do.
func (p *Provider) udpHead(ports int) head {
	h := head{
		workers: 1, errorLog: bundle.UDPErrorLog,
		// When an nginx is told to end, nobody waits for its sessions any more; they are to
		// be written to the log.
		directives: "worker_shutdown_timeout 1s;\n",
	}
	if ports > 0 {
		h.workers = max(1, min(p.config.Workers, mostUDPSockets/(2*ports)))
		h.sockets, h.sessions = roundUp(2*ports*h.workers), p.config.Sessions
	}
	return h
}

// udpFile renders the main file of the nginx for UDP, which includes the files of UDP
// that there are. It names no pid: several of that nginx live beside each other while
// one follows the other, and who starts them says where each has its own.
func (p *Provider) udpFile(has func(file string) bool, ports int) string {
	var b block
	p.head(&b, p.udpHead(ports))
	b.WriteString(setByServers + "\n")
	b.line("log_format session escape=json", sessionFormat("$listener", "$owner"))
	p.access(&b, "session", "")
	b.line("include", bundle.GenerationFile)
	b.includes("", packets, has)
	b.WriteString("}\n")
	return b.String()
}
