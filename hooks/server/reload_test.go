package server

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// loads records what a file set gave away.
type loads struct {
	got [][]string
	err error
}

func (l *loads) load(contents [][]byte) error {
	if l.err != nil {
		return l.err
	}
	var all []string
	for _, c := range contents {
		all = append(all, string(c))
	}
	l.got = append(l.got, all)
	return nil
}

func TestFilesAreLoadedWhenTheirContentChanges(t *testing.T) {
	m := newMount(t, map[string][]byte{"a": []byte("1"), "b": []byte("2")})
	var l loads
	set := &fileSet{what: "pair", paths: []string{m.path("a"), m.path("b")}, load: l.load}
	refresh := func() bool {
		changed, err := set.refresh()
		require.NoError(t, err)
		return changed
	}
	assert.True(t, refresh())
	assert.False(t, refresh(), "nothing changed")
	m.swap(t, map[string][]byte{"a": []byte("1"), "b": []byte("2")})
	assert.False(t, refresh(), "other files with the same content")
	m.swap(t, map[string][]byte{"a": []byte("1"), "b": []byte("3")})
	assert.True(t, refresh(), "a swap of the link")
	info, err := os.Stat(m.path("a"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(m.path("a"), []byte("4"), 0o600))
	require.NoError(t, os.Chtimes(m.path("a"), info.ModTime(), info.ModTime()))
	assert.True(t, refresh(), "a change in place that the time does not tell")
	assert.Equal(t, [][]string{{"1", "2"}, {"1", "3"}, {"4", "3"}}, l.got)
}

func TestOneMistakeIsToldOnce(t *testing.T) {
	m := newMount(t, map[string][]byte{"a": []byte("1")})
	var l loads
	set := &fileSet{what: "tokens", paths: []string{m.path("a")}, load: l.load}
	_, err := set.refresh()
	require.NoError(t, err)

	l.err = errors.New("broken")
	m.swap(t, map[string][]byte{"a": []byte("2")})
	changed, err := set.refresh()
	assert.True(t, changed)
	require.EqualError(t, err, "loading the tokens: broken")
	changed, err = set.refresh()
	assert.False(t, changed)
	require.NoError(t, err, "told already")

	require.NoError(t, os.Remove(m.path("a")))
	changed, err = set.refresh()
	assert.True(t, changed)
	require.ErrorIs(t, err, os.ErrNotExist)
	changed, _ = set.refresh()
	assert.False(t, changed)

	l.err = nil
	require.NoError(t, os.WriteFile(m.path("a"), []byte("1"), 0o600))
	changed, err = set.refresh()
	assert.True(t, changed, "back to what is in use: the mistake is over")
	require.NoError(t, err)
}

func TestABrokenPairKeepsTheLastGoodOne(t *testing.T) {
	ca := newAuthority(t)
	m := newMount(t, ca.pair(t))
	var log lines
	o := m.options()
	o.Logger = log.logger(0)
	url := runTLS(t, o, okHook())
	client := ca.client(false)
	metrics := func() string {
		got, err := client.Get(url + "/metrics") //nolint:noctx // a scrape
		require.NoError(t, err)
		return answerOf(t, got).body
	}
	serial := func() int64 {
		got, err := post(t.Context(), client, url, "")
		require.NoError(t, err)
		require.NoError(t, got.Body.Close())
		return got.TLS.PeerCertificates[0].SerialNumber.Int64()
	}
	const loaded, kept, stale = `tcpingress_reloads_total{result="loaded",what="certificate"} `,
		`tcpingress_reloads_total{result="kept",what="certificate"} `, `tcpingress_reload_stale{what="certificate"} `
	first := serial()
	got := metrics()
	for _, line := range []string{loaded + "0", kept + "0", stale + "0"} {
		assert.Contains(t, got, line+"\n")
	}
	assert.Regexp(t, `tcpingress_certificate_not_after_timestamp_seconds \d\.\d+e\+09\n`, got)

	broken := ca.pair(t)
	broken["tls.key"] = ca.pair(t)["tls.key"]
	m.swap(t, broken)
	eventually(t, func() bool { return assertContains(metrics(), kept+"1\n", stale+"1\n", loaded+"0\n") })
	assert.Equal(t, first, serial())
	m.swap(t, ca.pair(t))
	eventually(t, func() bool { return assertContains(metrics(), kept+"1\n", stale+"0\n", loaded+"1\n") })
	assert.Equal(t, ca.serial, serial())

	log.mu.Lock()
	defer log.mu.Unlock()
	assert.Contains(t, log.b.String(), `"level":"ERROR","msg":"changed files cannot be used, what was loaded before stays in use","what":"certificate"`)
	assert.Contains(t, log.b.String(), `"error":"loading the certificate: tls: private key does not match public key"`)
	assert.Contains(t, log.b.String(), `"level":"INFO","msg":"changed files are in use","what":"certificate"`)
	assert.NotContains(t, log.b.String(), "PRIVATE KEY")
}
