package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
)

// Exit codes of all commands.
const (
	exitFine     = 0
	exitFindings = 1
	exitUsage    = 2
)

// Streams are what a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// Run runs the command of args, the first of which is the program's name, and gives
// the exit code. The end of the context asks the command to end.
func Run(ctx context.Context, args []string, s Streams) int {
	cmd := Command(args[0], s)
	cmd.SetArgs(args[1:])
	err := cmd.ExecuteContext(ctx)
	var found *findingsError
	switch {
	case err == nil:
		return exitFine
	case errors.As(err, &found):
		_, _ = fmt.Fprintln(s.Err, found)
		return exitFindings
	default:
		_, _ = fmt.Fprintln(s.Err, "error:", err)
		return exitUsage
	}
}

// Command makes the root command. Called as kubectl-tcpingress it says of itself
// what its user typed: kubectl tcpingress.
func Command(program string, s Streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "tcpingress",
		Short: "Expose TCP and UDP services of Kubernetes through a shared nginx",
		Long: `Expose TCP and UDP services of Kubernetes through a shared nginx.

In a cluster, "serve" answers the hooks of Metacontroller. At a desk or in CI, the
other commands show what those hooks would make of files.

Exit code 0: fine. 1: something was found in the files. 2: wrong usage, or
something could not be read or started.`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	if strings.HasPrefix(filepath.Base(program), "kubectl-") {
		root.Annotations = map[string]string{cobra.CommandDisplayNameAnnotation: "kubectl tcpingress"}
	}
	root.SetIn(s.In)
	root.SetOut(s.Out)
	root.SetErr(s.Err)
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		return fmt.Errorf("%w\nRun '%s --help' for usage", err, cmd.CommandPath())
	})
	root.AddCommand(
		newServeCommand(),
		newAgentCommand(),
		newNginxUDPCommand(),
		newRenderCommand(),
		newLintCommand(),
		newVersionCommand(),
		newInstallCommand(),
	)
	return root
}
