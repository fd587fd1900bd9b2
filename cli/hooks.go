package cli

import (
	"regexp"
	"slices"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/expose"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
	"github.com/nginx-stream/tcpingress/hooks/podset"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress"
)

// hooks lists all that is served. The image brings the agent of provider Nginx.
func hooks(agentImage string) []metacontroller.Hook {
	return slices.Concat(tcpingress.Hooks(tcpingress.WithAgentImage(agentImage)), expose.Hooks(), podset.Hooks())
}

// agentImage gives the image of this build. One that is no release has no tag of its
// own.
func agentImage(version string) string {
	if regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-rc\.[0-9]+)?$`).MatchString(version) {
		return crdv1.DefaultAgentImage + ":" + version
	}
	return crdv1.DefaultAgentImage
}
