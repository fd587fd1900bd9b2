package simulate

import (
	"errors"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// customizeKey is what answers of a customize hook are remembered by, for ever:
// that is why they may depend on the spec only.
type customizeKey struct {
	controller string
	uid        types.UID
	generation int64
}

// related gives the objects that the customize hook asks for. Groups that were
// asked for are there, also if they are empty.
func (c *Cluster) related(ctl *controller, parent *unstructured.Unstructured) (ObjectMap, error) {
	objects := ObjectMap{}
	if ctl.customize == nil {
		return objects, nil
	}
	rules, err := c.relatedRules(ctl, parent)
	if err != nil {
		return nil, err
	}
	for _, rule := range rules {
		if err := c.addRelated(objects, rule); err != nil {
			return nil, fmt.Errorf("selecting related %s: %w", rule.Resource, err)
		}
	}
	return objects, nil
}

func (c *Cluster) relatedRules(ctl *controller, parent *unstructured.Unstructured) ([]metacontroller.RelatedResourceRule, error) {
	k := customizeKey{ctl.name, parent.GetUID(), parent.GetGeneration()}
	if rules, known := c.customized[k]; known {
		return rules, nil
	}
	var response CustomizeResponse
	if err := c.call(ctl.customize, CustomizeRequest{ctl.manifest, parent}, &response); err != nil {
		return nil, err
	}
	c.customized[k] = response.RelatedResources
	return response.RelatedResources, nil
}

func (c *Cluster) addRelated(objects ObjectMap, rule metacontroller.RelatedResourceRule) error {
	kind, err := c.kindOfResource(rule.APIVersion, rule.Resource)
	if err != nil {
		return err
	}
	selects, err := Selection(kind, rule, c.namespaceMatches)
	if err != nil {
		return err
	}
	objects.Open(kind)
	for _, e := range c.shelf(kind).list() {
		if selects(e.object) {
			objects.Insert(kind, e.object)
		}
	}
	return nil
}

// Selection gives the condition that a rule stands for, or the error that
// Metacontroller gives for combinations that it does not allow. A namespaceSelector
// is judged by inNamespace.
func Selection(
	kind Kind, rule metacontroller.RelatedResourceRule, inNamespace func(selector labels.Selector, namespace string) bool,
) (func(*unstructured.Unstructured) bool, error) {
	if err := checkRule(kind, rule); err != nil {
		return nil, err
	}
	byLabels, err := selectorOf(rule.LabelSelector)
	if err != nil {
		return nil, fmt.Errorf("reading labelSelector: %w", err)
	}
	namespaces, err := selectorOf(rule.NamespaceSelector)
	if err != nil {
		return nil, fmt.Errorf("reading namespaceSelector: %w", err)
	}
	return func(o *unstructured.Unstructured) bool {
		switch {
		case len(rule.Names) > 0 && !slices.Contains(rule.Names, o.GetName()):
			return false
		case rule.Namespace != "" && kind.Namespaced && o.GetNamespace() != rule.Namespace:
			return false
		case rule.NamespaceSelector != nil && !inNamespace(namespaces, o.GetNamespace()):
			return false
		default:
			return byLabels.Empty() || byLabels.Matches(labels.Set(o.GetLabels()))
		}
	}, nil
}

func checkRule(kind Kind, rule metacontroller.RelatedResourceRule) error {
	switch {
	case len(rule.Names) > 0 && (rule.LabelSelector != nil || rule.NamespaceSelector != nil):
		return errors.New("names exclude labelSelector and namespaceSelector")
	case rule.Namespace != "" && rule.NamespaceSelector != nil:
		return errors.New("namespace excludes namespaceSelector")
	case rule.NamespaceSelector != nil && !kind.Namespaced:
		return errors.New("namespaceSelector needs a namespaced kind")
	default:
		return nil
	}
}

func selectorOf(selector *metav1.LabelSelector) (labels.Selector, error) {
	if selector == nil {
		return labels.Everything(), nil
	}
	return metav1.LabelSelectorAsSelector(selector)
}

// namespaceMatches is false for a namespace that is not there.
func (c *Cluster) namespaceMatches(selector labels.Selector, namespace string) bool {
	object := c.Get("v1", "Namespace", "", namespace)
	return object != nil && selector.Matches(labels.Set(object.GetLabels()))
}
