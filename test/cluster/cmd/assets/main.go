// Command assets makes sure that the binaries of the control plane are built and prints the folder that they are in. Progress goes to standard
// error, so that a Makefile can write KUBEBUILDER_ASSETS="$(cd test/cluster && go run ./cmd/assets)".
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/nginx-stream/tcpingress/test/cluster/assets"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	dir, err := assets.Ensure(ctx, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, "assets:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to release
	}
	fmt.Println(dir)
}
