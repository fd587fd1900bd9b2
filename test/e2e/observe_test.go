package e2e

import (
	"fmt"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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

// settled waits until nothing of the scene was changed for some time, so that what
// comes next is not the rest of what was before. Hook calls tell nothing of that:
// each TCPIngress of another scene causes one for the class.
func (s *scene) settled() *scene {
	s.t.Helper()
	const quiet = 700 * time.Millisecond
	before, since := "", time.Now()
	return s.eventually(func() error {
		if now := s.versions(); now != before {
			before, since = now, time.Now()
		}
		if still := time.Since(since); still < quiet {
			return fmt.Errorf("the last change was %s ago", still)
		}
		return nil
	})
}

// versions is another text whenever an object of the scene is changed.
func (s *scene) versions() string {
	s.t.Helper()
	var out strings.Builder
	note := func(kind, short string, options metav1.ListOptions) {
		list, err := s.client(kind, short).List(s.t.Context(), options)
		require.NoError(s.t, err)
		for _, o := range list.Items {
			fmt.Fprintf(&out, "%s %s %s\n", o.GetUID(), o.GetResourceVersion(), kind)
		}
	}
	for _, ns := range []string{"a/", "b/", "nginx/"} {
		for _, kind := range []string{"TCPIngress", "Service", "ConfigMap", "Deployment", "PodDisruptionBudget"} {
			note(kind, ns, metav1.ListOptions{})
		}
	}
	note("TCPIngressClass", "", metav1.ListOptions{FieldSelector: "metadata.name=" + s.class})
	note("TCPIngressSlice", "", metav1.ListOptions{LabelSelector: "nginx-stream.dev/class=" + s.class})
	return out.String()
}

// now is a time for writes to be counted from.
func (s *scene) now() time.Time { return time.Now() }

func serverSideApply() bool { return harness.Strategy() == "server-side-apply" }
