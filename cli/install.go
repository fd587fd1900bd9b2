package cli

import (
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

// newInstallCommand is for the init container of provider Nginx: the image of this
// program has no shell, and so no cp.
func newInstallCommand() *cobra.Command {
	return &cobra.Command{
		Use:    "install DIR",
		Short:  "Copy this program into a folder, for the pods of provider Nginx",
		Hidden: true,
		Args:   cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			program, err := os.Executable()
			if err != nil {
				return fmt.Errorf("finding this program: %w", err)
			}
			return install(program, args[0])
		},
	}
}

// install replaces DIR/tcpingress in one step: a container that starts again finds
// the old one or the new one.
func install(program, dir string) error {
	from, err := os.Open(program)
	if err != nil {
		return fmt.Errorf("opening program: %w", err)
	}
	defer from.Close() //nolint:errcheck // it was only read
	to, err := os.CreateTemp(dir, ".tcpingress-*")
	if err != nil {
		return fmt.Errorf("installing program: %w", err)
	}
	defer os.Remove(to.Name()) //nolint:errcheck // it is gone if all went well
	if err := copyProgram(to, from); err != nil {
		return fmt.Errorf("installing program: %w", err)
	}
	if err := os.Rename(to.Name(), filepath.Join(dir, "tcpingress")); err != nil {
		return fmt.Errorf("installing program: %w", err)
	}
	return nil
}

func copyProgram(to *os.File, from io.Reader) error {
	if _, err := io.Copy(to, from); err != nil {
		_ = to.Close() // the first error counts
		return err
	}
	if err := to.Chmod(0o755); err != nil {
		_ = to.Close() // the first error counts
		return err
	}
	return to.Close()
}
