package agent

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// podUser is that of all containers of a pod, which have no capability.
const podUser = 101

// Nothing of it needs more than a pod of the standard "restricted" may do.
func TestAsInThePod(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("all tests of this package run without root already")
	}
	dir, err := os.MkdirTemp("", "pod") //nolint:usetesting // another user must get into it
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	require.NoError(t, os.Chown(dir, podUser, podUser))
	binary := filepath.Join(dir, "agent.test")
	copyTo(t, binary)
	cmd := exec.CommandContext(t.Context(), binary, "-test.short", "-test.v",
		"-test.run=^(TestChangeIsLive|TestTakenPortIsRefused|TestKilledNginxIsMetAgain|TestNginxForUDPThatIsKilled|TestNoAnswerIsLostByPortsThatChange|TestSupervisorEnds)$")
	cmd.Env = append(os.Environ(), "TMPDIR="+dir, "HOME="+dir, otherPorts())
	// Another user than root has no capability after exec.
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: podUser, Gid: podUser}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: TestNoAnswerIsLostByPortsThatChange")
}

// copyTo copies this very binary to where everybody can run it.
func copyTo(t *testing.T, path string) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	from, err := os.Open(self)
	require.NoError(t, err)
	defer func() { _ = from.Close() }()
	writeProgram(t, path, from)
}
