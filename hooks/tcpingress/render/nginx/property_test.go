package nginx_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx"
	"github.com/nginx-stream/tcpingress/test/nginx/tables"
)

const rounds = 300

// observed gives ConfigMaps as they come back from the API server.
func observed(t testing.TB, applied []*corev1ac.ConfigMapApplyConfiguration) []corev1.ConfigMap {
	t.Helper()
	encoded, err := json.Marshal(applied)
	require.NoError(t, err)
	var list []corev1.ConfigMap
	require.NoError(t, json.Unmarshal(encoded, &list))
	return list
}

// What was rendered is live, all of it, and leads where it shall.
func TestWhatWasRenderedIsLive(t *testing.T) {
	t.Parallel()
	p := nginx.New(config())
	for seed := range uint64(rounds) {
		table := tables.Random(seed, 1+int(seed%40))
		o := p.Observe(observed(t, p.ConfigMaps(table)))
		require.Empty(t, o.Problems)
		want := map[l4.Key]l4.Entry{}
		for i := range table {
			l := &table[i]
			if p.Check(l) != "" {
				continue
			}
			assert.True(t, o.Live(l), "seed %d: %+v", seed, l)
			for _, host := range append(slices.Clone(l.Hosts), "")[:max(1, len(l.Hosts))] {
				for port := l.Port; port <= l.Last(); port++ {
					entry := l4.Entry{Backend: l.Backend, AcceptProxy: l.AcceptProxy, SendProxy: l.SendProxy}
					if entry.Backend.Port == 0 {
						entry.Backend.Port = port
					}
					if !p.Reserved(l.Protocol, port) {
						want[l4.Key{Protocol: l.Protocol, Port: port, Host: host}] = entry
					}
				}
			}
		}
		require.Equal(t, want, o.Entries, "seed %d", seed)
	}
}

// A listener that was edited in any way is not live, and its neighbours are.
func TestWhatWasEditedIsNotLive(t *testing.T) {
	t.Parallel()
	p := nginx.New(config())
	for seed := range uint64(rounds) {
		table := tables.Random(seed, 1+int(seed%40))
		o := p.Observe(observed(t, p.ConfigMaps(table)))
		d := tables.Seeded(seed + 1e6)
		for i := range table {
			l := table[i]
			edit := d.Edit(&l)
			if p.Check(&table[i]) == "" && p.Check(&l) == "" {
				assert.False(t, o.Live(&l), "seed %d: %s of %+v", seed, edit, l)
			}
		}
	}
}

// Nothing is live as long as one of the files is not the one of the index.
func TestFilesThatDoNotFitAreNotLive(t *testing.T) {
	t.Parallel()
	p := nginx.New(config())
	table := many(100)
	before, after := observed(t, p.ConfigMaps(table[:50])), observed(t, p.ConfigMaps(table))
	require.True(t, p.Observe(before).Live(&table[0]))
	require.True(t, p.Observe(after).Live(&table[0]))
	for i := range after {
		if slices.ContainsFunc(before, func(cm corev1.ConfigMap) bool {
			return cm.Name == after[i].Name && fmt.Sprint(cm.Data) == fmt.Sprint(after[i].Data)
		}) {
			continue
		}
		late := slices.Delete(slices.Clone(after), i, i+1)
		o := p.Observe(late)
		assert.False(t, o.Live(&table[0]), "without %s", after[i].Name)
	}
	assert.False(t, nginx.Observed{}.Live(&table[0]))
	assert.False(t, p.Observe(nil).Live(&table[0]))
}

// What the book counts is at least what the ConfigMaps take, for any part of a table.
func TestChargesCoverTheConfigMaps(t *testing.T) {
	t.Parallel()
	p := nginx.New(config())
	const limit = 200 << 10
	for seed := range uint64(rounds) {
		used := map[string]int{}
		left := map[string]int{}
		for _, c := range p.Budgets() {
			left[c.Child] = c.Bytes
		}
		table := tables.Random(seed, 1+int(seed%40))
		for i := range table {
			for _, c := range p.Charges(&table[i]) {
				require.Contains(t, left, c.Child)
				used[c.Child] += c.Bytes
			}
		}
		for _, child := range p.ConfigMaps(table) {
			encoded, err := json.Marshal(child)
			require.NoError(t, err)
			name := fmt.Sprintf("ConfigMap %s/%s", *child.Namespace, *child.Name)
			assert.LessOrEqual(t, len(encoded), limit-left[name]+used[name], "seed %d: %s", seed, name)
		}
	}
}

// A new listener moves no other: all ConfigMaps but its own and the first stay.
func TestANewListenerMovesNoOther(t *testing.T) {
	t.Parallel()
	p := nginx.New(config())
	table := many(200)
	text := func(table l4.Table) map[string]string {
		all := map[string]string{}
		for _, cm := range observed(t, p.ConfigMaps(table)) {
			all[cm.Name] = fmt.Sprint(cm.Data)
		}
		return all
	}
	before := text(table)
	for i := range table {
		after := text(slices.Delete(slices.Clone(table), i, i+1))
		changed := 0
		for name, data := range before {
			if after[name] != data {
				changed++
			}
		}
		assert.Equal(t, 2, changed)
	}
}

// Two that want the same port, or the same name on it, would keep nginx from loading
// anything: the first has it.
func TestWhatOverlapsIsLeftOut(t *testing.T) {
	t.Parallel()
	p := nginx.New(config())
	first := l4.Listener{
		Owner: l4.Owner{Namespace: "a", Name: "b", Rule: "c"}, Protocol: l4.TCP, Port: 7000,
		Backend: l4.Backend{Namespace: "a", Service: "b", Port: 1},
	}
	change := func(edits ...func(*l4.Listener)) l4.Listener {
		l := first
		for _, edit := range edits {
			edit(&l)
		}
		return l
	}
	named := func(name string) func(*l4.Listener) { return func(l *l4.Listener) { l.Owner.Name = name } }
	hosts := func(list ...string) func(*l4.Listener) { return func(l *l4.Listener) { l.Hosts = list } }
	accept := func(l *l4.Listener) { l.AcceptProxy = true }
	spread := func(l *l4.Listener) { l.Port, l.EndPort, l.Backend.Port = 6990, 7000, 0 }
	tests := map[string]struct {
		table l4.Table
		live  []bool
	}{
		"the same port":                   {l4.Table{first, change(named("x"))}, []bool{true, false}},
		"a range and a port in it":        {l4.Table{change(spread), first}, []bool{true, false}},
		"a port and hosts on it":          {l4.Table{first, change(named("x"), hosts("a.example"))}, []bool{true, false}},
		"hosts, and all of the port":      {l4.Table{change(hosts("a.example")), change(named("x"))}, []bool{true, false}},
		"the same host":                   {l4.Table{change(hosts("a.example")), change(named("x"), hosts("b.example", "a.example"))}, []bool{true, false}},
		"hosts, one with PROXY":           {l4.Table{change(hosts("a.example")), change(named("x"), hosts("b.example"), accept)}, []bool{true, false}},
		"one rule twice":                  {l4.Table{change(hosts("a.example")), change(hosts("b.example"))}, []bool{true, false}},
		"other hosts":                     {l4.Table{change(hosts("a.example")), change(named("x"), hosts("*.example"))}, []bool{true, true}},
		"both protocols are no overlap":   {l4.Table{first, change(func(l *l4.Listener) { l.Protocol = l4.UDP })}, []bool{true, true}},
		"a named port that is no number":  {l4.Table{change(func(l *l4.Listener) { l.Backend.Port, l.Backend.PortName = 0, "http" })}, []bool{false}},
		"the same host twice in one rule": {l4.Table{change(hosts("a.example", "a.example"))}, []bool{false}},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := p.Observe(observed(t, p.ConfigMaps(tc.table)))
			var live []bool
			for i := range tc.table {
				live = append(live, o.Live(&tc.table[i]))
			}
			assert.Equal(t, tc.live, live)
		})
	}
}
