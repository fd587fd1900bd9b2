// Package agent stands beside the nginx of provider Nginx: it hands over what was
// mounted, finds out what nginx really serves, and tells of it. Mounted files, the
// logs and processes of nginx, and the kernel's tables enter; files in the shared
// directory, signals, and metrics leave. It does not ask the cluster.
package agent

import (
	"cmp"
	"io"
	"log/slog"
	"time"
)

// Options of the agent. Zero values of durations and sizes stand for the defaults.
type Options struct {
	// ConfigDir is where the files are mounted.
	ConfigDir string
	// SharedDir is the directory that nginx and the agent share, as an absolute path.
	SharedDir string
	// Nginx is the binary that checks a configuration.
	Nginx string
	// LoadModules are paths of dynamic modules of nginx.
	LoadModules []string
	// ResolvConf is the path of the pod's resolv.conf.
	ResolvConf string
	// Listen is the address of metrics and probes.
	Listen string
	// Logger may be nil.
	Logger *slog.Logger

	// Poll is how often files and processes are looked at, 1 s.
	Poll time.Duration
	// AnswerTimeout is how long a generation has to answer, 5 s.
	AnswerTimeout time.Duration
	// CheckTimeout bounds "nginx -t", 30 s.
	CheckTimeout time.Duration
	// Retry is how long a refused generation rests before it is tried again, 1 min.
	Retry time.Duration
	// LogSize is how large the access log may become, 32 MiB.
	LogSize int64
	// SaveInterval is how often counters are saved, 10 s.
	SaveInterval time.Duration
	// SeriesGrace is how long the metrics of a removed listener can still be read
	// after its last session, 5 min.
	SeriesGrace time.Duration
	// Proc is /proc.
	Proc string
}

func (o Options) withDefaults() Options {
	o.Poll = cmp.Or(o.Poll, time.Second)
	o.AnswerTimeout = cmp.Or(o.AnswerTimeout, 5*time.Second)
	o.CheckTimeout = cmp.Or(o.CheckTimeout, 30*time.Second)
	o.Retry = cmp.Or(o.Retry, time.Minute)
	o.LogSize = cmp.Or(o.LogSize, 32<<20)
	o.SaveInterval = cmp.Or(o.SaveInterval, 10*time.Second)
	o.SeriesGrace = cmp.Or(o.SeriesGrace, 5*time.Minute)
	o.Proc = cmp.Or(o.Proc, "/proc")
	o.Nginx = cmp.Or(o.Nginx, "nginx")
	if o.Logger == nil {
		o.Logger = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	return o
}
