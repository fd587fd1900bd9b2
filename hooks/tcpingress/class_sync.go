package tcpingress

import (
	"fmt"
	"time"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/resolve"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/validate"
)

// classInput is a sync request for a TCPIngressClass.
type classInput struct {
	parent classObject

	// The children that Metacontroller observed as ours.
	configMaps []configMapObject
	services   []serviceObject
	slices     []sliceObject

	ingresses  []claimant
	classes    []classObject
	namespaces []namespaceObject
	// Whatever exists under the names of our children, ours or not.
	namedConfigMaps []ownedObject
	namedServices   []ownedObject
}

// syncClass answers with all that shall exist for a class, and its status.
func syncClass(body []byte, now time.Time) (any, error) {
	var in classInput
	if err := in.decode(body); err != nil {
		return nil, err
	}
	name, spec := in.parent.Name, &in.parent.Spec
	if errs := validate.Class(spec, name); len(errs) > 0 {
		return in.frozen(isFalse(crdv1.ReasonInvalidClass, invalidClass(problems(errs))), now)
	}
	if spec.Provider == crdv1.ProviderNginx {
		return in.frozen(isFalse(crdv1.ReasonInvalidClass, providerMissing(spec.Provider)), now)
	}

	layout := layoutOf(name, spec)
	o := in.observe(&layout)
	outcome := resolve.Resolve(in.world(o), o.dataplane())
	children := in.children(&layout, o, &outcome)
	pages := in.slicesOf(o, &outcome)
	for i := range pages {
		children = append(children, pages[i])
	}
	return metacontroller.CompositeResponse{
		Status:   in.status(o, &outcome, now),
		Children: children,
	}, nil
}

func (in *classInput) decode(body []byte) error {
	var namespacesSeen, configMapsSeen, servicesSeen bool
	s := &metacontroller.Sync{
		Parent: &in.parent, ParentAPIVersion: crdv1.APIVersion, ParentKind: crdv1.KindTCPIngressClass,
		Children: []metacontroller.Group{
			configMaps(&in.configMaps),
			services(&in.services),
			verdictSlices(&in.slices),
		},
		Related: []metacontroller.Group{
			metacontroller.Into(crdv1.APIVersion, crdv1.KindTCPIngress, &in.ingresses),
			metacontroller.Into(crdv1.APIVersion, crdv1.KindTCPIngressClass, &in.classes),
			metacontroller.Optional(metacontroller.Into("v1", "Namespace", &in.namespaces), &namespacesSeen),
			metacontroller.Optional(metacontroller.Into("v1", "ConfigMap", &in.namedConfigMaps), &configMapsSeen),
			metacontroller.Optional(metacontroller.Into("v1", "Service", &in.namedServices), &servicesSeen),
		},
	}
	if _, err := metacontroller.DecodeComposite(body, s); err != nil {
		return err
	}
	layout := layoutOf(in.parent.Name, &in.parent.Spec)
	return complete(
		asked{group: "Namespace.v1", want: selectsNamespaces(&in.parent.Spec), seen: namespacesSeen},
		asked{group: "ConfigMap.v1", want: len(layout.configMaps()) > 0, seen: configMapsSeen},
		asked{group: "Service.v1", want: len(layout.services()) > 0, seen: servicesSeen},
	)
}

// children renders the outcome, but for children under whose names somebody else has
// an object. Observed objects that we did not ask for, but
// that were handed over to the class, are kept as they are.
func (in *classInput) children(l *layout, o *observed, outcome *resolve.Outcome) []any {
	var children []any
	for _, cm := range o.nginx.ConfigMaps(outcome.Table, o.config) {
		if !o.occupied[fmt.Sprintf("ConfigMap %s/%s", *cm.Metadata.Namespace, *cm.Metadata.Name)] {
			children = append(children, cm)
		}
	}
	for _, p := range protocols() {
		if l.configMap(p) == "" || o.occupied[o.serviceText(p)] {
			continue
		}
		if svc := o.renderService(p, outcome); svc != nil {
			children = append(children, svc)
		}
	}
	return append(children, in.strays(l)...)
}

// world gathers what the book is made from.
func (in *classInput) world(o *observed) *resolve.World {
	w := &resolve.World{
		Class:     classOf(&in.parent),
		Classes:   make([]resolve.Class, 0, len(in.classes)),
		Ingresses: make([]resolve.Ingress, 0, len(in.ingresses)),
		Observed: resolve.Observed{
			Entries: o.config.Entries,
			Rules:   make(map[string]map[string]crdv1.SliceRule),
			Taken:   o.taken(),
		},
	}
	found := false
	for i := range in.classes {
		c := &in.classes[i]
		if c.Name == in.parent.Name {
			c, found = &in.parent, true
		}
		w.Classes = append(w.Classes, classOf(c))
	}
	if !found {
		w.Classes = append(w.Classes, w.Class)
	}
	for i := range in.ingresses {
		w.Ingresses = append(w.Ingresses, ingressOf(&in.ingresses[i]))
	}
	for i := range in.slices {
		for key, entry := range in.slices[i].Entries {
			w.Observed.Rules[key] = entry.Rules
		}
	}
	if len(in.namespaces) > 0 {
		w.Namespaces = make(map[string]map[string]string, len(in.namespaces))
		for i := range in.namespaces {
			w.Namespaces[in.namespaces[i].Name] = in.namespaces[i].Labels
		}
	}
	return w
}

func classOf(c *classObject) resolve.Class {
	return resolve.Class{
		Name:      c.Name,
		Created:   c.CreationTimestamp,
		Deleting:  c.DeletionTimestamp != nil,
		Default:   c.Annotations[crdv1.AnnotationDefaultClass] == "true",
		Spec:      &c.Spec,
		Listeners: c.Status.Listeners,
		Ranges:    c.Status.Ranges,
	}
}

func ingressOf(o *claimant) resolve.Ingress {
	rules := make([]crdv1.RuleStatus, len(o.Status.Rules))
	for i := range o.Status.Rules {
		rules[i] = o.Status.Rules[i].ruleStatus()
	}
	return resolve.Ingress{
		Namespace:   o.Namespace,
		Name:        o.Name,
		Generation:  o.Generation,
		Created:     o.CreationTimestamp,
		Deleting:    o.DeletionTimestamp != nil,
		Spec:        &o.Spec,
		StatusClass: o.Status.ClassName,
		StatusRules: rules,
	}
}

// Hooks are the hooks of this package.
func Hooks() []metacontroller.Hook {
	return []metacontroller.Hook{
		{Path: "/tcpingressclass/customize", Serve: customizeClass},
		{Path: "/tcpingressclass/sync", Serve: syncClass},
		{Path: "/tcpingress/customize", Serve: customizeIngress},
		{Path: "/tcpingress/sync", Serve: syncIngress},
	}
}

var _ resolve.Dataplane = dataplane{}
