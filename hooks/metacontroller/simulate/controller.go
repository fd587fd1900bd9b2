package simulate

import (
	"encoding/json"
	"fmt"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// Update methods of a child resource.
const (
	methodOnDelete = "OnDelete"
	methodInPlace  = "InPlace"
	methodRecreate = "Recreate"
)

const (
	kindComposite = "CompositeController"
	kindDecorator = "DecoratorController"
)

// controller is a CompositeController or a DecoratorController.
type controller struct {
	name string
	// manifest goes into every request as it is.
	manifest         *unstructured.Unstructured
	decorator        bool
	generateSelector bool
	parents          []parentRule
	children         []childRule
	sync             *metacontroller.Hook
	customize        *metacontroller.Hook
}

// parentRule selects the parents of one kind.
type parentRule struct {
	kind                Kind
	labels, annotations labels.Selector
}

type childRule struct {
	kind   Kind
	method string
}

// rank puts decorators first: what they make is then judged together with what
// was there from the beginning.
func (ctl *controller) rank() int {
	if ctl.decorator {
		return 0
	}
	return 1
}

func (ctl *controller) method(kind Kind) (string, error) {
	for _, child := range ctl.children {
		if child.kind == kind {
			return child.method, nil
		}
	}
	return "", fmt.Errorf("%s is no child resource of %s", kind.Kind, ctl.name)
}

type controllerSpec struct {
	ParentResource   *resourceSpec  `json:"parentResource"`
	Resources        []resourceSpec `json:"resources"`
	ChildResources   []resourceSpec `json:"childResources"`
	Attachments      []resourceSpec `json:"attachments"`
	GenerateSelector bool           `json:"generateSelector"`
	Hooks            struct {
		Sync      *hookSpec `json:"sync"`
		Customize *hookSpec `json:"customize"`
		Finalize  *hookSpec `json:"finalize"`
	} `json:"hooks"`
}

type resourceSpec struct {
	APIVersion         string                `json:"apiVersion"`
	Resource           string                `json:"resource"`
	LabelSelector      *metav1.LabelSelector `json:"labelSelector"`
	AnnotationSelector *annotationSelector   `json:"annotationSelector"`
	UpdateStrategy     struct {
		Method string `json:"method"`
	} `json:"updateStrategy"`
}

type annotationSelector struct {
	MatchAnnotations map[string]string                 `json:"matchAnnotations"`
	MatchExpressions []metav1.LabelSelectorRequirement `json:"matchExpressions"`
}

type hookSpec struct {
	Version string `json:"version"`
	Webhook struct {
		URL  string `json:"url"`
		Path string `json:"path"`
	} `json:"webhook"`
}

// readController reads a manifest. What is not simulated is an error.
func (c *Cluster) readController(manifest *unstructured.Unstructured) (controller, error) {
	ctl := controller{name: manifest.GetName(), manifest: manifest, decorator: manifest.GetKind() == kindDecorator}
	if !ctl.decorator && manifest.GetKind() != kindComposite {
		return ctl, fmt.Errorf("kind is neither %s nor %s", kindComposite, kindDecorator)
	}
	spec, err := readSpec(manifest)
	if err != nil {
		return ctl, err
	}
	ctl.generateSelector = spec.GenerateSelector
	if !ctl.decorator && !ctl.generateSelector {
		return ctl, fmt.Errorf("a %s without generateSelector is not simulated", kindComposite)
	}
	for _, resource := range append(spec.Resources, fromPointer(spec.ParentResource)...) {
		rule, err := c.readParentRule(resource)
		if err != nil {
			return ctl, fmt.Errorf("reading parent resource: %w", err)
		}
		ctl.parents = append(ctl.parents, rule)
	}
	for _, resource := range append(spec.ChildResources, spec.Attachments...) {
		rule, err := c.readChildRule(resource)
		if err != nil {
			return ctl, fmt.Errorf("reading child resource: %w", err)
		}
		ctl.children = append(ctl.children, rule)
	}
	return ctl, c.readHooks(&ctl, spec)
}

func readSpec(manifest *unstructured.Unstructured) (controllerSpec, error) {
	var read struct {
		Spec controllerSpec `json:"spec"`
	}
	encoded, err := json.Marshal(manifest.Object)
	if err != nil {
		return read.Spec, fmt.Errorf("encoding manifest: %w", err)
	}
	if err := json.Unmarshal(encoded, &read); err != nil {
		return read.Spec, fmt.Errorf("decoding manifest: %w", err)
	}
	return read.Spec, nil
}

func fromPointer(resource *resourceSpec) []resourceSpec {
	if resource == nil {
		return nil
	}
	return []resourceSpec{*resource}
}

func (c *Cluster) readParentRule(resource resourceSpec) (parentRule, error) {
	kind, err := c.kindOfResource(resource.APIVersion, resource.Resource)
	if err != nil {
		return parentRule{}, err
	}
	rule := parentRule{kind: kind, labels: labels.Everything(), annotations: labels.Everything()}
	if resource.LabelSelector != nil {
		if rule.labels, err = metav1.LabelSelectorAsSelector(resource.LabelSelector); err != nil {
			return rule, fmt.Errorf("reading labelSelector: %w", err)
		}
	}
	if a := resource.AnnotationSelector; a != nil {
		selector := &metav1.LabelSelector{MatchLabels: a.MatchAnnotations, MatchExpressions: a.MatchExpressions}
		if rule.annotations, err = metav1.LabelSelectorAsSelector(selector); err != nil {
			return rule, fmt.Errorf("reading annotationSelector: %w", err)
		}
	}
	return rule, nil
}

func (r *parentRule) matches(o *unstructured.Unstructured) bool {
	return r.labels.Matches(labels.Set(o.GetLabels())) && r.annotations.Matches(labels.Set(o.GetAnnotations()))
}

func (c *Cluster) readChildRule(resource resourceSpec) (childRule, error) {
	kind, err := c.kindOfResource(resource.APIVersion, resource.Resource)
	if err != nil {
		return childRule{}, err
	}
	switch method := resource.UpdateStrategy.Method; method {
	case "":
		return childRule{kind, methodOnDelete}, nil
	case methodOnDelete, methodInPlace, methodRecreate:
		return childRule{kind, method}, nil
	default:
		return childRule{}, fmt.Errorf("update method %s is not simulated", method)
	}
}

func (c *Cluster) readHooks(ctl *controller, spec controllerSpec) error {
	if spec.Hooks.Finalize != nil {
		return fmt.Errorf("a finalize hook is not simulated")
	}
	if spec.Hooks.Sync == nil {
		return fmt.Errorf("it has no sync hook")
	}
	var err error
	if ctl.sync, err = c.findHook(spec.Hooks.Sync); err != nil {
		return fmt.Errorf("reading sync hook: %w", err)
	}
	if spec.Hooks.Customize == nil {
		return nil
	}
	if ctl.customize, err = c.findHook(spec.Hooks.Customize); err != nil {
		return fmt.Errorf("reading customize hook: %w", err)
	}
	return nil
}

func (c *Cluster) findHook(spec *hookSpec) (*metacontroller.Hook, error) {
	if spec.Version != "v2" {
		return nil, fmt.Errorf("version %q is not simulated, only v2", spec.Version)
	}
	path := spec.Webhook.Path
	if spec.Webhook.URL != "" {
		address, err := url.Parse(spec.Webhook.URL)
		if err != nil {
			return nil, fmt.Errorf("reading url: %w", err)
		}
		path = address.Path
	}
	for i := range c.options.Hooks {
		if c.options.Hooks[i].Path == path {
			return &c.options.Hooks[i], nil
		}
	}
	return nil, fmt.Errorf("no hook answers %q", path)
}
