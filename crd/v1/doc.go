// Package v1 holds the API nginx-stream.dev/v1: TCPIngress, TCPIngressClass and
// the internal TCPIngressSlice. The field comments are the user documentation;
// controller-gen copies them into the CRDs. The package imports nothing of ours.
//
// +kubebuilder:object:generate=true
// +groupName=nginx-stream.dev
package v1
