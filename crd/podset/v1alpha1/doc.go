// Package v1alpha1 holds the API app.example.com/v1alpha1: the PodSet, a number of
// equal pods. The field comments are the user documentation; controller-gen copies
// them into the CRD. The package imports nothing of ours.
//
// +kubebuilder:object:generate=true
// +groupName=app.example.com
package v1alpha1
