// Command run starts a control plane, prints how to use it, and stops it on Ctrl-C.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/nginx-stream/tcpingress/test/cluster"
	"github.com/nginx-stream/tcpingress/test/cluster/assets"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to release
	}
}

// run is the command with its streams.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("run", flag.ContinueOnError)
	flags.SetOutput(stderr)
	crds := flags.String("crds", "", "files or folders with CRDs to begin with, separated by commas")
	logs := flags.String("logs", "", "folder that keeps the logs (default: one that goes with the cluster)")
	audit := flags.Bool("audit", false, "write audit.jsonl beside the logs")
	if err := flags.Parse(args); err != nil {
		return err
	}
	options := cluster.Options{Progress: stderr, LogDir: *logs, Audit: *audit}
	if *crds != "" {
		options.CRDs = strings.Split(*crds, ",")
	}
	begin := time.Now()
	c, err := cluster.Start(ctx, options)
	if err != nil {
		return err
	}
	fmt.Fprintf(stderr, "ready after %.1f s at %s, logs in %s; Ctrl-C stops it\n", time.Since(begin).Seconds(), c.URL(), c.LogDir())
	fmt.Fprintf(stdout, "export KUBECONFIG=%s PATH=%s:$PATH\n", c.KubeconfigPath(), filepath.Dir(c.Bin(assets.Kubectl)))
	<-ctx.Done()
	return c.Stop()
}
