package e2e

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/test/cluster"
	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

func applierName() string { return harness.Describe() }

// mine tells whether a hook call is about an object of the scene.
func (s *scene) mine(c harness.Call) bool {
	return c.Namespace == "" && c.Name == s.class || strings.HasPrefix(c.Namespace, s.class+"-")
}

// writes gives what the applier wrote to objects of the scene since then.
func (s *scene) writes(since time.Time) []cluster.Write {
	s.t.Helper()
	all, err := h.Cluster.Writes(since)
	require.NoError(s.t, err)
	var list []cluster.Write
	for _, w := range all {
		ours := w.Name == s.class || strings.HasPrefix(w.Name, s.class+"-") || strings.HasPrefix(w.Name, s.class+".") ||
			strings.HasPrefix(w.Namespace, s.class+"-")
		if w.User == harness.User && ours {
			list = append(list, w)
		}
	}
	return list
}

// syncs pokes an object and waits until the hook was called for it, n times. What
// the applier had to write after the first, it has written before the last.
func (s *scene) syncs(n int, kind, key string) *scene {
	s.t.Helper()
	namespace, name := s.split(key)
	path := "/" + strings.ToLower(kind) + "/sync"
	calls := func() int {
		return len(h.Door.Calls(func(c harness.Call) bool {
			return c.Path == path && c.Namespace == namespace && c.Name == name && c.Code == 200
		}))
	}
	for i := range n {
		before := calls()
		s.patch(kind, key, fmt.Sprintf(`{"metadata":{"annotations":{"example.com/poke":"%d"}}}`, i))
		s.eventually(func() error {
			if calls() == before {
				return fmt.Errorf("%s was not called for %s", path, key)
			}
			return nil
		})
	}
	return s
}

// settled waits until no hook was called for the scene for some time, so that what
// comes next is not the rest of what was before.
func (s *scene) settled() *scene {
	s.t.Helper()
	const quiet = 700 * time.Millisecond
	return s.eventually(func() error {
		calls := h.Door.Calls(s.mine)
		if len(calls) == 0 {
			return nil
		}
		last := calls[len(calls)-1]
		if since := time.Since(last.Begin.Add(last.Took)); since < quiet {
			return fmt.Errorf("the last call, %s for %s/%s, was %s ago", last.Path, last.Namespace, last.Name, since)
		}
		return nil
	})
}

// now is a time for writes to be counted from.
func (s *scene) now() time.Time { return time.Now() }

func realServerSideApply() bool { return harness.Strategy() == "server-side-apply" }
