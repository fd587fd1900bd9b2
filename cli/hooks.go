package cli

import (
	"slices"

	"github.com/nginx-stream/tcpingress/hooks/expose"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
	"github.com/nginx-stream/tcpingress/hooks/podset"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress"
)

// hooks lists all that is served.
func hooks() []metacontroller.Hook {
	return slices.Concat(tcpingress.Hooks(), expose.Hooks(), podset.Hooks())
}
