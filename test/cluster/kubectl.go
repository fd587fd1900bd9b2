package cluster

import (
	"context"
	"fmt"
	"os"
	"os/exec"

	"github.com/nginx-stream/tcpingress/test/cluster/assets"
)

// Kubectl prepares a kubectl command as the admin; --kubeconfig among args makes it somebody else's. It reads and writes nothing in the home folder:
// its cache goes by the server's address, and ports are used again by other clusters.
func (c *Cluster) Kubectl(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.Bin(assets.Kubectl), args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.KubeconfigPath(), "KUBECACHEDIR="+c.path("kubectl-cache"), "KUBERC=off")
	return cmd
}

// applyCRDs applies the CRDs of the options and waits until they are served.
func (c *Cluster) applyCRDs(ctx context.Context) error {
	var files []string
	for _, path := range c.options.CRDs {
		files = append(files, "--filename="+path)
	}
	if len(files) == 0 {
		return nil
	}
	for _, args := range [][]string{
		append([]string{"apply", "--server-side"}, files...),
		append([]string{"wait", "--for=condition=Established", "--timeout=60s"}, files...),
	} {
		if out, err := c.Kubectl(ctx, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("applying CRDs: %w: %s", err, out)
		}
	}
	return nil
}
