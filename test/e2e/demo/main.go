// Command demo shows the project on a real API server, as a story: what a user would
// type, and what the cluster answers. It needs Go and this repository; no Docker, no
// cluster, and nothing of the user's kubeconfig.
//
// What enters is the environment: KEEP=1 leaves everything running until Ctrl-C,
// METACONTROLLER_BIN and METACONTROLLER_CRDS put the real Metacontroller in place of
// what plays its part. The story leaves on standard output. Nothing is printed that
// was not checked: a step that does not show what it says ends the story with exit
// code 1. However it ends, no process, no port and no folder stays behind.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"
	"time"

	"k8s.io/klog/v2"
)

// interrupted is the exit code after a Ctrl-C in the middle, as of a shell.
const interrupted = 130

func main() {
	// A reader of our output that goes away fails a step. It must not end the process,
	// which has things to remove.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	// Clients of the API server would log there that it goes away.
	klog.SetSlogLogger(slog.New(slog.DiscardHandler))
	code := run(ctx, os.Stdout, os.Stderr, keep(os.Getenv("KEEP")))
	stop()
	os.Exit(code)
}

// keep tells whether everything shall go on running after the story.
func keep(value string) bool { return value != "" && value != "0" }

// run tells the story, removes everything, and gives the exit code.
func run(ctx context.Context, stdout, stderr io.Writer, keep bool) int {
	d := &demo{begin: time.Now(), story: &story{to: stdout}}
	err := d.play(ctx, keep)
	if err != nil && ctx.Err() == nil && d.h != nil {
		_, _ = fmt.Fprintln(stderr, d.h.Cluster.Logs(8))
	}
	left := d.cleanUp()
	switch {
	case left != nil:
		_, _ = fmt.Fprintln(stderr, "\ndemo:", errors.Join(err, fmt.Errorf("cleaning up: %w", left)))
		return 1
	case err != nil && ctx.Err() != nil:
		_, _ = fmt.Fprintln(stderr, "\ndemo: interrupted; everything is stopped and removed")
		return interrupted
	case err != nil:
		_, _ = fmt.Fprintln(stderr, "\ndemo:", err)
		return 1
	}
	d.story.say("Everything is stopped and removed.")
	return 0
}
