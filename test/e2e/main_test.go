// Package e2e tests the project on a real API server, with the hooks as processes
// and the real Metacontroller, or what plays its part, between the two.
//
// Each test has a class and namespaces of its own; all share one control plane.
// Tests that disturb everybody, by a restart, are not parallel and so run first,
// one after the other.
package e2e

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

// h is what all tests share.
var h *harness.Harness //nolint:gochecknoglobals // a control plane for each test would cost minutes

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

// run brings everything up, and down again whatever happens.
func run(m *testing.M) (code int) {
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	begin := time.Now()
	var err error
	if h, err = harness.Start(ctx, harness.Options{CRDs: []string{"testdata/boxes.yaml"}, Policies: true}); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	fmt.Fprintf(os.Stderr, "e2e: %s, ready after %.1f s\n", harness.Describe(), time.Since(begin).Seconds())
	code = max(m.Run(), lookForRefusals())
	if code != 0 {
		fmt.Fprintln(os.Stderr, h.Cluster.Logs(8))
	}
	if err := h.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	return code
}

// lookForRefusals tells what RBAC has refused the applier during all tests.
func lookForRefusals() (code int) {
	lines, err := h.Forbidden()
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		return 1
	}
	if len(lines) == 0 {
		return 0
	}
	fmt.Fprintf(os.Stderr, "e2e: RBAC refused the applier %d requests, the first: %s", len(lines), lines[0])
	return 1
}
