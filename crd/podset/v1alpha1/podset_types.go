package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// PodSet keeps a number of equal pods. Its pods are named <podset>-<number>; they
// are added and removed one by one, and go when the PodSet goes.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.replicas,selectorpath=.status.selector
// +kubebuilder:resource:path=podsets,scope=Namespaced,shortName=pset
// +kubebuilder:printcolumn:name=Desired,type=integer,JSONPath=`.spec.replicas`,description="How many pods there shall be."
// +kubebuilder:printcolumn:name=Current,type=integer,JSONPath=`.status.replicas`,description="How many live pods there are."
// +kubebuilder:printcolumn:name=Ready,type=integer,JSONPath=`.status.readyReplicas`,description="How many of them are ready."
// +kubebuilder:printcolumn:name=Available,type=string,JSONPath=`.status.conditions[?(@.type=="Available")].status`,description="Whether all of them are ready."
// +kubebuilder:printcolumn:name=Age,type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name=Progressing,type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Progressing")].reason`,description="What is being done."
// +kubebuilder:printcolumn:name=Selector,type=string,priority=1,JSONPath=`.status.selector`,description="Which pods belong to it."
// +kubebuilder:validation:XValidation:rule="oldSelf.hasValue() || size(self.metadata.name) <= 58",optionalOldSelf=true,message="the name has at most 58 characters, since each pod adds a dash and a number to it and takes the result as its host name, of at most 63"
type PodSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty,omitzero"`

	// Spec is what shall be.
	//
	// +required
	Spec PodSetSpec `json:"spec"`
	// Status is what was observed. The controller writes it; do not edit it.
	//
	// +optional
	Status PodSetStatus `json:"status,omitempty,omitzero"`
}

// PodSetList is a list of PodSets.
//
// +kubebuilder:object:root=true
type PodSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty,omitzero"`

	Items []PodSet `json:"items"`
}

// PodSetSpec is what a user declares.
//
// +kubebuilder:validation:XValidation:rule="!has(self.template) || !has(self.selector.matchLabels) || self.selector.matchLabels.all(k, has(self.template.metadata) && has(self.template.metadata.labels) && k in self.template.metadata.labels && self.template.metadata.labels[k] == self.selector.matchLabels[k])",message="every label of selector.matchLabels must be a label of the template, with the same value",fieldPath=".template"
// +kubebuilder:validation:XValidation:rule="!has(self.template) || !has(self.selector.matchExpressions) || self.selector.matchExpressions.all(e, has(self.template.metadata) && has(self.template.metadata.labels) && e.key in self.template.metadata.labels ? e.operator == 'Exists' || e.operator == 'In' && has(e.values) && self.template.metadata.labels[e.key] in e.values || e.operator == 'NotIn' && has(e.values) && !(self.template.metadata.labels[e.key] in e.values) : e.operator in ['NotIn', 'DoesNotExist'])",message="the labels of the template must satisfy selector.matchExpressions",fieldPath=".template"
// +kubebuilder:validation:XValidation:rule="has(self.template) || !has(self.selector.matchExpressions) || self.selector.matchExpressions.all(e, has(self.selector.matchLabels) && e.key in self.selector.matchLabels ? e.operator == 'Exists' || e.operator == 'In' && has(e.values) && self.selector.matchLabels[e.key] in e.values || e.operator == 'NotIn' && has(e.values) && !(self.selector.matchLabels[e.key] in e.values) : e.operator in ['NotIn', 'DoesNotExist'])",message="without a template the pods get the labels of selector.matchLabels, which must satisfy selector.matchExpressions",fieldPath=".selector.matchExpressions"
type PodSetSpec struct {
	// Replicas is how many live pods there shall be, 0 to 1000. Left out, it is 1.
	// Pods that are being deleted, have succeeded or have failed do not count.
	// `kubectl scale` and autoscalers set it.
	//
	// +optional
	// +default=1
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	Replicas *int32 `json:"replicas,omitempty"`
	// Selector tells which pods of the namespace belong to the PodSet. It must match
	// the labels of the template, and cannot be changed. A pod that matches and
	// belongs to nobody is adopted; one that no longer matches is let go.
	//
	// +required
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="the selector cannot be changed; make another PodSet"
	Selector LabelSelector `json:"selector"`
	// Template is what new pods look like. A change reaches new pods only: delete the
	// old ones to replace them. Left out, the pods run nothing but a container that
	// waits, and carry the labels of selector.matchLabels.
	//
	// +optional
	Template *PodTemplate `json:"template,omitempty"`
}

// LabelSelector is a label selector as everywhere in Kubernetes, with bounds.
//
// +kubebuilder:validation:XValidation:rule="has(self.matchLabels) && size(self.matchLabels) > 0 || has(self.matchExpressions) && size(self.matchExpressions) > 0",message="an empty selector would select every pod: write matchLabels or matchExpressions"
type LabelSelector struct {
	// MatchLabels are labels that a pod must have, with these values.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=16
	// +kubebuilder:validation:XValidation:rule="self.all(k, !format.qualifiedName().validate(k).hasValue())",message="a key must be a label key, such as app or example.com/app"
	MatchLabels map[string]LabelValue `json:"matchLabels,omitempty"`
	// MatchExpressions are requirements that a pod's labels must satisfy, all of them.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=16
	MatchExpressions []LabelSelectorRequirement `json:"matchExpressions,omitempty"`
}

// LabelSelectorRequirement is one requirement on one label.
//
// +kubebuilder:validation:XValidation:rule="self.operator in ['In', 'NotIn'] ? has(self.values) && size(self.values) > 0 : !has(self.values) || size(self.values) == 0",message="In and NotIn need values; Exists and DoesNotExist have none",fieldPath=".values"
type LabelSelectorRequirement struct {
	// Key of the label.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=317
	// +kubebuilder:validation:XValidation:rule="!format.qualifiedName().validate(self).hasValue()",message="must be a label key, such as app or example.com/app"
	Key string `json:"key"`
	// Operator tells what the label must be: one of the values, none of them or
	// missing, there, or missing.
	//
	// +required
	Operator LabelSelectorOperator `json:"operator"`
	// Values for In and NotIn.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=32
	Values []LabelValue `json:"values,omitempty"`
}

// LabelSelectorOperator is how a label is compared.
//
// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist
type LabelSelectorOperator string

// LabelValue is the value of a label.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
type LabelValue string

// PodTemplate is what a new pod looks like.
type PodTemplate struct {
	// Metadata of the pod. The name is given by the PodSet.
	//
	// +optional
	Metadata PodMetadata `json:"metadata,omitempty,omitzero"`
	// Spec is a pod's spec, handed over as it is written. What the API server does not
	// like about it shows as an Event of the PodSet. Use restartPolicy Always, the
	// default: a pod that ends is replaced, again and again if it ends at once.
	//
	// +required
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	Spec runtime.RawExtension `json:"spec"`
}

// PodMetadata is the part of a pod's metadata that a template sets.
type PodMetadata struct {
	// Labels of the pod. The selector must match them.
	//
	// +optional
	// +kubebuilder:validation:MaxProperties=64
	Labels map[string]LabelValue `json:"labels,omitempty"`
	// Annotations of the pod.
	//
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// PodSetStatus is what was observed.
type PodSetStatus struct {
	// ObservedGeneration is the generation that the status belongs to.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Replicas is how many live pods there are.
	//
	// +optional
	Replicas int32 `json:"replicas"`
	// ReadyReplicas is how many of them are ready.
	//
	// +optional
	ReadyReplicas int32 `json:"readyReplicas"`
	// PodNames are the names of the live pods, in the order of their numbers.
	//
	// +optional
	// +listType=atomic
	PodNames []string `json:"podNames,omitempty"`
	// Selector in the form that autoscalers and kubectl read.
	//
	// +optional
	Selector string `json:"selector,omitempty"`
	// Conditions are Available and Progressing.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
