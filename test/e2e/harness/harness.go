package harness

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/nginx-stream/tcpingress/test/cluster"
)

// Options says how the harness is to be.
type Options struct {
	// Replicas of the hook server; 0 means two.
	Replicas int
	// Direct lets the applier call the first replica without the door, to measure.
	Direct bool
	// CRDs are files of further kinds that are there before anything else.
	CRDs []string
	// Loose leaves out of our own kinds everything that refuses an object, but for types:
	// as if admission had been passed by.
	Loose bool
	// Policies puts the admission policies into the cluster, but for namespaces that are
	// labelled PastAdmission. Install puts there what it wants.
	Policies bool
	// Secure puts the hooks behind HTTPS and a token, and takes the controllers from the
	// overlay secure. For the real Metacontroller, and Direct, only.
	Secure bool
	// Install puts the manifests into the cluster before the applier starts; hooks is
	// where the hooks are. Left out, only what the applier needs is put there.
	Install func(ctx context.Context, h *Harness, hooks string) error
}

// Harness is a control plane with the hooks and an applier.
type Harness struct {
	Cluster *cluster.Cluster
	Hooks   *Hooks
	Door    *Door
	// Dynamic is a client of the admin, without a limit on requests.
	Dynamic dynamic.Interface
	// Config is what Dynamic was made from.
	Config *rest.Config

	applier  applier
	hooksURL string
	locks    *locks // nil without Secure
	dir      string
	forgiven int // refusals while the API server restarted
}

// Start brings everything up.
func Start(ctx context.Context, options Options) (*Harness, error) {
	h := &Harness{}
	if err := h.start(ctx, options); err != nil {
		logs := ""
		if h.Cluster != nil {
			logs = "\n" + h.Cluster.Logs(20)
		}
		return nil, fmt.Errorf("%w%s", errors.Join(err, h.Stop()), logs)
	}
	return h, nil
}

func (h *Harness) start(ctx context.Context, options Options) error {
	if options.Replicas == 0 {
		options.Replicas = 2
	}
	crds, err := realCRDs()
	if err != nil {
		return err
	}
	crds = append(crds, options.CRDs...)
	if h.dir, err = os.MkdirTemp("", "tcpingress-e2e-"); err != nil {
		return fmt.Errorf("making a folder: %w", err)
	}
	root, err := Repository(ctx)
	if err != nil {
		return err
	}
	bin, err := buildHooks(ctx, root, h.dir)
	if err != nil {
		return err
	}
	if options.Install == nil {
		ours := filepath.Join(root, "crd", "generated")
		if options.Loose {
			if ours, err = loosened(h.dir); err != nil {
				return err
			}
		}
		crds = append(crds, ours, filepath.Join(root, "crd", "podset", "generated"))
		options.Install = grant
	}
	h.Cluster, err = cluster.Start(ctx, cluster.Options{
		CRDs:  crds,
		Audit: true,
		// As on clusters that are careful: who writes an owner reference needs more.
		APIServerArgs: []string{"--enable-admission-plugins=OwnerReferencesPermissionEnforcement"},
		LogDir:        os.Getenv("E2E_LOGS"),
	})
	if err != nil {
		return err
	}
	if err := h.connect(); err != nil {
		return err
	}
	if options.Secure {
		if h.locks, err = h.lock(ctx, root); err != nil {
			return err
		}
	}
	if h.Hooks, err = newHooks(ctx, bin, h.Cluster.LogDir(), options.Replicas, h.locks); err != nil {
		return err
	}
	if h.Door, err = newDoor(ctx, h.Hooks); err != nil {
		return err
	}
	h.hooksURL = h.Door.url
	if options.Direct {
		h.hooksURL = h.locks.scheme() + "://" + h.Hooks.Addresses()[0]
	}
	if err := options.Install(ctx, h, h.hooksURL); err != nil {
		return err
	}
	if options.Policies {
		if err := h.guard(ctx); err != nil {
			return err
		}
	}
	return h.startApplier(ctx)
}

// Repository is the folder of the project's module.
func Repository(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}", "github.com/nginx-stream/tcpingress").Output()
	if err != nil {
		return "", fmt.Errorf("finding the repository: %w", err)
	}
	return strings.TrimSpace(string(out)), nil
}

// connect makes the admin's client.
func (h *Harness) connect() error {
	config, err := clientcmd.BuildConfigFromFlags("", h.Cluster.KubeconfigPath())
	if err != nil {
		return fmt.Errorf("reading the admin's kubeconfig: %w", err)
	}
	config.QPS, config.Burst = -1, -1
	h.Config = config
	if h.Dynamic, err = dynamic.NewForConfig(config); err != nil {
		return fmt.Errorf("making a client: %w", err)
	}
	return nil
}

// grant gives the roles of manifests/base, and nothing else.
func grant(ctx context.Context, h *Harness, _ string) error {
	roles, err := deployed("ClusterRole", "ClusterRoleBinding")
	if err != nil {
		return err
	}
	return h.apply(ctx, roles)
}

// startApplier starts it as the user that the role is for.
func (h *Harness) startApplier(ctx context.Context) error {
	kubeconfig, err := h.Cluster.UserKubeconfig(User)
	if err != nil {
		return err
	}
	h.applier = &standIn{h: h, user: kubeconfig}
	if Real() {
		h.applier = &metacontroller{h: h, user: kubeconfig}
	}
	return h.applier.start(ctx)
}

// Stop ends everything that Start started.
func (h *Harness) Stop() error {
	var errs []error
	if h.applier != nil {
		errs = append(errs, h.applier.stop())
	}
	if h.Door != nil {
		errs = append(errs, h.Door.close())
	}
	if h.Hooks != nil {
		errs = append(errs, h.Hooks.stop())
	}
	if h.Cluster != nil {
		errs = append(errs, h.Cluster.Stop())
	}
	return errors.Join(append(errs, os.RemoveAll(h.dir))...)
}

// StopApplier ends the applier.
func (h *Harness) StopApplier() error { return h.applier.stop() }

// StartApplier starts it again.
func (h *Harness) StartApplier(ctx context.Context) error { return h.applier.start(ctx) }

// RestartAPIServer restarts it and waits for what recovered tells. Until then an API
// server that knows no roles yet may refuse the applier anything, which is forgiven.
func (h *Harness) RestartAPIServer(ctx context.Context, recovered func()) error {
	before, err := h.Forbidden()
	if err != nil {
		return err
	}
	if err := h.Cluster.RestartAPIServer(ctx); err != nil {
		return err
	}
	recovered()
	after, err := h.Forbidden()
	h.forgiven += len(after) - len(before)
	return err
}

// Forbidden gives the lines of the applier's log that tell of a request which RBAC
// refused it.
func (h *Harness) Forbidden() ([]string, error) {
	var lines []string
	for _, name := range []string{"metacontroller.log", "standin.log"} {
		content, err := os.ReadFile(filepath.Join(h.Cluster.LogDir(), name))
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("reading the applier's log: %w", err)
		}
		for line := range strings.Lines(string(content)) {
			if strings.Contains(line, User) && strings.Contains(line, " cannot ") {
				lines = append(lines, line)
			}
		}
	}
	return lines[min(h.forgiven, len(lines)):], nil
}

// kubectlApply applies YAML as the admin.
func (h *Harness) kubectlApply(ctx context.Context, yaml string) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	cmd := h.Cluster.Kubectl(ctx, "apply", "--server-side", "--filename=-")
	cmd.Stdin = strings.NewReader(yaml)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("applying manifests: %w: %s", err, out)
	}
	return nil
}

// ApplierPID is the process id of the real Metacontroller, 0 for the stand-in.
func (h *Harness) ApplierPID() int { return h.applier.pid() }
