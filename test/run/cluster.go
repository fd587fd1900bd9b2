package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
	"github.com/nginx-stream/tcpingress/manifests"
)

const ours = crdv1.APIVersion

// newCluster simulates a cluster with the controllers of the manifests, whose hooks
// are asked over HTTP.
func newCluster(ctx context.Context, s *server, out printer, now time.Time) (*simulate.Cluster, error) {
	controllers, err := deployedControllers()
	if err != nil {
		return nil, err
	}
	var hooks []metacontroller.Hook
	for _, controller := range controllers {
		for _, name := range []string{"customize", "sync"} {
			path, found, err := unstructured.NestedString(controller.Object, "spec", "hooks", name, "webhook", "path")
			if err != nil {
				return nil, fmt.Errorf("reading hook %s of %s: %w", name, controller.GetName(), err)
			}
			if found {
				hooks = append(hooks, remote(ctx, s, path))
			}
		}
	}
	return simulate.New(simulate.Options{
		Kinds: []simulate.Kind{
			{APIVersion: ours, Kind: crdv1.KindTCPIngressClass, Resource: "tcpingressclasses"},
			{APIVersion: ours, Kind: crdv1.KindTCPIngressSlice, Resource: "tcpingressslices"},
			{APIVersion: ours, Kind: crdv1.KindTCPIngress, Resource: "tcpingresses", Namespaced: true},
		},
		Controllers: controllers,
		Hooks:       hooks,
		Now:         now,
		OnCall:      out.call,
	})
}

// remote is a hook that is asked over HTTP.
func remote(ctx context.Context, s *server, path string) metacontroller.Hook {
	return metacontroller.Hook{
		Path: path,
		Serve: func(body []byte, _ time.Time) (any, error) {
			answer, err := s.post(ctx, path, body)
			return json.RawMessage(answer), err
		},
	}
}

func deployedControllers() ([]*unstructured.Unstructured, error) {
	files, err := fs.Glob(manifests.Base, "base/controller-*.yaml")
	if err != nil {
		return nil, fmt.Errorf("finding the controllers: %w", err)
	}
	var controllers []*unstructured.Unstructured
	for _, file := range files {
		objects, err := readObjects(manifests.Base, file)
		if err != nil {
			return nil, err
		}
		controllers = append(controllers, objects...)
	}
	return controllers, nil
}

func readExample(file string) ([]*unstructured.Unstructured, error) {
	return readObjects(manifests.Examples, "examples/"+file)
}

func readObjects(from fs.FS, file string) ([]*unstructured.Unstructured, error) {
	text, err := fs.ReadFile(from, file)
	if err != nil {
		return nil, fmt.Errorf("reading manifests: %w", err)
	}
	documents := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(text)))
	var objects []*unstructured.Unstructured
	for {
		document, err := documents.Read()
		if errors.Is(err, io.EOF) {
			return objects, nil
		}
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", file, err)
		}
		object := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(document, &object.Object); err != nil {
			return nil, fmt.Errorf("decoding %s: %w", file, err)
		}
		objects = append(objects, object)
	}
}
