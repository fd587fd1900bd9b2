package expose

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// Hooks gives the hooks of the DecoratorController for Services.
func Hooks() []metacontroller.Hook {
	return []metacontroller.Hook{
		{Path: "/expose/customize", Serve: serveCustomize},
		{Path: "/expose/sync", Serve: serveSync},
	}
}

func serveSync(body []byte, _ time.Time) (any, error) {
	var (
		parent   service
		observed []ingress
		named    []namesake
	)
	_, err := metacontroller.DecodeDecorator(body, &metacontroller.Sync{
		Parent:           &parent,
		ParentAPIVersion: corev1.SchemeGroupVersion.String(),
		ParentKind:       "Service",
		Children:         []metacontroller.Group{metacontroller.Into(crdv1.APIVersion, crdv1.KindTCPIngress, &observed)},
		Related:          []metacontroller.Group{metacontroller.Into(crdv1.APIVersion, crdv1.KindTCPIngress, &named)},
	})
	if err != nil {
		return nil, err
	}
	return respond(&parent, observed, named), nil
}

// respond decides what becomes of one Service.
func respond(parent *service, observed []ingress, named []namesake) metacontroller.DecoratorResponse {
	// A Service that is being deleted takes its TCPIngresses with it when it is
	// gone. Until then connections may still end in peace.
	if parent.DeletionTimestamp != nil {
		return unchanged(observed)
	}
	annotation, asked := parent.Annotations[crdv1.AnnotationExpose]
	if !asked {
		return complain(metacontroller.DecoratorResponse{Attachments: []any{}}, parent, "")
	}
	list, problem := desired(parent, annotation)
	if problem != "" {
		return complain(unchanged(observed), parent, problem)
	}
	response := metacontroller.DecoratorResponse{Attachments: make([]any, 0, len(list))}
	var taken []string
	for _, a := range list {
		if isTaken(a.Metadata.Name, parent, named) {
			taken = append(taken, a.Metadata.Name)
			continue
		}
		response.Attachments = append(response.Attachments, a)
	}
	return complain(response, parent, takenText(taken))
}

// desired gives the TCPIngresses that the annotation asks for, or a sentence that
// tells what is wrong with it.
func desired(parent *service, annotation string) (list []attachment, problem string) {
	if parent.Spec.Type == corev1.ServiceTypeExternalName {
		return nil, "The Service is of type ExternalName, which can lead out of the namespace: expose the Service that it stands for."
	}
	entries, problem := parse(annotation)
	if problem != "" {
		return nil, problem
	}
	return attachments(parent, entries)
}

func unchanged(observed []ingress) metacontroller.DecoratorResponse {
	response := metacontroller.DecoratorResponse{Attachments: make([]any, 0, len(observed))}
	for i := range observed {
		response.Attachments = append(response.Attachments, keep(&observed[i]))
	}
	return response
}

// complain puts the problem on the Service, or takes away an old one. Where there
// is neither, the response names no annotation, so that nothing is written.
func complain(response metacontroller.DecoratorResponse, parent *service, problem string) metacontroller.DecoratorResponse {
	_, complained := parent.Annotations[crdv1.AnnotationExposeError]
	switch {
	case problem != "":
		response.Annotations = map[string]*string{crdv1.AnnotationExposeError: &problem}
	case complained:
		response.Annotations = map[string]*string{crdv1.AnnotationExposeError: nil}
	}
	return response
}
