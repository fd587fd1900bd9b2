package policy

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestDeletionOfAClass(t *testing.T) {
	t.Parallel()
	remove := func(name string) error {
		return server.of("tcpingressclasses", "").Delete(t.Context(), name, deleteOptions())
	}
	class(t, "unused", "", "")
	require.NoError(t, remove("unused"))

	class(t, "used", "", "{listeners: {7301/TCP: data/redis/tcp-7301}}")
	const inUse = "Class used is in use: its book has 1 entry, and its Services would go with it, with their addresses. Delete the TCPIngresses first; or, if it is meant: kubectl annotate tcpingressclass used nginx-stream.dev/allow-delete=true"
	assert.Equal(t, inUse, said(t, remove("used")))
	out, err := server.Kubectl(t.Context(), "annotate", "tcpingressclass", "used", "nginx-stream.dev/allow-delete=true").CombinedOutput()
	require.NoError(t, err, string(out))
	require.NoError(t, remove("used"))

	class(t, "ranges", "", "{ranges: [{from: 1, to: 2, protocol: TCP, holder: a/b/c}, {from: 5, to: 6, protocol: TCP, holder: a/b/c}]}")
	assert.Contains(t, said(t, remove("ranges")), "its book has 2 entries")

	class(t, "shared", "service: {tcpName: ingress-nginx-controller}", "")
	assert.Equal(t, "Service ingress-nginx-controller would be deleted with class shared, with its address. To hand it back: kubectl label service -n edge ingress-nginx-controller controller-uid- ; then: kubectl annotate tcpingressclass shared nginx-stream.dev/allow-delete=true", said(t, remove("shared")))
}
