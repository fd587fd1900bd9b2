package crd_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/nginx-stream/tcpingress/crd"
	"github.com/nginx-stream/tcpingress/test/crd/apiserver"
)

func judge(t *testing.T) *apiserver.Judge {
	t.Helper()
	j, err := apiserver.New(crd.Manifests())
	require.NoError(t, err)
	return j
}

// The API server refuses a definition whose CEL rules could cost too much.
func TestDefinitionsAreLegal(t *testing.T) {
	for _, err := range judge(t).Definitions(t.Context()) {
		assert.NoError(t, err)
	}
}
