package tcpingress

import (
	"math"
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
	// Only provider Nginx has these two.
	deployments []deploymentObject
	disruptions []disruptionObject
	slices      []sliceObject

	ingresses  []claimant
	classes    []classObject
	namespaces []namespaceObject
	// Whatever exists under the names of our children, ours or not.
	namedConfigMaps  []ownedObject
	namedServices    []ownedObject
	namedDeployments []ownedObject
	namedDisruptions []ownedObject
}

// classHook is what the hook of classes was set up with.
type classHook struct {
	// agentImage brings the agent of provider Nginx.
	agentImage string
}

// sync answers with all that shall exist for a class, and its status.
func (h classHook) sync(body []byte, now time.Time) (any, error) {
	var in classInput
	if err := in.decode(body); err != nil {
		return nil, err
	}
	name, spec := in.parent.Name, &in.parent.Spec
	if errs := validate.Class(spec, name); len(errs) > 0 {
		return in.frozen(isFalse(crdv1.ReasonInvalidClass, invalidClass(problems(errs))), now)
	}
	layout := layoutOf(name, spec, h.agentImage)
	o := in.observe(&layout, now)
	outcome := resolve.Resolve(in.world(o), o.dataplane())
	o.decide(outcome.Table)
	children := in.children(o, &outcome)
	pages := in.slicesOf(o, &outcome)
	for i := range pages {
		children = append(children, pages[i])
	}
	return metacontroller.CompositeResponse{
		Status:             in.status(o, &outcome, now),
		Children:           children,
		ResyncAfterSeconds: math.Ceil(o.wait.Seconds()),
	}, nil
}

func (in *classInput) decode(body []byte) error {
	var namespacesSeen, configMapsSeen, servicesSeen, deploymentsSeen, disruptionsSeen bool
	var deploymentsMade, disruptionsMade bool
	s := &metacontroller.Sync{
		Parent: &in.parent, ParentAPIVersion: crdv1.APIVersion, ParentKind: crdv1.KindTCPIngressClass,
		Children: []metacontroller.Group{
			configMaps(&in.configMaps),
			services(&in.services),
			// A controller of an older release asks for neither.
			metacontroller.Optional(deployments(&in.deployments), &deploymentsMade),
			metacontroller.Optional(disruptions(&in.disruptions), &disruptionsMade),
			verdictSlices(&in.slices),
		},
		Related: []metacontroller.Group{
			metacontroller.Into(crdv1.APIVersion, crdv1.KindTCPIngress, &in.ingresses),
			metacontroller.Into(crdv1.APIVersion, crdv1.KindTCPIngressClass, &in.classes),
			metacontroller.Optional(metacontroller.Into("v1", "Namespace", &in.namespaces), &namespacesSeen),
			metacontroller.Optional(metacontroller.Into("v1", "ConfigMap", &in.namedConfigMaps), &configMapsSeen),
			metacontroller.Optional(metacontroller.Into("v1", "Service", &in.namedServices), &servicesSeen),
			metacontroller.Optional(metacontroller.Into("apps/v1", "Deployment", &in.namedDeployments), &deploymentsSeen),
			metacontroller.Optional(metacontroller.Into("policy/v1", "PodDisruptionBudget", &in.namedDisruptions), &disruptionsSeen),
		},
	}
	if _, err := metacontroller.DecodeComposite(body, s); err != nil {
		return err
	}
	layout := layoutOf(in.parent.Name, &in.parent.Spec, "")
	workloads := len(layout.workloads()) > 0
	return complete(
		asked{group: "Namespace.v1", want: selectsNamespaces(&in.parent.Spec), seen: namespacesSeen},
		asked{group: "ConfigMap.v1", want: len(layout.configMaps()) > 0, seen: configMapsSeen},
		asked{group: "Service.v1", want: len(layout.serviceNames()) > 0, seen: servicesSeen},
		asked{group: "Deployment.apps/v1", want: workloads, seen: deploymentsSeen && deploymentsMade},
		asked{group: "PodDisruptionBudget.policy/v1", want: workloads, seen: disruptionsSeen && disruptionsMade},
	)
}

// children renders the outcome, but for children under whose names somebody else has
// an object. Observed objects that we did not ask for, but
// that were handed over to the class, are kept as they are.
func (in *classInput) children(o *observed, outcome *resolve.Outcome) []any {
	var children []any
	add := func(list []child) {
		for _, c := range list {
			if !o.occupied[c.text] {
				children = append(children, c.object)
			}
		}
	}
	add(o.acting.children(outcome.Table, false))
	if o.leaving != nil {
		add(o.leaving.children(o.rendered(outcome.Table), true))
	}
	if o.idle != nil {
		add(o.idle.remains())
	}
	for _, p := range protocols() {
		if !o.layout.enabled(p) || o.occupied[o.serviceText(p)] {
			continue
		}
		if svc := o.renderService(p, outcome); svc != nil {
			children = append(children, svc)
		}
	}
	return append(children, in.strays(o)...)
}

// world gathers what the book is made from.
func (in *classInput) world(o *observed) *resolve.World {
	w := &resolve.World{
		Class:     classOf(&in.parent),
		Classes:   make([]resolve.Class, 0, len(in.classes)),
		Ingresses: make([]resolve.Ingress, 0, len(in.ingresses)),
		Observed: resolve.Observed{
			Entries: o.evidence(),
			Rules:   make(map[string]map[string]crdv1.SliceRule),
			Taken:   o.taken(),
		},
		PortNumbers: o.leaving != nil && o.leaving.provider() == crdv1.ProviderNginx,
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

// Option sets the hooks up.
type Option func(*classHook)

// WithAgentImage tells which image brings the agent of provider Nginx; without it, it
// is crdv1.DefaultAgentImage.
func WithAgentImage(image string) Option {
	return func(h *classHook) { h.agentImage = image }
}

// Hooks are the hooks of this package.
func Hooks(options ...Option) []metacontroller.Hook {
	class := classHook{agentImage: crdv1.DefaultAgentImage}
	for _, option := range options {
		option(&class)
	}
	return []metacontroller.Hook{
		{Path: "/tcpingressclass/customize", Serve: customizeClass},
		{Path: "/tcpingressclass/sync", Serve: class.sync},
		{Path: "/tcpingress/customize", Serve: customizeIngress},
		{Path: "/tcpingress/sync", Serve: syncIngress},
	}
}

var _ resolve.Dataplane = dataplane{}
