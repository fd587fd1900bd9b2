package agent

import (
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

func TestChangeIsLive(t *testing.T) {
	r := newRig(t)
	backend, first, second := echoTCP(t), freePort(t), freePort(t)
	table := l4.Table{rule(l4.TCP, first, backend, "one")}
	r.start(table)
	require.NoError(t, says(first, "hello"))
	require.Error(t, says(second, "hello"))

	table = append(table, rule(l4.TCP, second, backend, "two"))
	r.change(table)
	require.NoError(t, says(first, "hello"))
	require.NoError(t, says(second, "hello"))
	assert.Len(t, r.status().Listeners, 2)

	live, reloads := r.status().Live, r.status().Reloads
	assert.Equal(t, 1, reloads)
	r.endAgent()
	r.startAgent()
	r.eventually("the agent takes up what is live", func() bool { return r.status().Live == live })
	time.Sleep(200 * time.Millisecond)
	assert.Zero(t, r.status().Reloads, "an agent that starts does not disturb nginx")

	r.change(table[:1])
	require.NoError(t, says(first, "hello"))
	r.eventually("the old worker closes what was removed", func() bool { return says(second, "hello") != nil })
}

func TestIncompleteFilesWait(t *testing.T) {
	r := newRig(t)
	backend, first, second := echoTCP(t), freePort(t), freePort(t)
	table := l4.Table{rule(l4.TCP, first, backend, "one")}
	r.start(table)
	live := r.status().Live
	files := r.files(append(table, rule(l4.TCP, second, backend, "two")))
	var late, content string
	for name, text := range files {
		if strings.Contains(text, "data/two/rule") {
			late, content = name, text
		}
	}
	require.NotEmpty(t, late)
	r.index(files)
	files[late] = "# The one before.\n"
	r.showAsIs(files)
	r.eventually("the agent tells what it waits for", func() bool {
		return r.status().Waiting == "The files are incomplete: "+late+" is not the one that index.json names; a newer or older one is mounted."
	})
	assert.Equal(t, live, r.status().Live)
	files[late] = content
	r.show(files)
	r.eventually("it is live", func() bool { s := r.status(); return s.Live != live && s.Waiting == "" })
	require.NoError(t, says(second, "hello"))
}

func TestBrokenConfigurationIsRefused(t *testing.T) {
	r := newRig(t)
	backend, port := echoTCP(t), freePort(t)
	table := l4.Table{rule(l4.TCP, port, backend, "one")}
	r.start(table)
	live := r.status().Live

	files := r.files(table)
	files[bundle.MainFile] += "nonsense;\n"
	r.show(files)
	r.eventually("it is refused", func() bool { return r.status().Refused != nil })
	assert.Regexp(t, `^\[emerg\] unknown directive "nonsense" in .*/nginx.conf:\d+$`, r.status().Refused.Reason)
	assert.Equal(t, live, r.status().Live)
	assert.Zero(t, r.status().Reloads)
	require.NoError(t, says(port, "hello"))

	r.show(r.files(table))
	r.eventually("what is live is what is wanted", func() bool { return r.status().Refused == nil })
	assert.Zero(t, r.status().Reloads)
}

func TestTakenPortIsRefused(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.options.AnswerTimeout = 4 * time.Second
	r.options.Retry = 500 * time.Millisecond
	backend, first, second := echoTCP(t), freePort(t), freePort(t)
	table := l4.Table{rule(l4.TCP, first, backend, "one")}
	r.start(table)
	live := r.status().Live

	taken, err := net.Listen("tcp", ":"+strconv.Itoa(second))
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	r.show(r.files(append(table, rule(l4.TCP, second, backend, "two"))))
	r.eventually("it is refused", func() bool { return r.status().Refused != nil })
	assert.Regexp(t, `^\[emerg\] bind\(\) to .*:`+strconv.Itoa(second)+` failed \(98: Address already in use\)$`, r.status().Refused.Reason)
	assert.Equal(t, live, r.status().Live)
	assert.Equal(t, 1, r.status().Reloads, "nginx has kept what it had, and is not asked to load it again")
	require.NoError(t, says(first, "hello"))

	require.NoError(t, taken.Close())
	r.eventually("it is live when the port is free", func() bool { s := r.status(); return s.Live != live && s.Live != "" && s.Refused == nil })
	require.NoError(t, says(second, "hello"), "sockets that the failed reload left are no hindrance")
}

func TestKilledNginxIsMetAgain(t *testing.T) {
	r := newRig(t)
	backend, first, second := echoTCP(t), freePort(t), freePort(t)
	table := l4.Table{rule(l4.TCP, first, backend, "one")}
	r.start(table)
	before := r.status()
	r.endNginx()
	r.eventually("the agent notices", func() bool { s := r.status(); return !s.Running && s.Live == "" })
	r.startNginx()
	r.eventually("it is live again", func() bool { s := r.status(); return s.Live == before.Live && s.Starts == before.Starts+1 })
	require.NoError(t, says(first, "hello"))

	r.endNginx()
	r.eventually("the agent notices", func() bool { return !r.status().Running })
	r.show(r.files(append(table, rule(l4.TCP, second, backend, "two"))))
	r.eventually("the agent writes while nginx is down", func() bool { return r.linked() != before.Live })
	r.startNginx()
	r.eventually("nginx starts with it", func() bool { return r.status().Live == r.linked() })
	require.NoError(t, says(second, "hello"))
	assert.Zero(t, r.status().Reloads)
}
