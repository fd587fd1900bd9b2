// Command pin rewrites go.mod for other versions of Kubernetes and, if given, etcd:
//
//	go run ./cmd/pin v1.37.2 [v3.7.3]
//
// Kubernetes requires its own parts (k8s.io/api and so on) as folders of its repository, which nobody else has; each is replaced by the module that
// was published from that folder for the same release. Run it in test/cluster.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"
)

func main() {
	if err := pin(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "pin:", err)
		os.Exit(1)
	}
}

// pin is the command.
func pin(args []string) error {
	if len(args) == 0 || len(args) > 2 || !strings.HasPrefix(args[0], "v1.") {
		return errors.New("usage: pin v1.<minor>.<patch> [<version of go.etcd.io/etcd/server/v3>]")
	}
	staging, err := stagingModules(args[0])
	if err != nil {
		return err
	}
	old, err := replaced()
	if err != nil {
		return err
	}
	edit := []string{"mod", "edit", "-require=k8s.io/kubernetes@" + args[0]}
	if len(args) == 2 {
		edit = append(edit, "-require=go.etcd.io/etcd/server/v3@"+args[1])
	}
	for _, path := range old {
		edit = append(edit, "-dropreplace="+path)
	}
	published := "v0." + strings.TrimPrefix(args[0], "v1.")
	for _, path := range staging {
		edit = append(edit, "-replace="+path+"="+path+"@"+published)
	}
	if _, err := golang(edit...); err != nil {
		return err
	}
	_, err = golang("mod", "tidy")
	return err
}

// stagingModules returns the modules that a release of Kubernetes replaces by folders of its own.
func stagingModules(version string) ([]string, error) {
	out, err := golang("mod", "download", "-json", "k8s.io/kubernetes@"+version)
	if err != nil {
		return nil, err
	}
	var download struct{ GoMod string }
	if err := json.Unmarshal(out, &download); err != nil {
		return nil, fmt.Errorf("reading what go mod download said: %w", err)
	}
	text, err := os.ReadFile(download.GoMod)
	if err != nil {
		return nil, fmt.Errorf("reading the go.mod of Kubernetes: %w", err)
	}
	var modules []string
	for _, match := range regexp.MustCompile(`(?m)^\s*(k8s\.io/\S+) => \./staging/`).FindAllSubmatch(text, -1) {
		modules = append(modules, string(match[1]))
	}
	if len(modules) == 0 {
		return nil, fmt.Errorf("the go.mod of Kubernetes %s replaces nothing by ./staging", version)
	}
	return modules, nil
}

// replaced returns the modules of Kubernetes that our go.mod replaces now.
func replaced() ([]string, error) {
	out, err := golang("mod", "edit", "-json")
	if err != nil {
		return nil, err
	}
	var mod struct {
		Replace []struct{ Old struct{ Path string } }
	}
	if err := json.Unmarshal(out, &mod); err != nil {
		return nil, fmt.Errorf("reading go.mod: %w", err)
	}
	var paths []string
	for _, r := range mod.Replace {
		if strings.HasPrefix(r.Old.Path, "k8s.io/") {
			paths = append(paths, r.Old.Path)
		}
	}
	return paths, nil
}

// golang runs the go command and returns what it printed.
func golang(args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.Command("go", args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running go %s: %w\n%s", strings.Join(args[:min(2, len(args))], " "), err, stderr.String())
	}
	return out, nil
}
