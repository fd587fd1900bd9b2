package agent

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/nginx-stream/tcpingress/agent/sessions"
)

func TestReadServers(t *testing.T) {
	s := readServers(map[string]string{
		"servers-00.conf": `# 6379/TCP data/redis/r -> data/redis:6379
server {
    listen 6379;
    set $listener 6379/TCP;
    set $owner data/redis/r;
    proxy_connect_timeout 1500ms;
    proxy_timeout 3600s;
}
# 1001/TCP a/accepts/r -> a/accepts:1 accept
server {
    proxy_connect_timeout 2s;
    preread_timeout 3s;
}
`,
		"servers-01.conf": `# 8443/TCP/a.example.com a/plain/tls -> a/plain:443 digest=ccd41639
# 8443/TCP/b.example.com b/slow/tls -> b/slow:443 digest=ccd41639
server {
    ssl_preread on;
    preread_timeout 5s;
    set $listener 8443/TCP;
}
# for b/slow/tls
server {
    set $listener 8443/TCP;
    set $owner b/slow/tls;
    proxy_connect_timeout 4s;
}
`,
	})
	assert.Len(t, s.headers, 4)
	assert.Equal(t, map[sessions.Key]sessions.Limits{
		{Listener: "6379/TCP", Owner: "data/redis/r"}: {Connect: 1500 * time.Millisecond},
		{Listener: "1001/TCP", Owner: "a/accepts/r"}:  {Connect: 2 * time.Second, Preread: 3 * time.Second},
		{Listener: "8443/TCP", Owner: "a/plain/tls"}:  {Preread: 5 * time.Second},
		{Listener: "8443/TCP", Owner: "b/slow/tls"}:   {Connect: 4 * time.Second, Preread: 5 * time.Second},
		{Listener: "8443/TCP"}:                        {Preread: 5 * time.Second},
	}, s.limits)
}
