package bundle

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

func TestHeader(t *testing.T) {
	redis := l4.Backend{Namespace: "data", Service: "redis", Port: 6379}
	tests := map[string]Header{
		"# 6379/TCP data/redis/tcp-6379 -> data/redis:6379": {
			Key: l4.Key{Protocol: l4.TCP, Port: 6379}, Owner: "data/redis/tcp-6379", Entry: l4.Entry{Backend: redis},
		},
		"# 30000-30100/UDP game/world/udp -> game/world:*": {
			Key: l4.Key{Protocol: l4.UDP, Port: 30000}, EndPort: 30100, Owner: "game/world/udp",
			Entry: l4.Entry{Backend: l4.Backend{Namespace: "game", Service: "world"}},
		},
		"# 8443/TCP/*.example.com data/db/tls -> data/redis:6379 accept send=V1": {
			Key: l4.Key{Protocol: l4.TCP, Port: 8443, Host: "*.example.com"}, Owner: "data/db/tls",
			Entry: l4.Entry{Backend: redis, AcceptProxy: true, SendProxy: l4.SendV1},
		},
		"# 8443/TCP/db.example.com data/db/tls -> data/redis:6379 digest=0a1b2c3d": {
			Key: l4.Key{Protocol: l4.TCP, Port: 8443, Host: "db.example.com"}, Owner: "data/db/tls",
			Entry: l4.Entry{Backend: redis}, Digest: "0a1b2c3d",
		},
	}
	for line, want := range tests {
		t.Run(line, func(t *testing.T) {
			assert.Equal(t, line, want.String())
			got, ok := ParseHeader(line)
			require.True(t, ok)
			assert.Equal(t, want, got)
		})
	}
}

func TestParseHeaderRejects(t *testing.T) {
	for _, line := range []string{
		"",
		"# a comment",
		"# 6379/TCP data/redis/tcp-6379",
		"# 6379/SCTP data/redis/tcp-6379 -> data/redis:6379",
		"# 0/TCP data/redis/tcp-6379 -> data/redis:6379",
		"# 06379/TCP data/redis/tcp-6379 -> data/redis:6379",
		"# 70000/TCP data/redis/tcp-6379 -> data/redis:6379",
		"# 6379-6379/TCP data/redis/tcp-6379 -> data/redis:*",
		"# 6379-6378/TCP data/redis/tcp-6379 -> data/redis:*",
		"# 6379/TCP data/redis -> data/redis:6379",
		"# 6379/TCP data/redis/tcp-6379 -> redis:6379",
		"# 6379/TCP data/redis/tcp-6379 -> data/redis",
		"# 6379/TCP data/redis/tcp-6379 -> data/redis:6379 send=V2",
		"# 6379/TCP data/redis/tcp-6379 -> data/redis:6379 send=V1 accept",
		"# 6379/TCP data/redis/tcp-6379 -> data/redis:6379 ",
		" # 6379/TCP data/redis/tcp-6379 -> data/redis:6379",
	} {
		_, ok := ParseHeader(line)
		assert.False(t, ok, line)
	}
}
