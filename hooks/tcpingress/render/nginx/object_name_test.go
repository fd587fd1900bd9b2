package nginx

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// Kubernetes bounds the name of a TCPIngress as a whole: a part of it may be longer
// than a DNS label, and is written all the same.
func TestLongNamesOfTCPIngresses(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("q", 253)
	l := l4.Listener{
		Owner:    l4.Owner{Namespace: "data", Name: long, Rule: "a"},
		Protocol: l4.TCP, Port: 8402,
		Backend: l4.Backend{Namespace: "data", Service: "s", Port: 80},
	}
	assert.True(t, canWrite(&l))
	l.Owner.Name = long + "q"
	assert.False(t, canWrite(&l))
	l.Owner.Name = "a..b"
	assert.False(t, canWrite(&l))
}
