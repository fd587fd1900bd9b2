package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/nginx-stream/tcpingress/manifests"
	"github.com/nginx-stream/tcpingress/test/e2e/harness"
	"github.com/nginx-stream/tcpingress/test/standin"
)

type object = map[string]any

// install applies the manifests as `make install` does, without what needs an image.
func (d *demo) install(ctx context.Context, h *harness.Harness, hooks string) error {
	d.story.lines(fmt.Sprintf("API server: %s\nhooks:      %s (tcpingress serve, a process of its own)", h.Cluster.URL(), hooks))
	d.story.title("Install")
	if harness.Real() {
		d.story.say("%s is the real Metacontroller.", os.Getenv("METACONTROLLER_BIN"))
	} else {
		d.story.say("Metacontroller's part, to watch, to call the hooks and to write what they answer, is played by test/standin\n" +
			"(set METACONTROLLER_BIN and METACONTROLLER_CRDS for the real one). It may do what our ClusterRole grants.")
		kinds := h.Cluster.Kubectl(ctx, "apply", "-f", filepath.Join(d.root, folder, "metacontroller-kinds.yaml"))
		if out, err := kinds.CombinedOutput(); err != nil {
			return fmt.Errorf("applying Metacontroller's kinds: %w: %s", err, out)
		}
	}
	wait := h.Cluster.Kubectl(ctx, "wait", "crd", "--all", "--for=condition=Established", "--timeout=60s")
	if out, err := wait.CombinedOutput(); err != nil {
		return fmt.Errorf("waiting for Metacontroller's kinds: %w: %s", err, out)
	}
	overlay, err := d.overlay(hooks)
	if err != nil {
		return err
	}
	d.story.say("The manifests are applied with two changes, made by an overlay: the Deployment is left out, since there is no\n" +
		"node to run its image on, and the webhooks lead to the process above instead of a Service.")
	out, err := d.typed(ctx, h, "apply", "-k", overlay)
	if err != nil {
		return fmt.Errorf("applying the manifests: %w: %s", err, out)
	}
	for line := range strings.Lines(out) {
		if !strings.HasSuffix(strings.TrimSpace(line), " created") {
			return fmt.Errorf("applying the manifests: %s", line)
		}
	}
	if err := holds(out, `
		customresourcedefinition\.apiextensions\.k8s\.io/tcpingresses\.nginx-stream\.dev created
		clusterrole\.rbac\.authorization\.k8s\.io/tcpingress-metacontroller created
		compositecontroller\.metacontroller\.k8s\.io/tcpingressclass created
		decoratorcontroller\.metacontroller\.k8s\.io/tcpingress-expose created`); err != nil {
		return err
	}
	wait = h.Cluster.Kubectl(ctx, "wait", "crd", "--all", "--for=condition=Established", "--timeout=60s")
	if out, err := wait.CombinedOutput(); err != nil {
		return fmt.Errorf("waiting for our kinds: %w: %s", err, out)
	}
	return nil
}

// overlay writes a kustomization over manifests, and gives its folder.
func (d *demo) overlay(hooks string) (string, error) {
	// Kustomize compares paths after it has followed links.
	base, err := filepath.EvalSymlinks(filepath.Join(d.root, "manifests"))
	if err != nil {
		return "", fmt.Errorf("finding the manifests: %w", err)
	}
	dir, err := filepath.EvalSymlinks(d.dir)
	if err != nil {
		return "", fmt.Errorf("finding our folder: %w", err)
	}
	dir = filepath.Join(dir, "overlay")
	if err := os.Mkdir(dir, 0o700); err != nil {
		return "", fmt.Errorf("making a folder for the overlay: %w", err)
	}
	if base, err = filepath.Rel(dir, base); err != nil {
		return "", fmt.Errorf("finding the manifests: %w", err)
	}
	patches, err := webhooks(hooks)
	if err != nil {
		return "", err
	}
	deployment := "$patch: delete\napiVersion: apps/v1\nkind: Deployment\nmetadata: {name: tcpingress}\n"
	text, err := yaml.Marshal(object{
		"apiVersion": "kustomize.config.k8s.io/v1beta1",
		"kind":       "Kustomization",
		"resources":  []string{base},
		"patches":    append(patches, object{"target": object{"kind": "Deployment"}, "patch": deployment}),
	})
	if err != nil {
		return "", fmt.Errorf("writing the overlay: %w", err)
	}
	if err := os.WriteFile(filepath.Join(dir, "kustomization.yaml"), text, 0o600); err != nil {
		return "", fmt.Errorf("writing the overlay: %w", err)
	}
	return dir, nil
}

// webhooks gives patches that lead the controllers to hooks.
func webhooks(hooks string) ([]any, error) {
	controllers, err := standin.ReadControllers(manifests.Base)
	if err != nil {
		return nil, err
	}
	var patches []any
	for _, c := range controllers {
		all, _, err := unstructured.NestedMap(c.Object, "spec", "hooks")
		if err != nil {
			return nil, fmt.Errorf("reading the hooks of %s: %w", c.GetName(), err)
		}
		for name := range all {
			path, found, err := unstructured.NestedString(all, name, "webhook", "path")
			if err != nil || !found {
				continue
			}
			webhook := "/spec/hooks/" + name + "/webhook"
			patch, err := yaml.Marshal([]object{
				{"op": "remove", "path": webhook + "/service"},
				{"op": "remove", "path": webhook + "/path"},
				{"op": "add", "path": webhook + "/url", "value": hooks + path},
			})
			if err != nil {
				return nil, fmt.Errorf("writing a patch: %w", err)
			}
			patches = append(patches, object{"target": object{"kind": c.GetKind(), "name": c.GetName()}, "patch": string(patch)})
		}
	}
	return patches, nil
}
