package cluster

import (
	"io"
	"os"
	"time"
)

// Options says how the control plane is to be. The zero value is a good one.
type Options struct {
	// Assets is the folder of the binaries. Empty means assets.Ensure: KUBEBUILDER_ASSETS, or built where that is not done yet.
	Assets string
	// Progress gets the progress of a build, should one be needed; nil means standard error.
	Progress io.Writer
	// LogDir keeps one log per process, also after Stop. Empty means a folder that goes with the cluster.
	LogDir string
	// CRDs are files or folders with CustomResourceDefinitions. They are applied and established before the controller manager starts: the garbage
	// collector learns at its start what it watches and looks again only every 30 s, so that objects of kinds that come later are collected late.
	CRDs []string
	// Audit keeps a line per request, which Writes reads.
	Audit bool
	// ServiceClusterIPRange defaults to 10.96.0.0/12. Two, of different families and separated by a comma, make the cluster dual-stack.
	ServiceClusterIPRange string
	// NodePortRange defaults to 10000-60000; nothing listens there.
	NodePortRange string
	// APIServerArgs and ControllerManagerArgs are appended to the command lines, so that they win.
	APIServerArgs, ControllerManagerArgs []string
	// Timeout is for the start, without a build; it defaults to three minutes. A process that dies is noticed at once.
	Timeout time.Duration
}

// withDefaults fills in what is not set.
func (o Options) withDefaults() Options {
	if o.Progress == nil {
		o.Progress = os.Stderr
	}
	if o.ServiceClusterIPRange == "" {
		o.ServiceClusterIPRange = "10.96.0.0/12"
	}
	if o.NodePortRange == "" {
		o.NodePortRange = "10000-60000"
	}
	if o.Timeout == 0 {
		o.Timeout = 3 * time.Minute
	}
	return o
}
