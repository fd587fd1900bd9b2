package simulate

import (
	"encoding/json"
	"fmt"
	"net/url"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
)

// The kinds of controllers.
const (
	CompositeKind = "CompositeController"
	DecoratorKind = "DecoratorController"
)

// Update methods of a child resource.
const (
	MethodOnDelete = "OnDelete"
	MethodInPlace  = "InPlace"
	MethodRecreate = "Recreate"
)

// ControllerSpec is what is read of the spec of a CompositeController or of a
// DecoratorController.
type ControllerSpec struct {
	ParentResource      *ResourceSpec  `json:"parentResource"`
	Resources           []ResourceSpec `json:"resources"`
	ChildResources      []ResourceSpec `json:"childResources"`
	Attachments         []ResourceSpec `json:"attachments"`
	GenerateSelector    bool           `json:"generateSelector"`
	ResyncPeriodSeconds *int32         `json:"resyncPeriodSeconds"`
	Hooks               struct {
		Sync      *HookSpec `json:"sync"`
		Customize *HookSpec `json:"customize"`
		Finalize  *HookSpec `json:"finalize"`
	} `json:"hooks"`
}

// ResourceSpec is a parent or child resource of a controller.
type ResourceSpec struct {
	APIVersion          string                `json:"apiVersion"`
	Resource            string                `json:"resource"`
	LabelSelector       *metav1.LabelSelector `json:"labelSelector"`
	AnnotationSelector  *AnnotationSelector   `json:"annotationSelector"`
	IgnoreStatusChanges bool                  `json:"ignoreStatusChanges"`
	UpdateStrategy      struct {
		Method string `json:"method"`
	} `json:"updateStrategy"`
}

// AnnotationSelector selects objects as a label selector does.
type AnnotationSelector struct {
	MatchAnnotations map[string]string                 `json:"matchAnnotations"`
	MatchExpressions []metav1.LabelSelectorRequirement `json:"matchExpressions"`
}

// HookSpec says where a hook is.
type HookSpec struct {
	Version string `json:"version"`
	Webhook struct {
		URL     string           `json:"url"`
		Path    string           `json:"path"`
		Timeout *metav1.Duration `json:"timeout"`
	} `json:"webhook"`
}

// ReadSpec reads the manifest of a controller.
func ReadSpec(manifest *unstructured.Unstructured) (ControllerSpec, error) {
	var read struct {
		Spec ControllerSpec `json:"spec"`
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

// Parents are the parent resources of either kind of controller.
func (s *ControllerSpec) Parents() []ResourceSpec {
	if s.ParentResource == nil {
		return s.Resources
	}
	return []ResourceSpec{*s.ParentResource}
}

// Children are the child resources or attachments.
func (s *ControllerSpec) Children() []ResourceSpec {
	if s.Attachments == nil {
		return s.ChildResources
	}
	return s.Attachments
}

// Path gives the URL path of the hook.
func (s *HookSpec) Path() (string, error) {
	if s.Webhook.URL == "" {
		return s.Webhook.Path, nil
	}
	address, err := url.Parse(s.Webhook.URL)
	if err != nil {
		return "", fmt.Errorf("reading url: %w", err)
	}
	return address.Path, nil
}

// ParentSelector selects parents by labels and annotations.
type ParentSelector struct{ labels, annotations labels.Selector }

// Selector gives the selector of a parent resource; without one all are selected.
func (r *ResourceSpec) Selector() (ParentSelector, error) {
	selector := ParentSelector{labels.Everything(), labels.Everything()}
	var err error
	if r.LabelSelector != nil {
		if selector.labels, err = metav1.LabelSelectorAsSelector(r.LabelSelector); err != nil {
			return selector, fmt.Errorf("reading labelSelector: %w", err)
		}
	}
	if a := r.AnnotationSelector; a != nil {
		asLabels := &metav1.LabelSelector{MatchLabels: a.MatchAnnotations, MatchExpressions: a.MatchExpressions}
		if selector.annotations, err = metav1.LabelSelectorAsSelector(asLabels); err != nil {
			return selector, fmt.Errorf("reading annotationSelector: %w", err)
		}
	}
	return selector, nil
}

// Matches tells whether the object is selected.
func (s *ParentSelector) Matches(o *unstructured.Unstructured) bool {
	return (s.labels.Empty() || s.labels.Matches(labels.Set(o.GetLabels()))) &&
		(s.annotations.Empty() || s.annotations.Matches(labels.Set(o.GetAnnotations())))
}
