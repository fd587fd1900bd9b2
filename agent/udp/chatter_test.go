package udp

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestChatter(t *testing.T) {
	var got bytes.Buffer
	c := &chatter{to: &got}
	for _, text := range []string{"one\ntw", "o\n2026/12/01 12:00:00 [notice] 7#7: using inheri", "ted sockets from \"3;4;\"\n", "three\n"} {
		n, err := c.Write([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, len(text), n)
	}
	assert.Equal(t, "one\ntwo\nthree\n", got.String())
}
