// Command run shows what the hooks do, without a cluster. It starts the server,
// applies an example to a simulated cluster, posts the requests that Metacontroller
// would make of it over HTTP, prints the ConfigMap, the Service and the statuses
// that come of it, and stops the server.
//
// The example and the controllers are those of package manifests. What other
// controllers of a cluster would add, an endpoint and an address, is made up here
// and said so.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := show(ctx, printer{os.Stdout}, time.Now())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "run:", err)
		os.Exit(1)
	}
}
