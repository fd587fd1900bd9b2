package tcpingress

import (
	"encoding/json"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

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
		},
		Children: children,
	}, nil
}

func (in *classInput) asApplied() ([]any, error) {
	var children []any
	for i := range in.configMaps {
		cm := &in.configMaps[i].ConfigMap
		child, err := lastApplied(&cm.ObjectMeta, func() (any, error) { return corev1ac.ExtractConfigMap(cm, owned.Manager(&cm.ObjectMeta)) })
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	for i := range in.services {
		svc := &in.services[i].Service
		child, err := lastApplied(&svc.ObjectMeta, func() (any, error) { return corev1ac.ExtractService(svc, owned.Manager(&svc.ObjectMeta)) })
		if err != nil {
			return nil, err
		}
		children = append(children, child)
	}
	for i := range in.slices {
		observed := &in.slices[i]
		slice := newSlice(observed.Class, observed.Labels[crdv1.LabelSlice])
		slice.Name = observed.Name
		slice.Addresses, slice.AllowExternalName, slice.Entries = observed.Addresses, observed.AllowExternalName, observed.Entries
		children = append(children, slice)
	}
	return children, nil
}

// lastApplied gives an object as Metacontroller last applied it: from its
// annotation, or from the fields that it manages by server-side apply.
func lastApplied(meta *metav1.ObjectMeta, managed func() (any, error)) (any, error) {
	text, ok := meta.Annotations[owned.LastApplied]
	if !ok {
		return managed()
	}
	if !json.Valid([]byte(text)) {
		return nil, fmt.Errorf("annotation %s of %s/%s is not JSON", owned.LastApplied, meta.Namespace, meta.Name)
	}
	return json.RawMessage(text), nil
}

// strays keeps ConfigMaps and Services that carry the label of this class, but
// have not the name of a child, and that we never wrote to: somebody labelled the
// wrong object, and what is left out of the answer is deleted.
func (in *classInput) strays(l *layout) []any {
	ours := make(map[string]bool)
	for _, name := range l.configMaps() {
		ours["ConfigMap "+l.nginx.Namespace+"/"+name] = true
	}
	for _, name := range l.services() {
		ours["Service "+l.nginx.Namespace+"/"+name] = true
	}
	var children []any
	for i := range in.configMaps {
		meta := &in.configMaps[i].ObjectMeta
		if !ours[objectText("ConfigMap", meta)] && !owned.Of(meta).Has("data") {
			children = append(children, corev1ac.ConfigMap(meta.Name, meta.Namespace))
		}
	}
	for i := range in.services {
		meta := &in.services[i].ObjectMeta
		if !ours[objectText("Service", meta)] && !owned.Of(meta).Has("spec") {
			children = append(children, corev1ac.Service(meta.Name, meta.Namespace))
		}
	}
	return children
}
