package agent

import (
	"io"
	"os"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// writeProgram writes a program that the test is going to run. No other test forks
// meanwhile: its child would hold the file open for writing until its own exec, and for so
// long the kernel refuses to run the file ("text file busy").
func writeProgram(t *testing.T, path string, content io.Reader) {
	t.Helper()
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	to, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o755)
	require.NoError(t, err)
	_, err = io.Copy(to, content)
	require.NoError(t, err)
	require.NoError(t, to.Close())
}

// writeScript writes a program for the shell.
func writeScript(t *testing.T, path, script string) {
	t.Helper()
	writeProgram(t, path, strings.NewReader("#!/bin/sh\n"+script))
}
