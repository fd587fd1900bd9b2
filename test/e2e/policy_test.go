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

// What the annotation of a Service asks for is stored, where a TCPIngress by hand would be
// refused, and waits: the holder keeps its port, the owner of the Service is told, and
// nothing is written for anybody else.
func TestAnnotatedServiceWaitsForItsPort(t *testing.T) {
	t.Parallel()
	const told = "Port 3306/TCP of class $class is held by TCPIngress $a/db (rule tcp-3306); choose another port or ask its owner."
	s := newScene(t).nginxClass().
		backend("a/db", "sql=3306").backend("a/cache", "cache=6379").
		ingress("a/db", "3306 -> db:3306").ingress("a/cache", "6379 -> cache:6379").
		annotated("a/game", "25565", "play=25565").
		ready("a/db", "a/cache", "a/game").
		backend("b/other", "sql=3306")
	s.refuses(told, "apply", "-f", s.file("b/other", "3306 -> other:3306")).gone("TCPIngress", "b/other")

	since := s.settled().now()
	s.annotated("b/db", "3306, 3307:sql", "sql=3306").
		condition("TCPIngress", "b/db", "Accepted=False/PortConflict", "1 of 2 rules, first tcp-3306: "+told).
		condition("TCPIngress", "b/db", "Programmed=False/NotAccepted", "the other one is programmed.").
		tcpServices(data{"3306": "$a/db:3306", "3307": "$b/db:sql", "6379": "$a/cache:6379", "25565": "$a/game:25565"}).
		// The grammar is right, and so nothing is wrong with the Service.
		exposeError("b/db", "").
		ready("a/db", "a/cache", "a/game").
		status("TCPIngressClass", "$class", "map[25565/TCP:$a/game/tcp-25565 3306/TCP:$a/db/tcp-3306 3307/TCP:$b/db/tcp-3307 6379/TCP:$a/cache/tcp-6379]", "listeners").
		settled()
	for _, w := range s.writes(since) {
		if w.Namespace == s.namespace("a") {
			t.Errorf("written for somebody else: %s", w)
		}
	}

	// While it waits, the rest of the annotation can be edited.
	s.annotated("b/db", "3306, 3308:sql", "sql=3306").
		tcpServices(data{"3306": "$a/db:3306", "3308": "$b/db:sql", "6379": "$a/cache:6379", "25565": "$a/game:25565"}).
		condition("TCPIngress", "b/db", "Accepted=False/PortConflict", told).
		remove("TCPIngress", "a/db").
		tcpServices(data{"3306": "$b/db:3306", "3308": "$b/db:sql", "6379": "$a/cache:6379", "25565": "$a/game:25565"}).
		ready("b/db", "a/cache", "a/game")
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
