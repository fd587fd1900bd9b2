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
// empty are texts.
func sessionFormat(owner string) string {
	return `{"t":$msec,"l":"$listener","o":"` + owner + `","s":$status,"d":$session_time,"out":$bytes_sent,"rcv":$bytes_received,` +
		`"ua":"$upstream_addr","us":"$upstream_bytes_sent","ur":"$upstream_bytes_received","uc":"$upstream_connect_time","sni":"$ssl_preread_server_name"}`
}

// spare is how many connections a worker needs besides sessions and listeners: DNS,
// channels to the master, the generation's socket.
const spare = 64

// mainFile renders nginx.conf for server files that listen on so many sockets.
func (p *Provider) mainFile(files []string, sockets int) string {
	var b block
	connections := sockets + 2*p.config.Sessions + spare
	b.WriteString("# Written by TCPIngress. Changes made here are lost.\n")
	fmt.Fprintf(&b, "include %s;\n", bundle.ModulesFile)
	fmt.Fprintf(&b, "worker_processes %d;\n", p.config.Workers)
	fmt.Fprintf(&b, "worker_rlimit_nofile %d;\n", connections+spare)
	fmt.Fprintf(&b, "pid %s;\n", p.path(bundle.PIDFile))
	b.WriteString("error_log stderr warn;\n")
	fmt.Fprintf(&b, "error_log %s warn;\n", p.path(errorLog))
	b.WriteString("events {\n")
	b.line("worker_connections", fmt.Sprint(connections))
	b.WriteString("}\nstream {\n")
	b.line("include", bundle.ResolverFile)
	b.line("map_hash_max_size 65536")
	b.line("map_hash_bucket_size 512")
	b.line("variables_hash_max_size 65536")
	b.line("proxy_socket_keepalive on")
	for _, prefix := range p.config.TrustedProxies {
		b.line("set_real_ip_from", prefix.String())
	}
	// What servers set; the maps give an empty value where none does.
	for _, name := range []string{"$listener", "$owner"} {
		b.WriteString("    map \"\" " + name + " {\n    ")
		b.line(`default ""`)
		b.WriteString("    }\n")
	}
	b.line("log_format session escape=json", "'"+sessionFormat("$owner")+"'")
	b.line("access_log", p.path(accessLog), "session buffer=64k flush=1s")
	b.line("include", bundle.GenerationFile)
	for _, name := range files {
		b.line("include", name)
	}
	b.WriteString("}\n")
	return b.String()
}
