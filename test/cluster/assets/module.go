package assets

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// The modules whose versions name a build.
const (
	kubernetesModule = "k8s.io/kubernetes"
	etcdModule       = "go.etcd.io/etcd/server/v3"
)

// module is the folder whose go.mod pins the versions, and what that file says.
type module struct {
	dir        string
	kubernetes string
	etcd       string
}

// findModule looks for test/cluster in dir and its parents: tests run in the folder of their package, commands somewhere in the repository.
func findModule(dir string) (module, error) {
	for d := dir; ; d = filepath.Dir(d) {
		m := filepath.Join(d, "test", "cluster")
		if _, err := os.Stat(filepath.Join(m, "go.mod")); err == nil {
			return readModule(m)
		}
		if d == filepath.Dir(d) {
			return module{}, fmt.Errorf("no test/cluster/go.mod in %s or above it: run inside the repository, or set %s", dir, EnvAssets)
		}
	}
}

// readModule reads the pinned versions.
func readModule(dir string) (module, error) {
	text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
	if err != nil {
		return module{}, fmt.Errorf("reading the pinned versions: %w", err)
	}
	m := module{dir: dir, kubernetes: required(text, kubernetesModule), etcd: required(text, etcdModule)}
	if m.kubernetes == "" || m.etcd == "" {
		return module{}, fmt.Errorf("%s/go.mod does not require both %s and %s", dir, kubernetesModule, etcdModule)
	}
	return m, nil
}

// required returns the version of the module path that a go.mod requires, or nothing.
func required(gomod []byte, path string) string {
	re := regexp.MustCompile(`(?m)^\s*(?:require\s+)?` + regexp.QuoteMeta(path) + `\s+(v\S+)`)
	if match := re.FindSubmatch(gomod); match != nil {
		return string(match[1])
	}
	return ""
}

// repository is the folder that test/cluster is in.
func (m module) repository() string {
	return filepath.Dir(filepath.Dir(m.dir))
}

// ldflags strips the binaries and stamps the version: without it the API server calls itself v0.0.0, and clients refuse it.
func (m module) ldflags() string {
	major, minor, _ := strings.Cut(strings.TrimPrefix(m.kubernetes, "v"), ".")
	minor, _, _ = strings.Cut(minor, ".")
	stamps := []string{"gitVersion=" + m.kubernetes, "gitMajor=" + major, "gitMinor=" + minor, "gitTreeState=archive", "gitCommit="}
	flags := []string{"-s", "-w"}
	for _, pkg := range []string{"k8s.io/component-base/version", "k8s.io/client-go/pkg/version"} {
		for _, stamp := range stamps {
			flags = append(flags, "-X", pkg+"."+stamp)
		}
	}
	return strings.Join(flags, " ")
}
