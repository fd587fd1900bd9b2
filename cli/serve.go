package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/nginx-stream/tcpingress/hooks/server"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress"
)

type serveOptions struct {
	listen          string
	maxConcurrent   int
	maxBody         string
	readTimeout     time.Duration
	shutdownDelay   time.Duration
	shutdownTimeout time.Duration
	logLevel        string
	logFormat       string
	tlsCertFile     string
	tlsKeyFile      string
	clientCAFile    string
	hookTokenFile   string
	agentImage      string
}

func newServeCommand() *cobra.Command {
	var o serveOptions
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Answer the hooks of Metacontroller over HTTP",
		Long: `Answer the hooks of Metacontroller over HTTP.

The server keeps no state and needs no access to the cluster; any number of
replicas may run. Beside the hooks it has /healthz, /readyz and /metrics, and
/admission/validate for the API server's admission.

With a certificate and its key it speaks HTTPS only, on the same address; probes
then need the scheme HTTPS. With --hook-token-file or --client-ca-file hooks
answer only to those who show a token or a client certificate, and to others
with 401; probes, metrics and admission stay open. The files are looked at every
few seconds: new content is used from the next call on, and content that cannot
be used is logged and counted, and changes nothing.

At SIGTERM or SIGINT it is no longer ready, goes on answering for
--shutdown-delay, then stops listening, and ends when the calls in flight are
answered. A second signal ends it at once.

Each flag can also be set by an environment variable: TCPINGRESS_MAX_BODY for
--max-body. The command line wins.`,
		Example: `  tcpingress serve --listen 127.0.0.1:8080 --log-level debug
  TCPINGRESS_LOG_FORMAT=json tcpingress serve`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := fromEnvironment(cmd.Flags(), os.LookupEnv); err != nil {
				return err
			}
			if err := o.validate(); err != nil {
				return err
			}
			return serve(cmd.Context(), &o, cmd.ErrOrStderr())
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&o.agentImage, "agent-image", agentImage(thisBuild().Version), "image of this program, of which the pods of provider Nginx get their agent")
	flags.StringVar(&o.clientCAFile, "client-ca-file", "", "certificates (PEM) of those who sign client certificates, which hooks then ask for")
	flags.StringVar(&o.hookTokenFile, "hook-token-file", "", "bearer tokens, one a line, of which hooks then ask for one; an empty file lets nobody in")
	flags.StringVar(&o.listen, "listen", ":8080", "address of hooks, probes and metrics")
	flags.StringVar(&o.logFormat, "log-format", logText, "text or json")
	flags.StringVar(&o.logLevel, "log-level", "info", "debug (a line per hook call), info, warn (only calls that failed) or error")
	flags.StringVar(&o.maxBody, "max-body", "64Mi", "largest body of a hook call, as a quantity of bytes")
	flags.IntVar(&o.maxConcurrent, "max-concurrent", 16, "hook calls that run at a time; more are asked to come back in a second")
	flags.DurationVar(&o.readTimeout, "read-timeout", 30*time.Second, "time in which a request must have arrived")
	flags.DurationVar(&o.shutdownDelay, "shutdown-delay", 5*time.Second, "time between being no longer ready and no longer listening")
	flags.DurationVar(&o.shutdownTimeout, "shutdown-timeout", 20*time.Second, "time for calls in flight after that")
	flags.StringVar(&o.tlsCertFile, "tls-cert-file", "", "certificate (PEM, with its chain) of the server, which then speaks HTTPS only")
	flags.StringVar(&o.tlsKeyFile, "tls-key-file", "", "key (PEM) of the certificate")
	return cmd
}

func (o *serveOptions) validate() error {
	if _, _, err := net.SplitHostPort(o.listen); err != nil {
		return fmt.Errorf("--listen must be an address such as :8080 or 127.0.0.1:8080: %w", err)
	}
	if o.maxConcurrent < 1 {
		return fmt.Errorf("--max-concurrent must be at least 1, and is %d", o.maxConcurrent)
	}
	if _, err := o.maxBodyBytes(); err != nil {
		return err
	}
	if o.readTimeout <= 0 || o.shutdownTimeout <= 0 {
		return errors.New("--read-timeout and --shutdown-timeout must be longer than 0s")
	}
	if o.shutdownDelay < 0 {
		return errors.New("--shutdown-delay must not be negative; 0s is none")
	}
	if (o.tlsCertFile == "") != (o.tlsKeyFile == "") {
		return errors.New("--tls-cert-file and --tls-key-file need each other")
	}
	if o.clientCAFile != "" && o.tlsCertFile == "" {
		return errors.New("--client-ca-file needs --tls-cert-file and --tls-key-file: there are no client certificates without TLS")
	}
	if o.agentImage == "" {
		return errors.New("--agent-image must name an image")
	}
	_, err := o.logger(io.Discard)
	return err
}

func (o *serveOptions) maxBodyBytes() (int64, error) {
	q, err := resource.ParseQuantity(o.maxBody)
	if err != nil {
		return 0, fmt.Errorf("--max-body must be a quantity of bytes such as 64Mi, and is %q", o.maxBody)
	}
	if q.Value() < 1 {
		return 0, fmt.Errorf("--max-body must be at least 1 byte, and is %q", o.maxBody)
	}
	return q.Value(), nil
}

func (o *serveOptions) logger(w io.Writer) (*slog.Logger, error) {
	return newLogger(w, o.logLevel, o.logFormat)
}

func serve(ctx context.Context, o *serveOptions, stderr io.Writer) error {
	logger, err := o.logger(stderr)
	if err != nil {
		return err
	}
	maxBody, err := o.maxBodyBytes()
	if err != nil {
		return err
	}
	delay := o.shutdownDelay
	if delay == 0 {
		delay = -1 // to the server, 0 is the default
	}
	build := thisBuild()
	s, err := server.New(server.Options{
		Listen:          o.listen,
		MaxConcurrent:   o.maxConcurrent,
		MaxBody:         maxBody,
		DrainDelay:      delay,
		ShutdownTimeout: o.shutdownTimeout,
		ReadTimeout:     o.readTimeout,
		TLSCertFile:     o.tlsCertFile,
		TLSKeyFile:      o.tlsKeyFile,
		ClientCAFile:    o.clientCAFile,
		HookTokenFile:   o.hookTokenFile,
		Logger:          logger,
		Build:           server.Build{Version: build.Version, Revision: build.Revision},
	}, hooks(o.agentImage), tcpingress.Admission())
	if err != nil {
		return err
	}
	return s.Run(ctx)
}
