package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/nginx-stream/tcpingress/test/cluster/assets"
	"github.com/nginx-stream/tcpingress/test/e2e/harness"
)

// folder is ours, below the root of the repository.
const folder = "test/e2e/demo"

// demo is what the steps of the story share.
type demo struct {
	begin time.Time
	story *story
	h     *harness.Harness
	root  string // of the repository, where kubectl runs
	dir   string // of our own files
	// refused tells that the second claim was not even stored.
	refused bool
	// ends are run in reverse order.
	ends []func() error
}

// play takes the steps, and then waits if asked to.
func (d *demo) play(ctx context.Context, keep bool) error {
	if err := d.start(ctx); err != nil {
		return err
	}
	for _, step := range []func(context.Context) error{
		d.examples,
		d.addresses,
		d.everybody,
		d.class,
		d.secondClaim,
		d.lateBackend,
		d.children,
		d.takeover,
		d.traffic,
	} {
		if err := step(ctx); err != nil {
			return err
		}
		if err := errors.Join(ctx.Err(), d.story.err); err != nil {
			return err
		}
	}
	d.story.say("All of it took %.1f s.", time.Since(d.begin).Seconds())
	if keep {
		d.stay(ctx)
	}
	return d.story.err
}

// start brings up the control plane, the hooks, the manifests and what applies.
func (d *demo) start(ctx context.Context) error {
	var err error
	if d.root, err = harness.Repository(ctx); err != nil {
		return err
	}
	if d.dir, err = os.MkdirTemp("", "tcpingress-demo-"); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	d.ends = append(d.ends, func() error { return os.RemoveAll(d.dir) })

	d.story.title("A control plane and the hooks")
	d.story.say("Real etcd, kube-apiserver and kube-controller-manager start on 127.0.0.1, without Docker and without\n" +
		"nodes: Pods would never run. `go build` makes the hooks from this repository.")

	// A Ctrl-C interrupts the start, but not what runs: that ends in its own order.
	life, end := context.WithCancel(context.WithoutCancel(ctx))
	d.ends = append(d.ends, func() error { end(); return nil })
	release := context.AfterFunc(ctx, end)
	h, err := harness.Start(life, harness.Options{Replicas: 1, Direct: true, Install: d.install})
	if err != nil {
		return err
	}
	d.h = h
	d.ends = append(d.ends, h.Stop)
	if !release() {
		return ctx.Err()
	}
	return nil
}

// stay tells how to use what runs, and waits for a Ctrl-C.
func (d *demo) stay(ctx context.Context) {
	d.story.title("It goes on running")
	d.story.say("Type this in another terminal; everything is removed after Ctrl-C in this one.")
	d.story.lines(fmt.Sprintf(`export KUBECONFIG="%s" PATH="%s:$PATH"`, d.h.Cluster.KubeconfigPath(), filepath.Dir(d.h.Cluster.Bin(assets.Kubectl))))
	<-ctx.Done()
}

// cleanUp undoes what was done, the last thing first.
func (d *demo) cleanUp() error {
	var errs []error
	for _, end := range slices.Backward(d.ends) {
		errs = append(errs, end())
	}
	return errors.Join(errs...)
}
