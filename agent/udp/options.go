package udp

import (
	"cmp"
	"io"
	"log/slog"
	"path/filepath"
	"time"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/nginx/bundle"
)

// Options of a Supervisor. Zero values of durations stand for the defaults.
type Options struct {
	// SharedDir is the directory that is shared with the agent, as an absolute path. Dir
	// is bundle.UDPDir in it.
	SharedDir, Dir string
	// Nginx is the path of nginx, or its name in $PATH.
	Nginx string
	// Stderr is where nginx says what it says before it has its log; it may be nil.
	Stderr io.Writer
	// Logger may be nil.
	Logger *slog.Logger
	// AnswerTimeout is how long an nginx may take to answer, 4 s: less than the agent
	// waits.
	AnswerTimeout time.Duration
	// LongestDrain bounds how long an nginx that was followed stays for its sessions,
	// 10 min: some have no end.
	LongestDrain time.Duration
	// Farewell bounds how long each nginx stays for its sessions once the Supervisor was
	// told to end, 10 s.
	Farewell time.Duration
	// Poll is how often it is looked at who has drained, 250 ms; less often if that takes
	// long.
	Poll time.Duration
	// Proc is /proc.
	Proc string
}

func (o Options) withDefaults() Options {
	o.Dir = filepath.Join(o.SharedDir, bundle.UDPDir)
	o.Nginx = cmp.Or(o.Nginx, "nginx")
	o.AnswerTimeout = cmp.Or(o.AnswerTimeout, 4*time.Second)
	o.LongestDrain = cmp.Or(o.LongestDrain, 10*time.Minute)
	o.Farewell = cmp.Or(o.Farewell, 10*time.Second)
	o.Poll = cmp.Or(o.Poll, 250*time.Millisecond)
	o.Proc = cmp.Or(o.Proc, "/proc")
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}
