// Command bench measures what forwarding costs: nginx with a rendered configuration,
// nginx with one that a person wrote for the same port, and HAProxy. They take turns,
// so that what else the machine does meets all of them.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 41, "how often each is measured")
	slice := flag.Duration("slice", 100*time.Millisecond, "how long each is measured at a time")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, *rounds, *slice); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		stop()
		os.Exit(1) //nolint:gocritic // what was started has ended in run
	}
}

func run(ctx context.Context, rounds int, slice time.Duration) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // workers of another user
		return err
	}
	s, err := newScene(ctx, dir)
	if err != nil {
		return err
	}
	defer s.close()
	results := make(results)
	for round := range rounds + 1 {
		for _, w := range works() {
			for i := range s.planes {
				p := s.planes[(i+round)%len(s.planes)] // each is first at times
				m, err := measure(ctx, p, w, slice)
				if err != nil {
					return fmt.Errorf("%s through %s: %w", w.name, p.name, err)
				}
				if round > 0 { // the first one warms up
					results.add(w.name, p.name, m)
				}
			}
		}
	}
	results.print(os.Stdout, s.planes)
	return nil
}
