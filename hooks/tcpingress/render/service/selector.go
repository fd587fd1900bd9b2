package service

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/owned"
)

// OwnSelector gives the labels in the selector of an observed Service that we wrote.
func OwnSelector(svc *corev1.Service) map[string]string {
	if svc == nil {
		return nil
	}
	own := maps.Clone(svc.Spec.Selector)
	for _, key := range ForeignSelector(svc) {
		delete(own, key)
	}
	return own
}

// ForeignSelector lists the labels in the selector of an observed Service that others
// wrote. Server-side apply knows a selector as a whole only.
func ForeignSelector(svc *corev1.Service) []string {
	if svc == nil {
		return nil
	}
	fields := owned.Of(&svc.ObjectMeta)
	keys := slices.Sorted(maps.Keys(svc.Spec.Selector))
	if owned.ServerSide(&svc.ObjectMeta) {
		if fields.Has("spec", "selector") {
			return nil
		}
		return keys
	}
	return slices.DeleteFunc(keys, func(key string) bool { return fields.Has("spec", "selector", key) })
}
