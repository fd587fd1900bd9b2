package tcpingress

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	policyv1ac "k8s.io/client-go/applyconfigurations/policy/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/owned"
)

// frozen answers for a class that cannot be used: every observed child stays as
// it was last applied, the book stays, and the status says why.
func (in *classInput) frozen(why verdict, now time.Time) (any, error) {
	children, err := in.asApplied()
	if err != nil {
		return nil, fmt.Errorf("keeping the children of an unusable class: %w", err)
	}
	verdicts := []named{{crdv1.ConditionAccepted, why}, {crdv1.ConditionProgrammed, isFalse(crdv1.ReasonNotAccepted, why.Message)}}
	before := &in.parent.Status
	return metacontroller.CompositeResponse{
		Status: crdv1.TCPIngressClassStatus{
			Conditions: stamp(verdicts, before.Conditions, in.parent.Generation, now),
			Addresses:  before.Addresses,
			Listeners:  before.Listeners,
			Ranges:     before.Ranges,
			Switch:     before.Switch,
		},
		Children: children,
	}, nil
}

func (in *classInput) asApplied() ([]any, error) {
	var children []any
	add := func(meta *metav1.ObjectMeta, managed func(manager string) (any, error)) error {
		child, err := lastApplied(meta, managed)
		children = append(children, child)
		return err
	}
	var errs []error
	for i := range in.configMaps {
		o := &in.configMaps[i].ConfigMap
		errs = append(errs, add(&o.ObjectMeta, func(manager string) (any, error) { return corev1ac.ExtractConfigMap(o, manager) }))
	}
	for i := range in.services {
		o := &in.services[i].Service
		errs = append(errs, add(&o.ObjectMeta, func(manager string) (any, error) { return corev1ac.ExtractService(o, manager) }))
	}
	for i := range in.deployments {
		o := &in.deployments[i].Deployment
		errs = append(errs, add(&o.ObjectMeta, func(manager string) (any, error) { return appsv1ac.ExtractDeployment(o, manager) }))
	}
	for i := range in.disruptions {
		o := &in.disruptions[i].PodDisruptionBudget
		errs = append(errs, add(&o.ObjectMeta, func(manager string) (any, error) { return policyv1ac.ExtractPodDisruptionBudget(o, manager) }))
	}
	for i := range in.slices {
		observed := &in.slices[i]
		slice := newSlice(observed.Class, observed.Labels[crdv1.LabelSlice])
		slice.Name = observed.Name
		slice.Addresses, slice.AllowExternalName, slice.Entries = observed.Addresses, observed.AllowExternalName, observed.Entries
		children = append(children, slice)
	}
	return children, errors.Join(errs...)
}

// lastApplied gives an object as Metacontroller last applied it: from its
// annotation, or from the fields that it manages by server-side apply.
func lastApplied(meta *metav1.ObjectMeta, managed func(manager string) (any, error)) (any, error) {
	text, ok := meta.Annotations[owned.LastApplied]
	if !ok {
		return managed(owned.Manager(meta))
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("annotation %s of %s/%s is not JSON", owned.LastApplied, meta.Namespace, meta.Name)
	}
	return json.RawMessage(text), nil
}

// eachChild visits the observed children but the slices, with their kind, and the
// path that tells whether we ever wrote what the object is about.
func (in *classInput) eachChild(visit func(kind string, meta *metav1.ObjectMeta, content ...string)) {
	for i := range in.configMaps {
		visit("ConfigMap", &in.configMaps[i].ObjectMeta, "data")
	}
	for i := range in.services {
		visit("Service", &in.services[i].ObjectMeta, "spec")
	}
	for i := range in.deployments {
		visit("Deployment", &in.deployments[i].ObjectMeta, "spec")
	}
	for i := range in.disruptions {
		visit("PodDisruptionBudget", &in.disruptions[i].ObjectMeta, "spec")
	}
}

// strays keeps objects that carry the label of this class, but have not the name of
// a child, and that we never wrote to: somebody labelled the wrong object, and what is
// left out of the answer is deleted.
func (in *classInput) strays(o *observed) []any {
	ours := make(map[string]bool)
	for _, p := range protocols() {
		ours[o.serviceText(p)] = o.layout.enabled(p)
	}
	for _, s := range []side{o.acting, o.leaving} {
		if s == nil {
			continue
		}
		for _, p := range protocols() {
			for _, text := range s.objects(p) {
				ours[text] = true
			}
		}
	}
	var children []any
	in.eachChild(func(kind string, meta *metav1.ObjectMeta, content ...string) {
		fields := owned.Of(meta)
		written := fields.Has(content...) || o.idle != nil && fields.Has("metadata", "labels", crdv1.LabelClass) && o.wasChild(kind, meta)
		if !ours[objectText(kind, meta)] && !written {
			children = append(children, untouched(kind, meta))
		}
	})
	return children
}

// wasChild tells whether the object has the name of a child of the side that is not used.
func (o *observed) wasChild(kind string, meta *metav1.ObjectMeta) bool {
	for _, p := range protocols() {
		if slices.Contains(o.idle.objects(p), objectText(kind, meta)) {
			return true
		}
	}
	return false
}

// untouched names an object, and says nothing of it.
func untouched(kind string, meta *metav1.ObjectMeta) any {
	switch kind {
	case "ConfigMap":
		return corev1ac.ConfigMap(meta.Name, meta.Namespace)
	case "Service":
		return corev1ac.Service(meta.Name, meta.Namespace)
	case "Deployment":
		return appsv1ac.Deployment(meta.Name, meta.Namespace)
	default:
		return policyv1ac.PodDisruptionBudget(meta.Name, meta.Namespace)
	}
}
