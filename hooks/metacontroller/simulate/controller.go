package simulate

import (
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
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
	kind     Kind
	selector ParentSelector
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

// readController reads a manifest. What is not simulated is an error.
func (c *Cluster) readController(manifest *unstructured.Unstructured) (controller, error) {
	ctl := controller{name: manifest.GetName(), manifest: manifest, decorator: manifest.GetKind() == DecoratorKind}
	if !ctl.decorator && manifest.GetKind() != CompositeKind {
		return ctl, fmt.Errorf("kind is neither %s nor %s", CompositeKind, DecoratorKind)
	}
	spec, err := ReadSpec(manifest)
	if err != nil {
		return ctl, err
	}
	ctl.generateSelector = spec.GenerateSelector
	if !ctl.decorator && !ctl.generateSelector {
		return ctl, fmt.Errorf("a %s without generateSelector is not simulated", CompositeKind)
	}
	for _, resource := range spec.Parents() {
		rule, err := c.readParentRule(resource)
		if err != nil {
			return ctl, fmt.Errorf("reading parent resource: %w", err)
		}
		ctl.parents = append(ctl.parents, rule)
	}
	for _, resource := range spec.Children() {
		rule, err := c.readChildRule(resource)
		if err != nil {
			return ctl, fmt.Errorf("reading child resource: %w", err)
		}
		ctl.children = append(ctl.children, rule)
	}
	return ctl, c.readHooks(&ctl, spec)
}

func (c *Cluster) readParentRule(resource ResourceSpec) (parentRule, error) {
	kind, err := c.kindOfResource(resource.APIVersion, resource.Resource)
	if err != nil {
		return parentRule{}, err
	}
	selector, err := resource.Selector()
	return parentRule{kind, selector}, err
}

func (c *Cluster) readChildRule(resource ResourceSpec) (childRule, error) {
	kind, err := c.kindOfResource(resource.APIVersion, resource.Resource)
	if err != nil {
		return childRule{}, err
	}
	switch method := resource.UpdateStrategy.Method; method {
	case "":
		return childRule{kind, MethodOnDelete}, nil
	case MethodOnDelete, MethodInPlace, MethodRecreate:
		return childRule{kind, method}, nil
	default:
		return childRule{}, fmt.Errorf("update method %s is not simulated", method)
	}
}

func (c *Cluster) readHooks(ctl *controller, spec ControllerSpec) error {
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

func (c *Cluster) findHook(spec *HookSpec) (*metacontroller.Hook, error) {
	if spec.Version != "v2" {
		return nil, fmt.Errorf("version %q is not simulated, only v2", spec.Version)
	}
	path, err := spec.Path()
	if err != nil {
		return nil, err
	}
	for i := range c.options.Hooks {
		if c.options.Hooks[i].Path == path {
			return &c.options.Hooks[i], nil
		}
	}
	return nil, fmt.Errorf("no hook answers %q", path)
}
