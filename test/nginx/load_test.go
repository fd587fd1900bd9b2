package nginx

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// TestManyListeners measures what 4,000 listeners take: nginx should have loaded them
// within 1 s, with the first configuration and with another one. A busy machine gets
// ten times as long.
func TestManyListeners(t *testing.T) {
	const (
		listeners = 4_000
		limit     = 10 * time.Second
	)
	e := newEdge(t)
	first := freePorts(t, listeners)
	backend := e.echo(t, "echo")
	table := make(l4.Table, listeners)
	for i := range table {
		l := rule(fmt.Sprintf("echo-%d", i), first+int32(i), backend)
		switch i % 8 {
		case 1, 5:
			l.Protocol = l4.UDP
		case 2:
			l.ConnectionsPerClient = 100
		case 3:
			l.IdleTimeout = time.Minute
		case 4:
			l.Hosts = []string{fmt.Sprintf("*.h%d.example.com", i)}
		}
		table[i] = l
	}
	begin := time.Now()
	files := e.provider.Files(table)
	rendered := time.Since(begin)
	size := 0
	for _, text := range files {
		size += len(text)
	}

	begin = time.Now()
	e.start(t, files)
	loaded := time.Since(begin)
	ask(t, dial(t, first), "first")
	ask(t, dial(t, first+listeners-1), "last")

	table[0].IdleTimeout = time.Hour
	require.NoError(t, e.Write("one", e.provider.Files(table)))
	before := e.children(t)
	begin = time.Now()
	require.NoError(t, e.Reload())
	require.Eventually(t, func() bool { return e.children(t) != before }, limit, 2*time.Millisecond)
	reloaded := time.Since(begin)
	ask(t, dial(t, first), "again")

	t.Logf("%d listeners, %d KiB: rendered in %d ms, loaded in %d ms, reloaded in %d ms; the master has %s",
		listeners, size>>10, rendered.Milliseconds(), loaded.Milliseconds(), reloaded.Milliseconds(), e.memory(t))
	assert.Less(t, loaded, limit)
	assert.Less(t, reloaded, limit)
}

// children lists the processes of the workers.
func (e *edge) children(t *testing.T) string {
	t.Helper()
	list, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", e.PID(), e.PID()))
	require.NoError(t, err)
	return string(list)
}

// memory is what the master has.
func (e *edge) memory(t *testing.T) string {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", e.PID()))
	require.NoError(t, err)
	for line := range strings.Lines(string(status)) {
		if size, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strings.TrimSpace(size)
		}
	}
	return ""
}
