package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

type lintOptions struct {
	files     []string
	recursive bool
}

// findingsError ends lint after it printed what it found. It stands for exit code
// 1; every other error stands for 2.
type findingsError struct{ count int }

func (e *findingsError) Error() string {
	if e.count == 1 {
		return "1 finding"
	}
	return fmt.Sprintf("%d findings", e.count)
}

func newLintCommand() *cobra.Command {
	var o lintOptions
	cmd := &cobra.Command{
		Use:   "lint -f FILE|DIR|-",
		Short: "Check files as the controllers would, without a cluster",
		Long: `Check files as the controllers would, without a cluster.

Reads and runs the same as render, and prints one line for each rule that would
not be accepted:

  FILE:LINE: KIND NAMESPACE/NAME RULE: REASON: MESSAGE

So do classes that cannot be used, annotations that cannot be read, and rules
whose Service does not fit. That a Service does not exist is told only where the
files hold other Services of its namespace: else it is taken to be elsewhere.

What cannot be read, or is of a class that is in none of the files, is told beside
that; the rest is checked without it.

Exit code 0: nothing found. 1: something found. 2: something could not be read.`,
		Example: `  tcpingress lint -f class.yaml -f deploy/`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := validateFiles(o.files); err != nil {
				return err
			}
			return lint(&o, cmd.InOrStdin(), cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	fileFlags(cmd, &o.files, &o.recursive)
	return cmd
}

func lint(o *lintOptions, stdin io.Reader, stdout, stderr io.Writer) error {
	in, unread := read(o.files, o.recursive, stdin, stderr)
	if unread != nil && (in == nil || len(in.sources) == 0) {
		return unread
	}
	if len(in.sources) == 0 {
		return fmt.Errorf("there is nothing to check in %s: no file there holds an object of these kinds; folders in a folder are read with -R", strings.Join(o.files, ", "))
	}
	entries, err := simulated(in)
	if err != nil {
		return errors.Join(unread, err)
	}
	found, err := findings(in, entries)
	if err != nil {
		return err
	}
	for i := range found {
		if _, err := fmt.Fprintln(stdout, found[i].String()); err != nil {
			return err
		}
	}
	if err := errors.Join(unread, checkClasses(in), checkDefaultClass(in, entries)); err != nil {
		return err
	}
	if len(found) > 0 {
		return &findingsError{count: len(found)}
	}
	return nil
}
