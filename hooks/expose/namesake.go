package expose

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// namesake is a TCPIngress with the name that one for the Service has, or would have.
type namesake struct {
	metacontroller.TypeMeta
	Metadata struct {
		metacontroller.BareObjectMeta
		OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
	} `json:"metadata"`
}

// Identity implements metacontroller.Object.
func (n *namesake) Identity() metacontroller.Identity {
	return metacontroller.Identity{APIVersion: n.APIVersion, Kind: n.Kind, Namespace: n.Metadata.Namespace, Name: n.Metadata.Name}
}

// serveCustomize asks for the TCPIngresses under the names that the attachments of
// the Service would have. The answer is remembered for a generation of the Service,
// so it may not depend on the annotation.
func serveCustomize(body []byte, _ time.Time) (any, error) {
	var parent service
	if err := metacontroller.DecodeCustomize(body, &parent, corev1.SchemeGroupVersion.String(), "Service"); err != nil {
		return nil, err
	}
	return metacontroller.CustomizeResponse{RelatedResources: []metacontroller.RelatedResourceRule{{
		APIVersion: crdv1.APIVersion, Resource: "tcpingresses",
		Namespace: parent.Namespace, Names: []string{parent.Name, parent.Name + udpSuffix},
	}}}, nil
}

// isTaken tells whether a TCPIngress of that name is there which was not made for
// the Service. To ask for it would do harm: by default Metacontroller swallows that it
// exists, by server-side apply it takes the object over, and its author's rules go.
func isTaken(name string, parent *service, named []namesake) bool {
	return slices.ContainsFunc(named, func(n namesake) bool {
		return n.Metadata.Name == name && n.Metadata.Namespace == parent.Namespace && !n.isOf(parent)
	})
}

func (n *namesake) isOf(parent *service) bool {
	return slices.ContainsFunc(n.Metadata.OwnerReferences, func(ref metav1.OwnerReference) bool {
		return ref.Controller != nil && *ref.Controller && string(ref.UID) == parent.UID
	})
}

func takenText(names []string) string {
	if len(names) == 0 {
		return ""
	}
	for i := range names {
		names[i] = quote(names[i])
	}
	return fmt.Sprintf("A TCPIngress %s exists already and was not made for this Service, so it is left alone: rename or delete it, or take the ports out of the annotation.",
		strings.Join(names, " and "))
}
