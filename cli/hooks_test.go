package cli

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAgentImageFollowsTheRelease(t *testing.T) {
	t.Parallel()
	const plain = "ghcr.io/nginx-stream/tcpingress"
	for version, want := range map[string]string{
		"v1.2.3":               plain + ":v1.2.3",
		"v1.2.3-rc.1":          plain + ":v1.2.3-rc.1",
		"v1.2.3-4-gabcdef":     plain,
		"v1.2.3-dirty":         plain,
		"v0.0.0-2026+dirty":    plain,
		"(devel)":              plain,
		"":                     plain,
		"v1.2.3\nv1.2.3":       plain,
		"v1.2.3@sha256:abcdef": plain,
	} {
		assert.Equal(t, want, agentImage(version), "of %q", version)
	}
}
