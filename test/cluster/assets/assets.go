// Package assets finds the binaries that the control plane runs on, and builds them where there are none: etcd, kube-apiserver,
// kube-controller-manager and kubectl.
//
// They come from the folder that the variable KUBEBUILDER_ASSETS names, where it is set. Otherwise they are built from the versions pinned in
// the go.mod of this module, once, into <repository>/.cache/cluster/<versions>/bin; TCPINGRESS_CLUSTER_CACHE moves <repository>/.cache/cluster
// to another place. A build needs the go command and, for what is not in its module cache, a module proxy. Any number of processes may ask at
// the same time: one builds, the others wait. It runs on Linux and macOS.
package assets

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The variables that Ensure reads.
const (
	// EnvAssets names a folder that holds the binaries; nothing is built then.
	EnvAssets = "KUBEBUILDER_ASSETS"
	// EnvCache names the folder that builds are kept in.
	EnvCache = "TCPINGRESS_CLUSTER_CACHE"
)

// The names of the binaries.
const (
	Etcd              = "etcd"
	APIServer         = "kube-apiserver"
	ControllerManager = "kube-controller-manager"
	Kubectl           = "kubectl"
)

// Names returns the names of all binaries, in the order in which they are built.
func Names() []string {
	return []string{Etcd, APIServer, ControllerManager, Kubectl}
}

// Ensure returns the folder that holds all binaries, after building those that are missing. What is built, and how long it takes, is told on
// progress, a line at a time; with nothing to build it says nothing and takes no time.
func Ensure(ctx context.Context, progress io.Writer) (string, error) {
	if dir := os.Getenv(EnvAssets); dir != "" {
		return dir, Check(dir)
	}
	b, err := newBuild()
	if err != nil {
		return "", err
	}
	return b.bin(), b.run(ctx, progress)
}

// Check returns an error that names every binary that dir lacks.
func Check(dir string) error {
	lacking := strings.Join(missing(dir, Names()), ", ")
	switch {
	case lacking == "":
		return nil
	case dir == os.Getenv(EnvAssets):
		return fmt.Errorf("the folder %s, named by %s, lacks %s; unset the variable to have all built", dir, EnvAssets, lacking)
	default:
		return fmt.Errorf("the folder %s lacks %s", dir, lacking)
	}
}

// missing returns those of names that are no executable file in dir.
func missing(dir string, names []string) []string {
	var out []string
	for _, name := range names {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
			out = append(out, name)
		}
	}
	return out
}
