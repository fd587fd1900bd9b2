// Command bench measures the whole on a real control plane: how long it takes from
// the last create until every key is in the ConfigMaps, every port on the Services and
// every TCPIngress Ready, what that costs, and what one more costs.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"

	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

// head of the table. Times count from the last create.
const head = "| TCPIngresses | classes | created in | keys | ports | Ready | hook calls (class syncs) | hook MB | API writes " +
	"| one more, Ready | its hook calls (class syncs) | etcd | kube-apiserver | applier | hooks |"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to release
	}
}

// run is the command with its streams.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(stderr)
	sizes := flags.String("sizes", "200x1,1000x1,3000x2", "rounds, each as <TCPIngresses>x<classes>")
	if err := flags.Parse(args); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(stdout, "applied by %s\n\n%s\n%s\n", harness.Describe(), head, strings.Repeat("| --- ", strings.Count(head, "|")-1)+"|")
	for size := range strings.SplitSeq(*sizes, ",") {
		n, classes, ok := parse(size)
		if !ok {
			return fmt.Errorf("-sizes: %q is not <TCPIngresses>x<classes>", size)
		}
		line, err := measure(ctx, n, classes)
		if err != nil {
			return fmt.Errorf("measuring %s: %w", size, err)
		}
		_, _ = fmt.Fprintln(stdout, line)
	}
	return nil
}

func parse(size string) (n, classes int, ok bool) {
	left, right, _ := strings.Cut(size, "x")
	n, err := strconv.Atoi(left)
	classes, err2 := strconv.Atoi(right)
	return n, classes, err == nil && err2 == nil && n > 0 && classes > 0
}

// measure takes one round, on a control plane of its own.
func measure(ctx context.Context, n, classes int) (line string, err error) {
	// What watches this control plane may not go on to the next one.
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	h, err := harness.Start(ctx, harness.Options{Replicas: 1, Direct: true})
	if err != nil {
		return "", err
	}
	defer func() {
		if stop := h.Stop(); err == nil {
			err = stop
		}
	}()
	r := &round{h: h, n: n, classes: classes}
	if err := r.prepare(ctx); err != nil {
		return "", err
	}
	return r.play(ctx)
}
