package main

import (
	"bytes"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExampleIsServedOverHTTP(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, show(t.Context(), printer{&out}, time.Date(2026, 8, 22, 10, 0, 0, 0, time.UTC)))

	for _, want := range []string{
		`POST /tcpingressclass/customize`,
		`POST /tcpingressclass/sync`,
		`POST /tcpingress/customize`,
		`POST /tcpingress/sync`,
		`POST /expose/sync`,
		`"6379": demo/redis:6379`,
		`name: tcp-6379`,
		`6379/TCP: demo/redis/tcp-6379`,
		`value: 203\.0\.113\.7`,
		`(?s)status: "True"\s+type: Ready`,
	} {
		assert.Regexp(t, regexp.MustCompile(want), out.String())
	}
	assert.NotContains(t, out.String(), `status: "False"`+"\n          type: Ready")
}
