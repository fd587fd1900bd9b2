package harness

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nginx-stream/tcpingress/test/standin"
)

// Environment variables that choose the applier.
const (
	envBin      = "METACONTROLLER_BIN"
	envCRDs     = "METACONTROLLER_CRDS"
	envStrategy = "METACONTROLLER_APPLY_STRATEGY"
)

// User is who the applier is: the ServiceAccount that manifests/base binds its role to.
const User = "system:serviceaccount:metacontroller:metacontroller"

// applier watches, calls the hooks, and applies what they answer.
type applier interface {
	// start returns when it runs, which need not mean that it watches yet.
	start(ctx context.Context) error
	// stop ends it; start may follow.
	stop() error
	// pid is the process that applies, 0 if it is this one.
	pid() int
}

// Strategy is how children are written: dynamic-apply or server-side-apply.
func Strategy() string {
	if s := os.Getenv(envStrategy); s != "" {
		return s
	}
	return "dynamic-apply"
}

// Real tells whether the real Metacontroller applies.
func Real() bool { return os.Getenv(envBin) != "" }

// realCRDs gives the definitions of the real Metacontroller's kinds.
func realCRDs() ([]string, error) {
	if !Real() {
		return nil, nil
	}
	path := os.Getenv(envCRDs)
	if path == "" {
		return nil, fmt.Errorf("%s is set, and %s must name the file of its CustomResourceDefinitions", envBin, envCRDs)
	}
	return []string{path}, nil
}

// metacontroller is the real one.
type metacontroller struct {
	h       *Harness
	user    string // kubeconfig
	process *process
}

// start applies the controllers and starts the binary.
func (m *metacontroller) start(ctx context.Context) error {
	list, err := m.h.controllers(ctx)
	if err != nil {
		return err
	}
	if err := m.h.apply(ctx, list); err != nil {
		return err
	}
	ports, err := freePorts(2)
	if err != nil {
		return err
	}
	m.process, err = startProcess(filepath.Join(m.h.Cluster.LogDir(), "metacontroller.log"), os.Getenv(envBin),
		"--kubeconfig="+m.user,
		"--apply-strategy="+Strategy(),
		"--client-go-qps=2000", "--client-go-burst=4000", "--workers=20",
		"--discovery-interval=5s",
		"--metrics-address="+ports[0], "--health-probe-bind-address="+ports[1])
	if err != nil {
		return err
	}
	return await(ctx, m.process, "http://"+ports[1]+"/readyz")
}

func (m *metacontroller) stop() error {
	if m.process == nil {
		return nil
	}
	return m.process.stop()
}

func (m *metacontroller) pid() int { return m.process.cmd.Process.Pid }

// standIn plays Metacontroller's part, within this process.
type standIn struct {
	h       *Harness
	user    string // kubeconfig
	running *standin.StandIn
	log     *os.File
}

func (s *standIn) start(context.Context) error {
	list, err := deployed("CompositeController", "DecoratorController")
	if err != nil {
		return err
	}
	path := filepath.Join(s.h.Cluster.LogDir(), "standin.log")
	if s.log, err = os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644); err != nil {
		return fmt.Errorf("opening the log of the stand-in: %w", err)
	}
	// It lives as long as the harness, not as long as the call that started it.
	s.running, err = standin.Start(context.Background(), standin.Options{
		Kubeconfig:  s.user,
		Controllers: list,
		HookURL:     s.h.hooksURL,
		Strategy:    standin.Strategy(Strategy()),
		Workers:     20,
		Log:         slog.New(slog.NewTextHandler(s.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	return err
}

func (s *standIn) stop() error {
	if s.running != nil {
		s.running.Stop()
	}
	return s.log.Close()
}

func (s *standIn) pid() int { return 0 }

// apply sends objects as the admin.
func (h *Harness) apply(ctx context.Context, list []*unstructured.Unstructured) error {
	text, err := stream(list)
	if err != nil {
		return err
	}
	return h.kubectlApply(ctx, text)
}

// Describe tells who applies, and how.
func Describe() string {
	if Real() {
		return "the real Metacontroller, " + Strategy()
	}
	return "the stand-in, " + Strategy()
}
