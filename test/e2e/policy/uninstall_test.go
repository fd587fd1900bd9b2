package policy

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A class in use keeps nobody from uninstalling: neither in the order of the
// documentation nor, with the policies still there, in another.
func TestUninstall(t *testing.T) {
	t.Parallel()
	s, err := start(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, s.Stop()) })
	kubectl := func(args ...string) {
		t.Helper()
		begin := time.Now()
		out, err := s.Kubectl(t.Context(), append([]string{"--timeout=30s"}, args...)...).CombinedOutput()
		require.NoError(t, err, string(out))
		t.Logf("kubectl %v: %.1f s", args, time.Since(begin).Seconds())
	}
	inUse := func(name string) {
		t.Helper()
		_, err := s.create(t.Context(), "apiVersion: nginx-stream.dev/v1\nkind: TCPIngressClass\nmetadata: {name: "+name+"}\nspec: {namespace: edge}\n")
		require.NoError(t, err)
		_, err = s.of("tcpingressclasses", "").Patch(t.Context(), name, mergePatch, []byte(`{"status":{"listeners":{"1/TCP":"a/b/c"}}}`), patchOptions(), "status")
		require.NoError(t, err)
		require.ErrorContains(t, s.of("tcpingressclasses", "").Delete(t.Context(), name, deleteOptions()), "is in use")
	}
	const ours = "tcpingressclasses.nginx-stream.dev"
	inUse("first")
	// The definitions take their objects with them, whatever the policies say.
	kubectl("delete", "customresourcedefinition", ours)

	again, err := start(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, again.Stop()) })
	s = again
	inUse("second")
	kubectl("delete", "validatingadmissionpolicybinding", "tcpingress", "tcpingressclass-delete")
	require.Eventually(t, func() bool {
		return s.of("tcpingressclasses", "").Delete(t.Context(), "second", deleteOptions()) == nil
	}, 20*time.Second, 100*time.Millisecond)
	kubectl("delete", "customresourcedefinition", ours)
}
