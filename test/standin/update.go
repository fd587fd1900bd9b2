package standin

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/util/retry"
)

// update reads the object, changes it and writes it back, again and again while
// others write too. If change gives false, nothing is written.
func (s *StandIn) update(ctx context.Context, k *kind, object *unstructured.Unstructured, change func(current *unstructured.Unstructured) bool) error {
	return s.readAndWrite(ctx, k, object, change, func(current *unstructured.Unstructured) error {
		s.counters.wrote("update", k.Resource)
		_, err := s.clientOf(k, object).Update(ctx, current, metav1.UpdateOptions{})
		return err
	})
}

// updateStatus is update for the status.
func (s *StandIn) updateStatus(ctx context.Context, k *kind, object *unstructured.Unstructured, change func(current *unstructured.Unstructured) bool) error {
	if !k.status {
		return s.update(ctx, k, object, change)
	}
	return s.readAndWrite(ctx, k, object, change, func(current *unstructured.Unstructured) error {
		s.counters.wrote("update", k.Resource+"/status")
		_, err := s.clientOf(k, object).UpdateStatus(ctx, current, metav1.UpdateOptions{})
		return err
	})
}

func (s *StandIn) readAndWrite(
	ctx context.Context, k *kind, object *unstructured.Unstructured,
	change func(*unstructured.Unstructured) bool, write func(*unstructured.Unstructured) error,
) error {
	return retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		current, err := s.clientOf(k, object).Get(ctx, object.GetName(), metav1.GetOptions{})
		if err != nil {
			return err
		}
		if current.GetUID() != object.GetUID() {
			// Another object of the same name.
			return apierrors.NewNotFound(k.gvr.GroupResource(), object.GetName())
		}
		if !change(current) {
			return nil
		}
		return write(current)
	})
}
