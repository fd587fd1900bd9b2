package standin

import (
	"context"
	"fmt"
	"net/http"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	typedcorev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/record"
)

// reasonSyncError is the reason of an Event about a sync that went wrong.
const reasonSyncError = "SyncError"

// events writes Events, which `kubectl describe` shows.
type events struct {
	broadcaster record.EventBroadcaster
	recorder    record.EventRecorder
}

func newEvents(ctx context.Context, config *rest.Config, client *http.Client) (*events, error) {
	core, err := typedcorev1.NewForConfigAndClient(config, client)
	if err != nil {
		return nil, fmt.Errorf("making client for events: %w", err)
	}
	broadcaster := record.NewBroadcaster(record.WithContext(ctx))
	broadcaster.StartRecordingToSink(&typedcorev1.EventSinkImpl{Interface: core.Events(metav1.NamespaceAll)})
	recorder := broadcaster.NewRecorder(runtime.NewScheme(), corev1.EventSource{Component: "metacontroller-stand-in"})
	return &events{broadcaster, recorder}, nil
}

func (e *events) syncError(parent *unstructured.Unstructured, err error) {
	e.recorder.Eventf(parent, corev1.EventTypeWarning, reasonSyncError, "Sync error: %s", err)
}

func (e *events) stop() { e.broadcaster.Shutdown() }
