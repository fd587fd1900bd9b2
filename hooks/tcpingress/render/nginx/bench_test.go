package nginx_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
)

// many is a large class: n ports, a quarter of them of UDP.
func many(n int) l4.Table {
	table := make(l4.Table, n)
	for i := range table {
		team := fmt.Sprintf("team-%d", i%50)
		l := l4.Listener{
			Owner: l4.Owner{Namespace: team, Name: fmt.Sprintf("redis-%d", i), Rule: "redis"}, Protocol: l4.TCP, Port: int32(10_000 + i),
			Backend: l4.Backend{Namespace: team, Service: fmt.Sprintf("redis-%d", i), Port: 6379},
		}
		if i%4 == 0 {
			l.Protocol = l4.UDP
		}
		table[i] = l
	}
	return table
}

func BenchmarkFiles(b *testing.B) {
	p, table := nginx.New(config()), many(4_000)
	b.ReportAllocs()
	for b.Loop() {
		p.Files(table)
	}
}

func BenchmarkLive(b *testing.B) {
	p, table := nginx.New(config()), many(4_000)
	seen := observed(b, p.ConfigMaps(table))
	b.ReportAllocs()
	for b.Loop() {
		o := p.Observe(seen)
		for i := range table {
			if !o.Live(&table[i]) {
				b.Fatal(table[i])
			}
		}
	}
}

// A class of 4,000 listeners is rendered in less than 50 ms; what else the machine
// does may make that more.
func TestFilesInTime(t *testing.T) {
	p, table := nginx.New(config()), many(4_000)
	best := time.Hour
	for range 5 {
		begin := time.Now()
		p.Files(table)
		best = min(best, time.Since(begin))
	}
	t.Logf("rendering 4,000 listeners takes %v", best)
	assert.Less(t, best, 2*time.Second)
}
