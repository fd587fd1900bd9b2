package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"github.com/nginx-stream/tcpingress/agent/udp"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

type nginxUDPOptions struct {
	sharedDir string
	nginx     string
	logLevel  string
	logFormat string
}

func newNginxUDPCommand() *cobra.Command {
	var o nginxUDPOptions
	cmd := &cobra.Command{
		Use:   "nginx-udp",
		Short: "Run the nginx for UDP of a class of provider Nginx",
		Long: `Run the nginx for UDP of a class of provider Nginx, as a container of its own.

nginx drops the answers that its old workers wait for when it is reloaded. So this
command starts another nginx beside the one that runs, leads all packets to it from
the moment when it serves, and ends the one before when its sessions are over.

It is signalled as nginx would be. SIGHUP: take up the configuration that the agent
has linked. SIGUSR1: open the logs anew. SIGQUIT and SIGTERM: take no packets any
more, wait some seconds for answers, end. A second one of those, or SIGINT: end at
once.

Each flag can also be set by an environment variable: TCPINGRESS_SHARED_DIR for
--shared-dir. The command line wins.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd.Flags(), os.LookupEnv); err != nil {
				return err
			}
			if err := o.validate(); err != nil {
				return err
			}
			logger, err := newLogger(cmd.ErrOrStderr(), o.logLevel, o.logFormat)
			if err != nil {
				return err
			}
			if err := openAllFiles(); err != nil {
				return err
			}
			signals, stop := udp.Listen()
			defer stop()
			s := udp.New(udp.Options{SharedDir: o.sharedDir, Nginx: o.nginx, Stderr: cmd.ErrOrStderr(), Logger: logger})
			// SIGTERM ends the context, and is to end nothing at once here.
			return s.Run(context.WithoutCancel(cmd.Context()), signals)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.logFormat, "log-format", logText, "text or json")
	flags.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&o.nginx, "nginx", "nginx", "nginx to run")
	flags.StringVar(&o.sharedDir, "shared-dir", bundle.SharedDir, "directory that nginx and the agent share")
	return cmd
}

func (o *nginxUDPOptions) validate() error {
	if !filepath.IsAbs(o.sharedDir) {
		return errors.New("--shared-dir must be an absolute path")
	}
	_, err := newLogger(io.Discard, o.logLevel, o.logFormat)
	return err
}

// openAllFiles lets this process and its children open as many files as the container
// may: sockets are held here, and nginx gets them.
func openAllFiles() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("reading the limit of open files: %w", err)
	}
	limit.Cur = limit.Max
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return fmt.Errorf("raising the limit of open files: %w", err)
	}
	return nil
}
