package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// ClassPorts says who may use which port numbers, for TCP and UDP alike.
//
// +kubebuilder:validation:XValidation:rule="!has(self.pool) || !has(self.allowed) || self.allowed.exists(a, a.from <= self.pool.from && self.pool.to <= a.to)",message="must lie within one of the ranges in allowed; widen that range or move the pool",fieldPath=".pool"
type ClassPorts struct {
	// Allowed are the numbers that may be used at all, at most 64 ranges; others
	// are refused (PortNotAllowed). Left out, 1 to 65535. The ports that nginx
	// needs itself are reserved in any case. A port in use that is no longer
	// allowed is taken away.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Allowed []PortRange `json:"allowed,omitempty"`
	// Pool is where rules without a port get theirs: the lowest free number. It
	// lies within one of the ranges in allowed. Numbers that nginx needs itself
	// are passed over, and a pool of nothing else is refused. Rules may ask for its
	// numbers by name too. Left out, rules without a port are refused (PoolExhausted).
	//
	// +optional
	Pool *PortRange `json:"pool,omitempty"`
	// Grants give ports to namespaces, at most 64 of them. If there is one, a
	// namespace may use only what some grant gives it (else PortNotGranted). Left
	// out, every namespace may use every allowed port.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Grants []PortGrant `json:"grants,omitempty"`
	// MaxPerNamespace is how many ports one namespace may hold, 1 to 65535, TCP
	// and UDP together; more are refused (NamespaceQuotaExceeded). It counts ports,
	// not rules: every port of a range, and a port that rules share by hosts once
	// for each namespace on it, however many of its rules and hosts are there.
	// Left out, there is no limit.
	//
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65535
	MaxPerNamespace *int32 `json:"maxPerNamespace,omitempty"`
}

// PortGrant gives ports to namespaces: those that it lists and those that its
// selector finds. Several grants add up, and may give one port to several namespaces.
//
// +kubebuilder:validation:XValidation:rule="has(self.namespaces) || has(self.namespaceSelector)",message="a grant needs namespaces or namespaceSelector; an empty selector ({}) means every namespace",reason=FieldValueRequired
type PortGrant struct {
	// Namespaces by name, at most 64. They need not exist yet.
	//
	// +optional
	// +listType=set
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')`,message="must be a DNS label: lower-case letters, digits and '-', starting and ending with a letter or digit, at most 63 characters"
	Namespaces []string `json:"namespaces,omitempty"`
	// NamespaceSelector finds namespaces by their labels, at most 64 terms; empty
	// ({}) it finds all.
	//
	// +optional
	NamespaceSelector *metav1.LabelSelector `json:"namespaceSelector,omitempty"`
	// Ports that are given, 1 to 64 ranges. They need not be in allowed, but are
	// of no use then.
	//
	// +required
	// +listType=atomic
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=64
	Ports []PortRange `json:"ports"`
}

// AllowedNamespaces says which namespaces may use the class. The rules of others
// are refused (NamespaceNotAllowed).
//
// +kubebuilder:validation:XValidation:rule="!has(self.from) || self.from != 'Selector' || has(self.selector)",message="from: Selector needs a selector",fieldPath=".selector",reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule="!has(self.selector) || has(self.from) && self.from == 'Selector'",message="selector counts with from: Selector only; set from, or leave selector out",fieldPath=".selector",reason=FieldValueForbidden
type AllowedNamespaces struct {
	// From is All (the default) or Selector.
	//
	// +optional
	From NamespacesFrom `json:"from,omitempty"`
	// Selector finds the namespaces by their labels, at most 64 terms. Required
	// with from: Selector, and refused without.
	//
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`
}

// NamespacesFrom tells how namespaces are chosen.
//
// +kubebuilder:validation:Enum=All;Selector
type NamespacesFrom string

// The ways to choose namespaces, named as in the Gateway API.
const (
	NamespacesFromAll      NamespacesFrom = "All"
	NamespacesFromSelector NamespacesFrom = "Selector"
)
