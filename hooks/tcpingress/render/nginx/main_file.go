package nginx

import (
	"fmt"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

const (
	accessLog = bundle.AccessLog
	errorLog  = bundle.ErrorLog
)

// path of a file in the directory that nginx and the agent share.
func (p *Provider) path(name string) string { return p.config.Dir + "/" + name }

// sessionFormat is the log_format of a bundle.Session. Numbers that nginx may leave
// empty are texts. Of $owner and $sni_owner only one has a value.
const sessionFormat = `'{"t":$msec,"l":"$listener","o":"$owner$sni_owner","s":$status,"d":$session_time,` +
	`"out":$bytes_sent,"rcv":$bytes_received,"ua":"$upstream_addr","us":"$upstream_bytes_sent",` +
	`"ur":"$upstream_bytes_received","uc":"$upstream_connect_time","sni":"$ssl_preread_server_name"}'`

const (
	// spare is how many connections a worker needs besides sessions and listeners:
	// DNS, channels to the master, the generation's socket.
	spare = 64
	// socketStep rounds the number of sockets up, so that nginx.conf stays as it is
	// when a listener comes or goes.
	socketStep = 512
)

// totals is what nginx.conf must know of the servers.
type totals struct {
	// sockets is on how many they listen.
	sockets int
	// shared are the ports that are shared by hosts.
	shared []int32
}

func (t *totals) add(u *unit) {
	t.sockets += u.sockets
	if u.shared {
		t.shared = append(t.shared, u.port)
	}
}

// access writes the access log. It is buffered: a worker writes it once a second.
func (p *Provider) access(b *block, condition ...string) {
	b.line(append([]string{"access_log", p.path(accessLog), "session buffer=64k flush=1s"}, condition...)...)
}

// mainFile renders nginx.conf, which includes the files with the servers.
func (p *Provider) mainFile(files []string, t totals) string {
	var b block
	sockets := (t.sockets + socketStep - 1) / socketStep * socketStep
	connections := sockets + 2*p.config.Sessions + spare
	b.WriteString("# Written by TCPIngress. Changes made here are lost.\n")
	fmt.Fprintf(&b, "include %s;\n", bundle.ModulesFile)
	fmt.Fprintf(&b, "worker_processes %d;\n", p.config.Workers)
	fmt.Fprintf(&b, "worker_rlimit_nofile %d;\n", connections+spare)
	fmt.Fprintf(&b, "pid %s;\n", p.path(bundle.PIDFile))
	b.WriteString("error_log stderr warn;\n")
	fmt.Fprintf(&b, "error_log %s warn;\n", p.path(errorLog))
	fmt.Fprintf(&b, "events {\n    worker_connections %d;\n}\n", connections)
	b.WriteString("stream {\n")
	b.line("include", bundle.ResolverFile)
	b.line("map_hash_max_size 65536")
	b.line("map_hash_bucket_size 512")
	b.line("variables_hash_max_size 65536")
	b.line("proxy_socket_keepalive on")
	for _, prefix := range p.config.TrustedProxies {
		b.line("set_real_ip_from", prefix.String())
	}
	b.WriteString(`
    # What the servers set; a log line of a port that is shared by hosts finds the
    # owner by the name that the client asked for.
    map "" $listener {
        default "";
    }
    map "" $owner {
        default "";
    }
    map $server_port $sni_owner {
        default "";
`)
	for _, port := range t.shared {
		fmt.Fprintf(&b, "        %d $sni_%d_owner;\n", port, port)
	}
	b.WriteString(`    }
    # A session that reached the server of its rule, behind a socket, is told of there.
    map "$status $upstream_addr" $told_here {
        default 1;
        "~^200 unix:" 0;
    }

`)
	b.line("log_format session escape=json", sessionFormat)
	p.access(&b)
	b.line("include", bundle.GenerationFile)
	for _, name := range files {
		b.line("include", name)
	}
	b.WriteString("}\n")
	return b.String()
}
