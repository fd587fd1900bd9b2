package tcpingress

import (
	"cmp"
	"slices"
	"time"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// ingressInput is a sync request for a TCPIngress.
type ingressInput struct {
	parent    ingressObject
	slices    []sliceObject
	services  []backendService
	endpoints []endpointSlice
}

// syncIngress answers with the status of a TCPIngress. It has no children.
func syncIngress(body []byte, now time.Time) (any, error) {
	var in ingressInput
	if err := in.decode(body); err != nil {
		return nil, err
	}
	return metacontroller.CompositeResponse{Status: in.status(now)}, nil
}

func (in *ingressInput) decode(body []byte) error {
	// The parent says which groups were asked for, but they may stand before it.
	var servicesSeen, endpointsSeen bool
	s := &metacontroller.Sync{
		Parent: &in.parent, ParentAPIVersion: crdv1.APIVersion, ParentKind: crdv1.KindTCPIngress,
		Related: []metacontroller.Group{
			verdictSlices(&in.slices),
			metacontroller.Optional(backendServices(&in.services), &servicesSeen),
			metacontroller.Optional(endpointSlices(&in.endpoints), &endpointsSeen),
		},
	}
	if _, err := metacontroller.DecodeComposite(body, s); err != nil {
		return err
	}
	want := len(serviceNames(&in.parent.Spec)) > 0
	return complete(
		asked{group: "Service.v1", want: want, seen: servicesSeen},
		asked{group: "EndpointSlice.discovery.k8s.io/v1", want: want, seen: endpointsSeen},
	)
}

func (in *ingressInput) key() string {
	return in.parent.Namespace + "/" + in.parent.Name
}

// judged finds the slice that holds a verdict on the object. A TCPIngress that
// names no class takes the one of the class that judged it before, else the one
// whose class comes first by name.
func (in *ingressInput) judged() (*sliceObject, *crdv1.SliceEntry) {
	var found []*sliceObject
	for i := range in.slices {
		slice := &in.slices[i]
		if _, ok := slice.Entries[in.key()]; !ok {
			continue
		}
		if want := in.parent.Spec.IngressClassName; want != "" && want != slice.Class {
			continue
		}
		found = append(found, slice)
	}
	if len(found) == 0 {
		return nil, nil
	}
	before := in.parent.Status.ClassName
	slices.SortFunc(found, func(a, b *sliceObject) int {
		if (a.Class == before) != (b.Class == before) {
			if a.Class == before {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Class, b.Class)
	})
	entry := found[0].Entries[in.key()]
	return found[0], &entry
}
