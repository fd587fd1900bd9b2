package assets

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"time"
)

// heartbeat is how often a long build says that it is still at it.
const heartbeat = 30 * time.Second

// target is a binary, and the main package that it is built from.
type target struct {
	name, pkg string
}

// build is everything that one build of the binaries depends on.
type build struct {
	module  string // the folder that the go command runs in
	dir     string // where bin/ and the lock are
	title   string
	ldflags string
	targets []target
}

// newBuild describes the build of the pinned versions for this machine.
func newBuild() (build, error) {
	wd, err := os.Getwd()
	if err != nil {
		return build{}, fmt.Errorf("looking for the repository: %w", err)
	}
	m, err := findModule(wd)
	if err != nil {
		return build{}, err
	}
	cache := os.Getenv(EnvCache)
	if cache == "" {
		cache = filepath.Join(m.repository(), ".cache", "cluster")
	}
	if cache, err = filepath.Abs(cache); err != nil {
		return build{}, fmt.Errorf("finding the cache: %w", err)
	}
	name := fmt.Sprintf("kubernetes-%s_etcd-%s_%s-%s", m.kubernetes, m.etcd, runtime.GOOS, runtime.GOARCH)
	return build{
		module:  m.dir,
		dir:     filepath.Join(cache, name),
		title:   fmt.Sprintf("Kubernetes %s and etcd %s", m.kubernetes, m.etcd),
		ldflags: m.ldflags(),
		targets: []target{
			{Etcd, etcdModule},
			{APIServer, kubernetesModule + "/cmd/kube-apiserver"},
			{ControllerManager, kubernetesModule + "/cmd/kube-controller-manager"},
			{Kubectl, kubernetesModule + "/cmd/kubectl"},
		},
	}, nil
}

// bin is the folder of the finished binaries.
func (b build) bin() string {
	return filepath.Join(b.dir, "bin")
}

// todo returns the targets that are not built yet.
func (b build) todo() []target {
	var out []target
	for _, t := range b.targets {
		if len(missing(b.bin(), []string{t.name})) > 0 {
			out = append(out, t)
		}
	}
	return out
}

// run builds what is missing, unless another process is at it: then it waits for that one.
func (b build) run(ctx context.Context, progress io.Writer) error {
	if len(b.todo()) == 0 {
		return nil
	}
	if progress == nil {
		progress = io.Discard
	}
	if err := os.MkdirAll(b.bin(), 0o755); err != nil {
		return fmt.Errorf("making the cache: %w", err)
	}
	unlock, err := lock(ctx, filepath.Join(b.dir, "lock"), func() {
		say(progress, "another process is building %s, waiting for it", b.title)
	})
	if err != nil {
		return err
	}
	defer unlock()

	todo := b.todo()
	if len(todo) == 0 {
		return nil
	}
	begin := time.Now()
	say(progress, "building %s into %s, once (two cores need about six minutes)", b.title, b.bin())
	for i, t := range todo {
		if err := b.one(ctx, t, fmt.Sprintf("[%d/%d] %s", i+1, len(todo), t.name), progress); err != nil {
			return err
		}
	}
	say(progress, "all built in %.0f s", time.Since(begin).Seconds())
	return nil
}

// one builds one binary beside its place and moves it there when it is complete, so that a build that was interrupted leaves no half of a file.
func (b build) one(ctx context.Context, t target, label string, progress io.Writer) error {
	say(progress, "%s: building %s", label, t.pkg)
	begin := time.Now()
	part := filepath.Join(b.bin(), "."+t.name+".part")
	defer func() { _ = os.Remove(part) }()

	var output bytes.Buffer
	// As the tests are built, without -trimpath and with their CGO_ENABLED: what both need is compiled once.
	cmd := exec.CommandContext(ctx, "go", "build", "-mod=readonly", "-ldflags", b.ldflags, "-o", part, t.pkg)
	cmd.Dir = b.module
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOOS="+runtime.GOOS, "GOARCH="+runtime.GOARCH)
	cmd.Stdout, cmd.Stderr = &output, &output
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second

	ticker := time.NewTicker(heartbeat)
	defer ticker.Stop()
	done := make(chan error, 1)
	go func() { done <- cmd.Run() }()
	for {
		select {
		case <-ticker.C:
			say(progress, "%s: still building, %.0f s", label, time.Since(begin).Seconds())
		case err := <-done:
			if ctx.Err() != nil {
				return fmt.Errorf("building %s: %w", t.name, context.Cause(ctx))
			}
			if err != nil {
				return fmt.Errorf("building %s: %w\n%s", t.name, err, bytes.TrimSpace(output.Bytes()))
			}
			if err := os.Rename(part, filepath.Join(b.bin(), t.name)); err != nil {
				return fmt.Errorf("keeping %s: %w", t.name, err)
			}
			say(progress, "%s: built in %.0f s", label, time.Since(begin).Seconds())
			return nil
		}
	}
}

// say writes one line of progress.
func say(w io.Writer, format string, args ...any) {
	_, _ = fmt.Fprintf(w, "cluster: "+format+"\n", args...)
}
