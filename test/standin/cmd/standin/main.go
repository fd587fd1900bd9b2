// Command standin plays Metacontroller's part for the demo, until SIGINT or SIGTERM.
// It is not Metacontroller; never deploy it.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"k8s.io/klog/v2"

	"github.com/nginx-stream/tcpingress/test/standin"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "standin:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, stderr io.Writer) error {
	var options standin.Options
	flags := flag.NewFlagSet("standin", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.StringVar(&options.Kubeconfig, "kubeconfig", "", "`file` with the address of the API server")
	flags.StringVar(&options.HookURL, "hook-url", "http://127.0.0.1:8080", "`address` that serves the hooks")
	manifests := flags.String("manifests", "manifests/base", "`folder` with CompositeControllers and DecoratorControllers")
	flags.StringVar((*string)(&options.Strategy), "apply-strategy", string(standin.DynamicApply), "dynamic-apply or server-side-apply")
	flags.IntVar(&options.Workers, "workers", 5, "`number` of workers per controller")
	if err := flags.Parse(args); err != nil {
		return err
	}
	controllers, err := standin.ReadControllers(os.DirFS(*manifests))
	if err != nil {
		return err
	}
	options.Controllers = controllers
	options.Log = slog.New(slog.NewTextHandler(stderr, nil))
	klog.SetSlogLogger(options.Log)
	s, err := standin.Start(ctx, options)
	if err != nil {
		return err
	}
	<-ctx.Done()
	s.Stop()
	return nil
}
