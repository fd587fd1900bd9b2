package nginx

import (
	"strings"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// path of a file in the directory that nginx and the agent share.
func (p *Provider) path(name string) string { return p.config.Dir + "/" + name }

// sessionFormat is the log_format of a bundle.Session. Numbers that nginx may leave
// empty are texts.
func sessionFormat(listener, owner string) string {
	return `'{"t":$msec,"l":"` + listener + `","o":"` + owner + `","s":$status,"d":$session_time,` +
		`"out":$bytes_sent,"rcv":$bytes_received,"ua":"$upstream_addr","us":"$upstream_bytes_sent",` +
		`"ur":"$upstream_bytes_received","uc":"$upstream_connect_time","sni":"$ssl_preread_server_name"}'`
}

const (
	// spare is how many connections a worker needs besides sessions and listeners:
	// DNS, channels to the master, the generation's socket.
	spare = 64
	// socketStep rounds the number of sockets up, so that a main file stays as it is
	// when a listener comes or goes.
	socketStep = 512
)

// access writes the access log. It is buffered: a worker writes it once a second.
func (p *Provider) access(b *block, format, condition string) {
	b.line(strings.TrimSpace("access_log " + p.path(bundle.AccessLog) + " " + format + " buffer=64k flush=1s " + condition))
}

// roundUp gives the number of sockets that there is room for.
func roundUp(sockets int) int { return (sockets + socketStep - 1) / socketStep * socketStep }

// head is what goes before the servers of a main file.
type head struct {
	// workers is the number of worker processes, each with so many sockets and sessions.
	workers, sockets, sessions int
	errorLog                   string
	// directives of the main context.
	directives string
}

func (p *Provider) head(b *block, h head) {
	connections := h.sockets + 2*h.sessions + spare
	b.WriteString("# Written by TCPIngress. Changes made here are lost.\n")
	b.printf("include %s;\n", bundle.ModulesFile)
	b.printf("worker_processes %d;\n", h.workers)
	b.printf("worker_rlimit_nofile %d;\n", connections+spare)
	b.WriteString(h.directives)
	b.WriteString("error_log stderr warn;\n")
	b.printf("error_log %s warn;\n", p.path(h.errorLog))
	b.printf("events {\n    worker_connections %d;\n}\n", connections)
	b.WriteString("stream {\n")
	b.line("include", bundle.ResolverFile)
	b.line("map_hash_max_size 65536")
	b.line("map_hash_bucket_size 512")
}

// setByServers declares the variables that say whose a session is.
const setByServers = `
    # What the servers set.
    map "" $listener {
        default "";
    }
    map "" $owner {
        default "";
    }
`

// mainFile renders nginx.conf, which includes the files of TCP that there are. The
// servers listen on so many sockets.
func (p *Provider) mainFile(has func(file string) bool, sockets int) string {
	var b block
	p.head(&b, head{
		workers: p.config.Workers, sockets: roundUp(sockets), sessions: p.config.Sessions,
		errorLog: bundle.ErrorLog, directives: "pid " + p.path(bundle.PIDFile) + ";\n",
	})
	b.line("proxy_socket_keepalive on")
	// Else a client that says no more loses the answer.
	b.line("proxy_half_close on")
	for _, prefix := range p.config.TrustedProxies {
		b.line("set_real_ip_from", prefix.String())
	}
	b.WriteString(setByServers + `    # On ports that are shared by hosts: where the name leads that the client asked
    # for, and whose it is. A name that nobody has leads nowhere, which closes the
    # connection.
`)
	b.hostMap("$sni_backend", hosts, has)
	b.hostMap("$sni_owner", owners, has)
	b.WriteString(`    # A session that reached the server of its rule, behind a socket, is told of there.
    map "$status $upstream_addr" $told_here {
        default 1;
        "~^200 unix:" 0;
    }

`)
	b.line("log_format session escape=json", sessionFormat("$listener", "$owner$sni_owner"))
	p.access(&b, "session", "")
	b.line("include", bundle.GenerationFile)
	b.includes("", servers, has)
	b.WriteString("}\n")
	return b.String()
}

func (b *block) hostMap(variable, kind string, has func(file string) bool) {
	b.WriteString("    map $ssl_preread_server_name.$server_port " + variable + " {\n")
	b.WriteString("        hostnames;\n        default \"\";\n")
	b.includes("    ", kind, has)
	b.WriteString("    }\n")
}

// includes includes the files of one kind.
func (b *block) includes(indent, kind string, has func(file string) bool) {
	for shard := range shards {
		if name := shardFile(kind, shard); has(name) {
			b.WriteString(indent)
			b.line("include", name)
		}
	}
}
