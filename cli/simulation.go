package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
	"github.com/nginx-stream/tcpingress/manifests"
)

// exampleNamespace is where the smallest class of a message lives.
const exampleNamespace = "ingress-nginx"

// ourKinds are the kinds of nginx-stream.dev, parents in the order of printing.
func ourKinds() []simulate.Kind {
	return []simulate.Kind{
		{APIVersion: crdv1.APIVersion, Kind: crdv1.KindTCPIngressClass, Resource: "tcpingressclasses"},
		{APIVersion: crdv1.APIVersion, Kind: crdv1.KindTCPIngressSlice, Resource: "tcpingressslices"},
		{APIVersion: crdv1.APIVersion, Kind: crdv1.KindTCPIngress, Resource: "tcpingresses", Namespaced: true},
	}
}

// simulated runs the controllers of the manifests on the input until they settle.
func simulated(in *input) ([]simulate.Entry, error) {
	cluster, err := newSimulation(in)
	if err != nil {
		return nil, err
	}
	for i := range in.sources {
		if err := cluster.Put(in.sources[i].object); err != nil {
			return nil, fmt.Errorf("%s: %w", in.sources[i].at(), err)
		}
	}
	if _, err := cluster.Settle(); err != nil {
		return nil, err
	}
	return cluster.Entries(), nil
}

func newSimulation(in *input) (*simulate.Cluster, error) {
	controllers, err := deployedControllers()
	if err != nil {
		return nil, err
	}
	return simulate.New(simulate.Options{
		Kinds:       ourKinds(),
		Controllers: controllers,
		Hooks:       hooks(crdv1.DefaultAgentImage),
		Now:         latest(in),
	})
}

// deployedControllers reads the controllers out of the manifests.
func deployedControllers() ([]*unstructured.Unstructured, error) {
	var controllers []*unstructured.Unstructured
	err := fs.WalkDir(manifests.Base, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := fs.ReadFile(manifests.Base, path)
		if err != nil {
			return err
		}
		found, err := simulate.ReadManifests(text)
		controllers = append(controllers, found...)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("reading the controllers: %w", err)
	}
	return controllers, nil
}

// latest gives the latest time in the input. It stands for now, so that the same
// files always give the same result: objects without a creationTimestamp are the
// newest.
func latest(in *input) time.Time {
	now := time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)
	for i := range in.sources {
		eachString(in.sources[i].object.Object, func(field, value string) {
			if !strings.HasSuffix(field, "Timestamp") && field != "lastTransitionTime" {
				return
			}
			if t, err := time.Parse(time.RFC3339, value); err == nil && t.After(now) {
				now = t
			}
		})
	}
	return now.UTC()
}

// eachString calls the function with all strings below the value and the names of
// their fields.
func eachString(value any, f func(field, value string)) {
	switch value := value.(type) {
	case map[string]any:
		for field, inner := range value {
			if text, isString := inner.(string); isString {
				f(field, text)
			}
			eachString(inner, f)
		}
	case []any:
		for _, inner := range value {
			eachString(inner, f)
		}
	}
}

// checkClasses wants every class that a TCPIngress names. One whose name cannot be that
// of a class is no matter of files.
func checkClasses(in *input) error {
	classes := maps.Clone(in.broken)
	for i := range in.sources {
		if o := in.sources[i].object; o.GetKind() == crdv1.KindTCPIngressClass {
			classes[o.GetName()] = true
		}
	}
	var errs []error
	for i := range in.sources {
		s := &in.sources[i]
		class, field := classOf(s.object)
		if class == "" || classes[class] || !validate.IsClassName(class) {
			continue
		}
		classes[class] = true
		errs = append(errs, fmt.Errorf("%s: %s %s names the class %q, which is in none of the files. "+
			"Give its file with another -f; the smallest one is:\n\n%s",
			s.at(field...), s.object.GetKind(), s.name(s.object), class, smallestClass(map[string]any{"name": class})))
	}
	return errors.Join(errs...)
}

// classOf gives the class that a TCPIngress or an annotated Service names, and the
// path of the field.
func classOf(o *unstructured.Unstructured) (class string, field []any) {
	switch {
	case o.GetKind() == crdv1.KindTCPIngress:
		class, _, _ = unstructured.NestedString(o.Object, "spec", "ingressClassName")
		return class, []any{"spec", "ingressClassName"}
	case o.GetKind() == "Service" && o.GetAnnotations()[crdv1.AnnotationExpose] != "":
		return o.GetAnnotations()[crdv1.AnnotationIngressClass], []any{"metadata", "annotations", crdv1.AnnotationIngressClass}
	default:
		return "", nil
	}
}

// checkDefaultClass wants a default class where a TCPIngress names none and no
// class took it.
func checkDefaultClass(in *input, entries []simulate.Entry) error {
	if len(in.broken) > 0 {
		return nil // it may be one of those
	}
	for i := range in.sources {
		if o := in.sources[i].object; o.GetKind() == crdv1.KindTCPIngressClass && o.GetAnnotations()[crdv1.AnnotationDefaultClass] == "true" {
			// If it took nothing, it cannot be used, which is told by its own status.
			return nil
		}
	}
	for _, e := range entries {
		if e.Object.GetKind() != crdv1.KindTCPIngress {
			continue
		}
		named, _, _ := unstructured.NestedString(e.Object.Object, "spec", "ingressClassName")
		taken, _, _ := unstructured.NestedString(e.Object.Object, "status", "className")
		if named != "" || taken != "" {
			continue
		}
		from := in.origin(e.Object, entries)
		return fmt.Errorf("%s: %s %s names no class, and no class in the files is the default one. "+
			"Name one, or give the file of the default class with another -f; the smallest one is:\n\n%s",
			from.at("spec"), e.Object.GetKind(), from.name(e.Object), smallestClass(map[string]any{
				"name": "nginx", "annotations": map[string]any{crdv1.AnnotationDefaultClass: "true"},
			}))
	}
	return nil
}

// smallestClass gives the smallest class with the metadata, as YAML.
func smallestClass(metadata map[string]any) string {
	text, err := yaml.Marshal(map[string]any{
		"apiVersion": crdv1.APIVersion,
		"kind":       crdv1.KindTCPIngressClass,
		"metadata":   metadata,
		"spec":       map[string]any{"namespace": exampleNamespace},
	})
	if err != nil {
		// A map of strings can always be encoded.
		panic(err)
	}
	return string(text)
}

// origin gives the source that an object comes from: its own, or that of the
// annotated Service that it was made for.
func (in *input) origin(object *unstructured.Unstructured, entries []simulate.Entry) *source {
	if s := in.find(object); s != nil {
		return s
	}
	for _, owner := range object.GetOwnerReferences() {
		for _, e := range entries {
			if e.Object.GetUID() == owner.UID {
				if s := in.find(e.Object); s != nil {
					return s
				}
			}
		}
	}
	return &source{file: "<made>", lines: lines{first: 1}}
}

// name gives "namespace/name", or the name alone.
func name(o *unstructured.Unstructured) string {
	if o.GetNamespace() == "" {
		return o.GetName()
	}
	return o.GetNamespace() + "/" + o.GetName()
}
