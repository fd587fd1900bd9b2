package cluster

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/nginx-stream/tcpingress/test/cluster/assets"
)

// How long a process may take to end by itself: nobody needs what is in a cluster that stops, but a restarted API server should end like a real one.
const (
	stopGrace    = 3 * time.Second
	restartGrace = 20 * time.Second
)

// starts is how often Start tries again when somebody else took a port between the moment it was found free and the moment it was needed.
const starts = 5

// Cluster is a running control plane. Its methods may be called at the same time.
type Cluster struct {
	options Options
	dir     string
	ports   ports
	ca      *authority
	client  *http.Client
	ctx     context.Context // ends when the cluster is to stop
	cancel  context.CancelFunc
	unwatch func() bool
	change  sync.Mutex // held while processes are started or stopped

	mu        sync.Mutex
	processes []*process // in the order of their start
	users     int        // kubeconfigs written
}

// Start starts a control plane and returns when it is ready for requests. Everything stops when ctx ends, as by Stop; a test passes a context that
// outlives its clean-up functions, or accepts that they find the cluster gone.
func Start(ctx context.Context, options Options) (*Cluster, error) {
	options = options.withDefaults()
	var err error
	if options.Assets == "" {
		options.Assets, err = assets.Ensure(ctx, options.Progress)
	} else {
		err = assets.Check(options.Assets)
	}
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		c, err := start(ctx, options)
		if err == nil {
			return c, nil
		}
		if try == starts || !errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("starting the control plane: %w", err)
		}
	}
}

// start tries once.
func start(ctx context.Context, options Options) (*Cluster, error) {
	dir, err := os.MkdirTemp("", "tcpingress-cluster-")
	if err != nil {
		return nil, fmt.Errorf("making a folder for the cluster: %w", err)
	}
	c := &Cluster{options: options, dir: dir}
	c.ctx, c.cancel = context.WithCancel(ctx)
	if err := c.bringUp(); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	c.unwatch = context.AfterFunc(ctx, func() { _ = c.stop() })
	return c, nil
}

// bringUp takes the steps that lead to a ready control plane.
func (c *Cluster) bringUp() error {
	c.change.Lock()
	defer c.change.Unlock()
	ctx, cancel := context.WithTimeout(c.ctx, c.options.Timeout)
	defer cancel()
	for _, step := range []func(context.Context) error{
		c.prepare,
		c.startEtcd,
		c.startAPIServer,
		c.applyCRDs,
		c.startControllerManager,
	} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// startEtcd starts etcd and waits for it.
func (c *Cluster) startEtcd(ctx context.Context) error {
	if err := c.launch(assets.Etcd, c.etcdArgs()); err != nil {
		return err
	}
	return c.await(ctx, assets.Etcd, c.etcdURL()+"/readyz", "")
}

// startAPIServer starts kube-apiserver and waits for it.
func (c *Cluster) startAPIServer(ctx context.Context) error {
	if err := c.launch(assets.APIServer, c.apiServerArgs()); err != nil {
		return err
	}
	return c.await(ctx, assets.APIServer, c.URL()+"/readyz", "")
}

// startControllerManager starts kube-controller-manager and waits until its controllers run. Before that it is healthy too, but ends for good when
// the API server is away.
func (c *Cluster) startControllerManager(ctx context.Context) error {
	kubeconfig, err := c.UserKubeconfig("system:kube-controller-manager", "system:masters")
	if err != nil {
		return err
	}
	if err := c.launch(assets.ControllerManager, c.controllerManagerArgs(kubeconfig)); err != nil {
		return err
	}
	url := "https://127.0.0.1:" + c.ports.controllerManager + "/healthz?verbose"
	return c.await(ctx, assets.ControllerManager, url, "-controller ok")
}

// launch starts the process called name, in place of one that has ended.
func (c *Cluster) launch(name string, args []string) error {
	p, err := startProcess(name, c.Bin(name), args, filepath.Join(c.LogDir(), name+".log"))
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := slices.IndexFunc(c.processes, func(p *process) bool { return p.name == name }); i >= 0 {
		c.processes[i] = p
	} else {
		c.processes = append(c.processes, p)
	}
	return nil
}

// snapshot returns the processes of the moment.
func (c *Cluster) snapshot() []*process {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.processes)
}

// RestartAPIServer ends the API server as an upgrade would, starts it again on the same port and the same data, and waits until it is ready. Clients
// see refused connections in between.
func (c *Cluster) RestartAPIServer(ctx context.Context) error {
	c.change.Lock()
	defer c.change.Unlock()
	ctx, cancel := context.WithTimeout(ctx, c.options.Timeout)
	defer cancel()
	defer context.AfterFunc(c.ctx, cancel)() // Stop does not wait for us
	if err := c.ctx.Err(); err != nil {
		return fmt.Errorf("restarting the API server of a stopped cluster: %w", err)
	}
	for _, p := range c.snapshot() {
		if p.name == assets.APIServer {
			if err := p.stop(restartGrace); err != nil {
				return err
			}
		}
	}
	return c.startAPIServer(ctx)
}

// Stop ends all processes, waits until they are gone, and removes the cluster's folder. It may be called more than once.
func (c *Cluster) Stop() error {
	if c.unwatch != nil {
		c.unwatch()
	}
	return c.stop()
}

// stop does what Stop says, in the reverse order of the start.
func (c *Cluster) stop() error {
	c.cancel()
	c.change.Lock()
	defer c.change.Unlock()
	var errs []error
	for _, p := range slices.Backward(c.snapshot()) {
		errs = append(errs, p.stop(stopGrace))
	}
	if err := os.RemoveAll(c.dir); err != nil {
		errs = append(errs, fmt.Errorf("removing the folder of the cluster: %w", err))
	}
	return errors.Join(errs...)
}

// URL is where the API server listens.
func (c *Cluster) URL() string {
	return "https://127.0.0.1:" + c.ports.apiServer
}

// Bin is the path of one of the four binaries, by its name.
func (c *Cluster) Bin(name string) string {
	return filepath.Join(c.options.Assets, name)
}

// PIDs returns the process ids of the control plane by name, to measure them.
func (c *Cluster) PIDs() map[string]int {
	pids := map[string]int{}
	for _, p := range c.snapshot() {
		pids[p.name] = p.pid
	}
	return pids
}

// etcdURL is where etcd listens.
func (c *Cluster) etcdURL() string {
	return "http://127.0.0.1:" + c.ports.etcd
}

// path is a path in the folder of the cluster.
func (c *Cluster) path(elements ...string) string {
	return filepath.Join(append([]string{c.dir}, elements...)...)
}
