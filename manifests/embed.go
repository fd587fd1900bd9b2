// Package manifests holds what is applied to a cluster. The base and the examples
// leave it as files, so that Go code which plays Metacontroller's part runs the very
// controllers that are deployed. Nothing enters, and nothing else belongs here.
package manifests

import "embed"

// Base is the kustomization in base/, without the CustomResourceDefinitions.
//
//go:embed base
var Base embed.FS

// PodSet holds the controller and the roles of podset/.
//
//go:embed podset/controller.yaml podset/rbac.yaml
var PodSet embed.FS

// Examples is the folder examples/.
//
//go:embed examples
var Examples embed.FS
