package server

import (
	"errors"
	"fmt"
	"log/slog"
	"time"
)

// Options of a Server. What is zero gets its default.
type Options struct {
	// Listen is the address of hooks, probes and metrics; ":8080" by default.
	Listen string
	// MaxConcurrent is how many hook calls run at a time; more are answered with
	// 429. The default, 16, lets all workers of Metacontroller's default in for
	// three controllers.
	MaxConcurrent int
	// MaxBody is the largest body of a hook call in bytes; 64 MiB by default.
	MaxBody int64
	// DrainDelay is the time between "not ready" and the end of listening, in which
	// the cluster learns to send nothing more; 5 s by default, and none if negative.
	DrainDelay time.Duration
	// ShutdownTimeout is what calls in flight get after that; 20 s by default.
	ShutdownTimeout time.Duration
	// ReadHeaderTimeout (5 s), ReadTimeout (30 s) and WriteTimeout (60 s) bound one
	// request, IdleTimeout (120 s) the pause between two.
	ReadHeaderTimeout, ReadTimeout, WriteTimeout, IdleTimeout time.Duration
	// TLSCertFile and TLSKeyFile, in PEM, make the server speak HTTPS only, with TLS
	// 1.2 at least. Either both or none.
	TLSCertFile, TLSKeyFile string
	// ClientCAFile, in PEM, holds the certificates of those who sign client
	// certificates. With it, hooks answer only to callers that show one. Needs TLS.
	ClientCAFile string
	// HookTokenFile holds bearer tokens, one a line. With it, hooks answer only to
	// callers that send one of them; an empty file lets nobody in.
	HookTokenFile string
	// ReloadInterval is how often these files are looked at; 5 s by default. Files
	// that changed and cannot be used change nothing, and are logged and counted.
	ReloadInterval time.Duration
	// Logger gets one line per hook call; none by default.
	Logger *slog.Logger
	// Build is shown in the metrics.
	Build Build
}

// Build tells what program this is.
type Build struct{ Version, Revision string }

func (o Options) withDefaults() Options {
	setDefault(&o.Listen, ":8080")
	setDefault(&o.MaxConcurrent, 16)
	setDefault(&o.MaxBody, 64<<20)
	setDefault(&o.DrainDelay, 5*time.Second)
	setDefault(&o.ShutdownTimeout, 20*time.Second)
	setDefault(&o.ReadHeaderTimeout, 5*time.Second)
	setDefault(&o.ReadTimeout, 30*time.Second)
	setDefault(&o.WriteTimeout, 60*time.Second)
	setDefault(&o.IdleTimeout, 120*time.Second)
	setDefault(&o.ReloadInterval, 5*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (o Options) validate() error {
	if o.MaxConcurrent < 0 || o.MaxBody < 0 {
		return errors.New("the number of concurrent calls and the size of a body must be positive")
	}
	for _, d := range []time.Duration{o.ShutdownTimeout, o.ReadHeaderTimeout, o.ReadTimeout, o.WriteTimeout, o.IdleTimeout, o.ReloadInterval} {
		if d < 0 {
			return fmt.Errorf("a timeout must not be negative: %s", d)
		}
	}
	if (o.TLSCertFile == "") != (o.TLSKeyFile == "") {
		return errors.New("a certificate needs its key, and a key its certificate")
	}
	if o.ClientCAFile != "" && o.TLSCertFile == "" {
		return errors.New("client certificates need TLS, and so a certificate and a key of the server")
	}
	return nil
}
