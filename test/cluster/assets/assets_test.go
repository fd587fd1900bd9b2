package assets

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestBinariesGivenByTheEnvironment(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(EnvAssets, dir)
	for _, name := range []string{Etcd, APIServer, Kubectl} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), nil, 0o700))
	}
	_, err := Ensure(t.Context(), nil)
	require.ErrorContains(t, err, "the folder "+dir+", named by KUBEBUILDER_ASSETS, lacks kube-controller-manager; unset")

	require.NoError(t, os.WriteFile(filepath.Join(dir, ControllerManager), nil, 0o600))
	_, err = Ensure(t.Context(), nil)
	require.ErrorContains(t, err, "lacks kube-controller-manager", "it cannot be executed")

	require.NoError(t, os.Chmod(filepath.Join(dir, ControllerManager), 0o700))
	got, err := Ensure(t.Context(), nil)
	require.NoError(t, err)
	assert.Equal(t, dir, got)
}

func TestPlaceOfABuild(t *testing.T) {
	t.Setenv(EnvCache, "")
	b, err := newBuild()
	require.NoError(t, err)
	repository := filepath.Dir(filepath.Dir(b.module))
	assert.Equal(t, filepath.Join(repository, ".cache", "cluster"), filepath.Dir(b.dir))
	assert.Regexp(t, `^kubernetes-v1\.\d+\.\d+_etcd-v3\.\d+\.\d+_`+runtime.GOOS+"-"+runtime.GOARCH+`$`, filepath.Base(b.dir))

	t.Setenv(EnvCache, "/elsewhere")
	b, err = newBuild()
	require.NoError(t, err)
	assert.Equal(t, "/elsewhere", filepath.Dir(b.dir))
}

func TestModuleIsFoundFromAnywhereInTheRepository(t *testing.T) {
	root := t.TempDir()
	write(t, filepath.Join(root, "test", "cluster", "go.mod"), strings.Join([]string{
		"module m", "", "require k8s.io/kubernetes v1.37.2", "", "require (", "\tgo.etcd.io/etcd/server/v3 v3.7.3", ")", "",
		"replace k8s.io/kubernetes-x => k8s.io/kubernetes v9.9.9", "",
	}, "\n"))
	deep := filepath.Join(root, "hooks", "server")
	require.NoError(t, os.MkdirAll(deep, 0o755))
	m, err := findModule(deep)
	require.NoError(t, err)
	assert.Equal(t, module{dir: filepath.Join(root, "test", "cluster"), kubernetes: "v1.37.2", etcd: "v3.7.3"}, m)
	assert.Contains(t, m.ldflags(), "-X k8s.io/component-base/version.gitVersion=v1.37.2 -X k8s.io/component-base/version.gitMajor=1 "+
		"-X k8s.io/component-base/version.gitMinor=37 ")

	_, err = findModule(t.TempDir())
	require.ErrorContains(t, err, "run inside the repository, or set KUBEBUILDER_ASSETS")
}
