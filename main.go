// Command tcpingress serves the hooks, and shows what they would do to files.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/nginx-stream/tcpingress/cli"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// From the first signal on, the next one ends the process at once.
	context.AfterFunc(ctx, stop)
	os.Exit(cli.Run(ctx, os.Args, cli.Streams{In: os.Stdin, Out: os.Stdout, Err: os.Stderr}))
}
