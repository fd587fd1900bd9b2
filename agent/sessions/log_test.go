package sessions

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// writer plays nginx: it goes on writing to the file that it has open.
type writer struct {
	t    *testing.T
	path string
	file *os.File
	asks int
}

func (w *writer) reopen() error {
	w.asks++
	if w.file != nil {
		require.NoError(w.t, w.file.Close())
	}
	file, err := os.OpenFile(w.path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	w.file = file
	return err
}

func (w *writer) write(text string) {
	_, err := w.file.WriteString(text)
	require.NoError(w.t, err)
}

func line(listener string, bytes int) string {
	return fmt.Sprintf(`{"t":1.5,"l":%q,"o":"data/a/b","s":200,"d":0.5,"out":%d,"rcv":1,"ua":"a:1","us":"0, %d","ur":"0, 1","uc":"-, 0.001","sni":""}`+"\n", listener, bytes, 2*bytes)
}

func newLog(t *testing.T, path string, w *writer) *Log {
	t.Helper()
	l := &Log{Book: &Book{}, Path: path, Size: 1 << 20, Reopen: w.reopen}
	require.NoError(t, l.Resume())
	return l
}

func (b *Book) get(listener string) Counter { return *b.counter(Key{listener, "data/a/b"}) }

func TestEachLineIsCountedOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	w := &writer{t: t, path: path}
	now := time.Unix(1000, 0)
	l := newLog(t, path, w)
	require.NoError(t, l.Step(now), "nginx has not started")
	require.NoError(t, w.reopen())

	text := line("1/TCP", 10) + "no line\n" + line("", 1) + line("1/TCP", 20)
	for i := range len(text) {
		w.write(text[i : i+1])
		require.NoError(t, l.Step(now))
		if i%7 == 0 { // the agent ends and begins again
			if i%2 == 0 {
				require.NoError(t, l.Close(now))
			}
			l = newLog(t, path, w)
		}
	}
	require.NoError(t, l.Step(now))
	c := l.Book.get("1/TCP")
	assert.Equal(t, Counter{Sessions: 2, In: 60, Out: 30, Seconds: 1, Durations: [buckets]uint64{1: 2}, Used: now}, c)
	assert.Equal(t, uint64(1), l.Book.Broken())
}

func TestRotation(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	w := &writer{t: t, path: path}
	require.NoError(t, w.reopen())
	now := time.Unix(1000, 0)
	l := newLog(t, path, w)
	l.Size = 10 * int64(len(line("1/TCP", 10)))
	busy := false
	l.InUse = func(os.FileInfo) (bool, error) { return busy, nil }
	// nginx takes its time, and the agent ends at any moment.
	reopen := false
	l.Reopen = func() error { reopen = true; busy = true; return nil }

	written, rotations := 0, 0
	for i := range 1000 {
		w.write(line("1/TCP", 10))
		written++
		if reopen && i%3 == 0 {
			require.NoError(t, w.reopen())
			reopen, busy = false, false
			rotations++
		}
		require.NoError(t, l.Step(now))
		if i%11 == 0 {
			next := newLog(t, path, w)
			next.Size, next.InUse, next.Reopen = l.Size, l.InUse, l.Reopen
			l = next
		}
	}
	for range 10 {
		if reopen {
			require.NoError(t, w.reopen())
			reopen, busy = false, false
		}
		now = now.Add(time.Minute)
		require.NoError(t, l.Step(now))
	}
	assert.Equal(t, uint64(written), l.Book.get("1/TCP").Sessions)
	assert.Greater(t, rotations, 10)
	assert.NoFileExists(t, path+".1")
}

func TestLostReopenIsAskedForAgain(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	w := &writer{t: t, path: path}
	require.NoError(t, w.reopen())
	w.write(line("1/TCP", 10))
	l := newLog(t, path, w)
	l.Size = 1
	asked := 0
	l.Reopen = func() error { asked++; return nil }
	now := time.Unix(1000, 0)
	for range 12 {
		require.NoError(t, l.Step(now))
		now = now.Add(time.Second)
	}
	assert.Equal(t, 3, asked)
	assert.FileExists(t, path+".1")
}

func TestUnreadableCountersBeginAtTheEnd(t *testing.T) {
	path := filepath.Join(t.TempDir(), "access.log")
	w := &writer{t: t, path: path}
	require.NoError(t, w.reopen())
	w.write(line("1/TCP", 10))
	require.NoError(t, os.WriteFile(path+".state", []byte("{"), 0o600))
	l := &Log{Book: &Book{}, Path: path, Size: 1 << 20, Reopen: w.reopen}
	require.ErrorContains(t, l.Resume(), "decoding counters")
	w.write(line("1/TCP", 10))
	require.NoError(t, l.Step(time.Unix(1000, 0)))
	assert.Equal(t, uint64(1), l.Book.get("1/TCP").Sessions)
}

func TestBookForgets(t *testing.T) {
	var b Book
	start := time.Unix(1000, 0)
	one, two := Key{"1/TCP", "data/a/b"}, Key{"2/TCP", "data/a/b"}
	b.Live(map[Key]Limits{one: {}, two: {}}, start)
	keys := func() (list []Key) { b.Each(func(k Key, _ Counter) { list = append(list, k) }); return }
	assert.ElementsMatch(t, []Key{one, two}, keys())
	b.Live(map[Key]Limits{two: {}}, start.Add(time.Hour))
	b.Prune(start.Add(time.Minute))
	assert.ElementsMatch(t, []Key{one, two}, keys(), "it was live until now")
	b.Prune(start.Add(2 * time.Hour))
	assert.ElementsMatch(t, []Key{two}, keys())

	state := b.saved()
	state.Counters = append(state.Counters, savedCounter{Listener: "2/TCP", Owner: "data/a/b", Counter: Counter{Sessions: 1, Used: start}})
	var next Book
	next.restore(state)
	next.Prune(start.Add(time.Hour))
	assert.Equal(t, uint64(1), next.get("2/TCP").Sessions, "nginx is not up yet, and the rule is not used often")
	next.Live(map[Key]Limits{}, start.Add(time.Hour))
	next.Prune(start.Add(time.Hour))
	keys = func() (list []Key) { next.Each(func(k Key, _ Counter) { list = append(list, k) }); return }
	assert.Empty(t, keys(), "nothing is live")
}
