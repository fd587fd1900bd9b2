package cli

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestExitCodes(t *testing.T) {
	tests := map[string]struct {
		args []string
		code int
		err  string
	}{
		"fine":            {[]string{"version"}, 0, ""},
		"an unknown flag": {[]string{"version", "--x"}, 2, "error: unknown flag: --x\nRun 'tcpingress version --help' for usage\n"},
		"a wrong value":   {[]string{"version", "-o", "xml"}, 2, "error: -o must be json, or left out for a line of text, and is \"xml\"\n"},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			var out, err strings.Builder
			code := Run(t.Context(), append([]string{"/usr/bin/tcpingress"}, tc.args...), Streams{In: strings.NewReader(""), Out: &out, Err: &err})
			assert.Equal(t, tc.code, code)
			assert.Equal(t, tc.err, err.String())
			assert.Equal(t, tc.code == 0, out.Len() > 0, "stdout is for the product only")
		})
	}
}

// TestFlagsAreSafeAsVariables keeps flags off the names that the kubelet sets for a
// Service, and holds that each has a description.
func TestFlagsAreSafeAsVariables(t *testing.T) {
	serve := newServeCommand()
	require.True(t, serve.HasAvailableFlags())
	serve.Flags().VisitAll(func(f *pflag.Flag) {
		assert.NotRegexp(t, "^TCPINGRESS_(PORT|SERVICE)", variableOf(f.Name))
		assert.NotEmpty(t, f.Usage)
	})
	assert.Equal(t, "TCPINGRESS_MAX_BODY", variableOf("max-body"))
}

func TestFromEnvironment(t *testing.T) {
	flags := new(cobra.Command).Flags()
	text := flags.String("some-text", "default", "")
	number := flags.Int("number", 1, "")
	set := flags.String("set", "", "")
	require.NoError(t, flags.Parse([]string{"--set", "line"}))
	variables := map[string]string{"TCPINGRESS_SOME_TEXT": "env", "TCPINGRESS_NUMBER": "", "TCPINGRESS_SET": "env"}
	lookup := func(name string) (string, bool) { value, found := variables[name]; return value, found }

	require.NoError(t, fromEnvironment(flags, lookup))
	assert.Equal(t, "env", *text)
	assert.Equal(t, 1, *number, "an empty variable is none")
	assert.Equal(t, "line", *set, "the command line wins")

	variables["TCPINGRESS_NUMBER"] = "x"
	require.ErrorContains(t, fromEnvironment(flags, lookup), "reading TCPINGRESS_NUMBER: ")
}
