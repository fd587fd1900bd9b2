package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The book that the hooks write is the one by which the policies refuse.
func TestPolicyKnowsTheBook(t *testing.T) {
	t.Parallel()
	s := newScene(t).nginxClass().
		backend("a/db", "sql=3306").backend("a/ftp", "x=21").backend("b/db", "sql=3306").
		ingress("a/db", "3306 -> db:3306").ready("a/db").
		ingress("a/ftp", "ftp: 21000-21009 -> ftp").
		condition("TCPIngress", "a/ftp", "Accepted=True/Accepted", "")
	const held = "Port %s/TCP of class $class is held by TCPIngress $a/%s (rule %s); choose another port or ask its owner."
	s.refuses(fmt.Sprintf(held, "3306", "db", "tcp-3306"), "apply", "-f", s.file("b/db", "3306 -> db:3306")).
		refuses(fmt.Sprintf(held, "3306", "db", "tcp-3306"), "apply", "-f", s.file("b/db", "all: 3000-4000 -> db")).
		refuses(fmt.Sprintf(held, "21009", "ftp", "ftp"), "apply", "-f", s.file("b/db", "21009 -> db:3306")).
		refuses(fmt.Sprintf(held, "21000", "ftp", "ftp"), "apply", "-f", s.file("b/db", "all: 20900-21500 -> db")).
		// Nothing of it was stored, and the holder may edit what it has.
		gone("TCPIngress", "b/db").
		ingress("a/db", "mysql: 3306 -> db:3306", "3307 -> db:3306").ready("a/db").
		refuses(fmt.Sprintf(held, "3306", "db", "mysql"), "apply", "-f", s.file("b/db", "3306 -> db:3306")).
		// The holder goes; the next one is welcome as soon as the book says so.
		remove("TCPIngress", "a/db")
	s.eventually(func() error {
		return s.tryApply(s.ingressYAML("b/db", "  ingressClassName: $class\n", []string{"3306 -> db:3306"}))
	}).ready("b/db")
}

// What the annotation of a Service asks for is stored, and waits.
func TestAnnotatedServiceWaitsForItsPort(t *testing.T) {
	t.Parallel()
	newScene(t).nginxClass().
		backend("a/db", "sql=3306").
		ingress("a/db", "3306 -> db:3306").ready("a/db").
		annotated("b/db", "3306, 3307:sql", "sql=3306").
		condition("TCPIngress", "b/db", "Accepted=False/PortConflict", "Port 3306/TCP of class $class is held by TCPIngress $a/db (rule tcp-3306); choose another port or ask its owner.").
		tcpServices(data{"3306": "$a/db:3306", "3307": "$b/db:sql"}).
		remove("TCPIngress", "a/db").
		tcpServices(data{"3306": "$b/db:3306", "3307": "$b/db:sql"}).ready("b/db")
}

// file writes a TCPIngress into a file of the test.
func (s *scene) file(key string, rules ...string) string {
	s.t.Helper()
	path := filepath.Join(s.t.TempDir(), "tcpingress.yaml")
	text := s.expand(s.ingressYAML(key, "  ingressClassName: $class\n", rules))
	require.NoError(s.t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

// refuses waits until a command is refused with a text: the policies see what is in
// the book a moment after it was written.
func (s *scene) refuses(text string, args ...string) *scene {
	s.t.Helper()
	return s.eventually(func() error { return s.refused(text, args...) })
}

// refused tells what is wrong if a command is not refused with a text.
func (s *scene) refused(text string, args ...string) error {
	s.t.Helper()
	expanded := make([]string, len(args))
	for i := range args {
		expanded[i] = s.expand(args[i])
	}
	out, err := h.Cluster.Kubectl(s.t.Context(), expanded...).CombinedOutput()
	if err == nil {
		require.FailNow(s.t, "not refused", "kubectl %s: %s", strings.Join(expanded, " "), out)
	}
	if want := s.expand(text); !strings.Contains(string(out), want) {
		return fmt.Errorf("kubectl %s says %q, not %q: %w", strings.Join(expanded, " "), out, want, errors.New("refused in other words"))
	}
	return nil
}
