package v1alpha1

import "k8s.io/apimachinery/pkg/runtime/schema"

// The group, its version and its kind.
const (
	Group      = "app.example.com"
	Version    = "v1alpha1"
	APIVersion = Group + "/" + Version
	Kind       = "PodSet"
)

// GroupVersion is the group and version of every kind here.
func GroupVersion() schema.GroupVersion { return schema.GroupVersion{Group: Group, Version: Version} }
