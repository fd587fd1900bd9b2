package cli

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/nginx-stream/tcpingress/agent"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

type agentOptions struct {
	configDir   string
	sharedDir   string
	nginx       string
	loadModules []string
	listen      string
	resolvConf  string
	logLevel    string
	logFormat   string
}

func newAgentCommand() *cobra.Command {
	var o agentOptions
	cmd := &cobra.Command{
		Use:   "agent",
		Short: "Keep the nginx of a class of provider Nginx",
		Long: `Keep the nginx of a class of provider Nginx, as the container beside it.

The agent hands the mounted configuration to nginx, and calls it live only when
nginx answers for it. A configuration that nginx refuses is told of, with nginx's
own words, in the log, in /readyz and in /metrics, and the one before stays. The
agent counts sessions from the access log, which it rotates. It does not ask the
cluster, and nginx runs on when it ends, at SIGTERM, SIGINT or SIGQUIT.

Each flag can also be set by an environment variable: TCPINGRESS_CONFIG_DIR for
--config-dir. The command line wins.`,
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
			a, err := agent.New(agent.Options{
				ConfigDir: o.configDir, SharedDir: o.sharedDir, Nginx: o.nginx, LoadModules: o.loadModules,
				ResolvConf: o.resolvConf, Listen: o.listen, Logger: logger,
			})
			if err != nil {
				return err
			}
			// The image of nginx asks for SIGQUIT where others are sent SIGTERM (its
			// Dockerfile has STOPSIGNAL).
			ctx, stop := signal.NotifyContext(cmd.Context(), syscall.SIGQUIT)
			defer stop()
			return a.Run(ctx)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.configDir, "config-dir", bundle.MountDir, "directory where the ConfigMaps are mounted")
	flags.StringVar(&o.listen, "listen", ":"+strconv.Itoa(bundle.AgentPort), "address of /metrics, /readyz and /livez")
	flags.StringSliceVar(&o.loadModules, "load-module", nil, "dynamic module of nginx to load, such as /usr/lib/nginx/modules/ngx_stream_module.so; the official image needs none")
	flags.StringVar(&o.logFormat, "log-format", logText, "text or json")
	flags.StringVar(&o.logLevel, "log-level", "info", "debug, info, warn or error")
	flags.StringVar(&o.nginx, "nginx", "nginx", "nginx that checks a configuration, the one that loads it")
	flags.StringVar(&o.resolvConf, "resolv-conf", "/etc/resolv.conf", "file with the DNS servers that nginx asks where the class names none")
	flags.StringVar(&o.sharedDir, "shared-dir", bundle.SharedDir, "directory that nginx and the agent share")
	return cmd
}

func (o *agentOptions) validate() error {
	if _, _, err := net.SplitHostPort(o.listen); err != nil {
		return fmt.Errorf("--listen must be an address such as :%d or 127.0.0.1:%d: %w", bundle.AgentPort, bundle.AgentPort, err)
	}
	if !filepath.IsAbs(o.sharedDir) {
		return errors.New("--shared-dir must be an absolute path")
	}
	_, err := newLogger(io.Discard, o.logLevel, o.logFormat)
	return err
}
