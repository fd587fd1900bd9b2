package policy

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// create makes an object that lives as long as the test.
func create(t *testing.T, text string) {
	t.Helper()
	o, err := server.create(t.Context(), text)
	require.NoError(t, err)
	t.Cleanup(func() {
		ctx := context.Background() //nolint:usetesting // the test's own has ended
		client := server.of(resourceOf(o), o.GetNamespace())
		_, _ = client.Patch(ctx, o.GetName(), mergePatch, []byte(`{"metadata":{"finalizers":null}}`), patchOptions())
		_ = client.Delete(ctx, o.GetName(), deleteOptions())
	})
}

func patch(t *testing.T, name, text string) error {
	t.Helper()
	_, err := server.of("tcpingresses", "default").Patch(t.Context(), name, mergePatch, []byte(text), patchOptions())
	return err
}

// judgedPatch gives what would be said of a patch.
func judgedPatch(t *testing.T, name, text string) error {
	t.Helper()
	o := patchOptions()
	o.DryRun = []string{"All"}
	_, err := server.of("tcpingresses", "default").Patch(t.Context(), name, mergePatch, []byte(text), o)
	return err
}

const rules = `{"spec":{"rules":[%s]}}`

func rule(port int, more string) string {
	return fmt.Sprintf(`{"port":%d,"protocol":"TCP","backend":{"service":{"name":"svc","port":{"number":1}}}%s}`, port, more)
}

// The life of a port: its holder edits, a second one waits, the holder goes.
func TestLifeOfAPort(t *testing.T) {
	t.Parallel()
	class(t, "life", "", "")
	create(t, ingress("default", "first", "life", "{port: 7001}"))
	// The second one was there before the book knew of the first.
	create(t, ingress("default", "second", "life", "{port: 7001}"))
	book, err := server.of("tcpingressclasses", "").Get(t.Context(), "life", getOptions())
	require.NoError(t, err)
	write(t, book, `listeners: {7001/TCP: default/first/tcp-7001, 7002/TCP: default/third/tcp-7002}`)
	refused := held("7001/TCP", "life", "default/first/tcp-7001")
	eventually(t, refused, func() error {
		_, err := server.create(t.Context(), ingress("default", "late", "life", "{port: 7001}"), "All")
		return err
	})

	require.NoError(t, patch(t, "first", fmt.Sprintf(rules, rule(7001, `,"name":"redis"`)+","+rule(7003, ""))), "the holder may edit what it has")
	assert.Equal(t, held("7002/TCP", "life", "default/third/tcp-7002"), said(t, patch(t, "first", fmt.Sprintf(rules, rule(7002, "")))), "but not take what others have")
	require.NoError(t, patch(t, "second", fmt.Sprintf(rules, rule(7001, "")+","+rule(7004, ""))), "who waits may edit the rest")
	require.NoError(t, patch(t, "second", `{"metadata":{"labels":{"a":"b"}}}`), "or a label")

	// The holder goes; the book follows, and the next one is welcome.
	require.NoError(t, server.of("tcpingresses", "default").Delete(t.Context(), "first", deleteOptions()))
	write(t, book, `listeners: {7001/TCP: default/second/tcp-7001}`)
	eventually(t, held("7001/TCP", "life", "default/second/tcp-7001"), func() error {
		_, err := server.create(t.Context(), ingress("default", "late", "life", "{port: 7001}"), "All")
		return err
	})
	eventually(t, "", func() error {
		_, err := server.create(t.Context(), ingress("default", "second", "missing", "{port: 7001}"), "All")
		if err != nil && strings.Contains(err.Error(), "already exists") {
			return nil
		}
		return err
	})
}

// A rule that came later never holds up who wants to get rid of an object, or to label it.
func TestRefusedObjectsCanBeLabelledAndDeleted(t *testing.T) {
	t.Parallel()
	class(t, "late", "", "")
	o, err := object(ingress("default", "stuck", "late", "{port: 7101}"))
	require.NoError(t, err)
	o.SetFinalizers([]string{"example.com/theirs"})
	made, err := server.of("tcpingresses", "default").Create(t.Context(), o, createOptions(nil))
	require.NoError(t, err)
	book, err := server.of("tcpingressclasses", "").Get(t.Context(), "late", getOptions())
	require.NoError(t, err)
	write(t, book, `listeners: {7101/TCP: data/redis/tcp-7101, 7102/TCP: data/redis/tcp-7102}`)
	eventually(t, held("7102/TCP", "late", "data/redis/tcp-7102"), func() error {
		return judgedPatch(t, "stuck", fmt.Sprintf(rules, rule(7102, "")))
	})
	require.NoError(t, patch(t, "stuck", `{"metadata":{"labels":{"a":"b"}}}`))
	require.NoError(t, server.of("tcpingresses", "default").Delete(t.Context(), "stuck", deleteOptions()))
	require.NoError(t, patch(t, "stuck", fmt.Sprintf(rules, rule(7102, ""))), "it is being deleted")
	require.NoError(t, patch(t, "stuck", `{"metadata":{"finalizers":null}}`))
	_, err = server.of("tcpingresses", "default").Get(t.Context(), made.GetName(), getOptions())
	assert.ErrorContains(t, err, "not found")
}

// A TCPIngress without a class is judged by the class that it has, else by the default.
func TestClassless(t *testing.T) {
	t.Parallel()
	classOf(t, "fallback", `{nginx-stream.dev/is-default-class: "true"}`, "", "listeners: {7201/TCP: data/redis/tcp-7201}")
	class(t, "other", "", "listeners: {7202/TCP: data/redis/tcp-7202}")
	eventually(t, held("7201/TCP", "fallback", "data/redis/tcp-7201"), func() error {
		_, err := server.create(t.Context(), ingress("default", "classless", "", "{port: 7201}"), "All")
		return err
	})
	create(t, ingress("default", "classless", "", "{port: 7202}"))
	// It was given to the other class once.
	_, err := server.of("tcpingresses", "default").Patch(t.Context(), "classless", mergePatch, []byte(`{"status":{"className":"other"}}`), patchOptions(), "status")
	require.NoError(t, err)
	require.NoError(t, patch(t, "classless", fmt.Sprintf(rules, rule(7201, ""))))
	eventually(t, held("7202/TCP", "other", "data/redis/tcp-7202"), func() error {
		return judgedPatch(t, "classless", fmt.Sprintf(rules, rule(7202, "")))
	})
}

// At the size for which the book is made, the policies stay within the cost limit: else
// they would pass everything.
func TestCost(t *testing.T) {
	t.Parallel()
	var book strings.Builder
	book.WriteString("listeners:\n")
	for i := range 4000 {
		fmt.Fprintf(&book, "  %d/TCP: team-%d/database-with-a-long-name-%d/tcp-%d\n", 10000+i, i%50, i, 10000+i)
	}
	book.WriteString("ranges:\n")
	for i := range 256 {
		fmt.Fprintf(&book, "- {from: %d, to: %d, protocol: TCP, holder: team-%d/game-%d/range}\n", 20000+20*i, 20009+20*i, i%50, i)
	}
	class(t, "full", "provider: Nginx", book.String())
	single := make([]string, 0, 64)
	for i := range 64 {
		single = append(single, fmt.Sprintf("{port: %d}", 1000+i))
	}
	var ranges, hosts []string
	for i := range 8 {
		ranges = append(ranges, fmt.Sprintf("{port: %d, endPort: %d, name: r%d}", 1+1024*i, 1024+1024*i, i))
	}
	for i := range 64 {
		names := make([]string, 16)
		for k := range names {
			names[k] = fmt.Sprintf("host-%d-%d.example.com", i, k)
		}
		hosts = append(hosts, fmt.Sprintf("{port: 1500, name: h%d, hosts: [%s]}", i, strings.Join(names, ", ")))
	}
	tests := map[string]struct {
		rules []string
		want  string
	}{
		"one rule":                      {[]string{"{port: 13999}"}, held("13999/TCP", "full", "team-49/database-with-a-long-name-3999/tcp-13999")},
		"64 rules":                      {append(single[:63:63], "{port: 13999}"), held("13999/TCP", "full", "team-49/database-with-a-long-name-3999/tcp-13999")},
		"64 rules, the last in a range": {append(single[:63:63], "{port: 25101}"), held("25101/TCP", "full", "team-5/game-255/range")},
		"8 ranges of 1,024 ports":       {append(ranges[:7:7], "{port: 9500, endPort: 10000, name: r8}"), held("10000/TCP", "full", "team-0/database-with-a-long-name-0/tcp-10000")},
		"64 rules of 16 hosts":          {append(hosts[:63:63], "{port: 13999, name: last, hosts: [a.example.com]}"), "Port 13999/TCP of class full is held for all hosts by TCPIngress team-49/database-with-a-long-name-3999 (rule tcp-13999); choose another port, or ask its owner to name hosts."},
	}
	for name, tc := range tests {
		text := ingress("default", "big", "full", tc.rules...)
		eventually(t, tc.want, func() error {
			_, err := server.create(t.Context(), text, "All")
			return err
		})
		const times = 2
		begin := time.Now()
		for range times {
			_, err := server.create(t.Context(), text, "All")
			require.Error(t, err)
		}
		t.Logf("%s: refused in %d ms, with 4,000 listeners and 256 ranges in the book", name, time.Since(begin).Milliseconds()/times)
	}
}
