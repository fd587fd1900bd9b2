// Package crd carries the generated CustomResourceDefinitions, so that the
// command line and the tests need no files. Nothing enters; YAML leaves.
package crd

import _ "embed"

var (
	//go:embed generated/nginx-stream.dev_tcpingressclasses.yaml
	tcpIngressClasses string
	//go:embed generated/nginx-stream.dev_tcpingresses.yaml
	tcpIngresses string
	//go:embed generated/nginx-stream.dev_tcpingressslices.yaml
	tcpIngressSlices string
)

// Manifests gives the definitions, one YAML document each, in the order of their names.
func Manifests() []string {
	return []string{tcpIngressClasses, tcpIngresses, tcpIngressSlices}
}
