package standin

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"

	"github.com/nginx-stream/tcpingress/hooks/metacontroller/simulate"
)

// kind is a kind of objects as the API server tells it. There is one per kind, so
// that pointers may be compared.
type kind struct {
	simulate.Kind
	gvr schema.GroupVersionResource
	// status tells that the status is a subresource.
	status bool
}

func (k *kind) is(o *unstructured.Unstructured) bool {
	return o.GetKind() == k.Kind.Kind && o.GetAPIVersion() == k.APIVersion
}

// kinds asks the API server what it knows, once for each group version.
type kinds struct {
	client discovery.ServerResourcesInterface
	mu     sync.Mutex
	known  map[resourceName]*kind
}

type resourceName struct{ apiVersion, resource string }

// A kind that was just defined is not known in the first moment.
const (
	kindPatience = 15 * time.Second
	kindRetry    = 200 * time.Millisecond
)

func newKinds(client discovery.ServerResourcesInterface) *kinds {
	return &kinds{client: client, known: map[resourceName]*kind{}}
}

// await finds a kind that may have been defined a moment ago.
func (k *kinds) await(ctx context.Context, apiVersion, resource string) (found *kind, err error) {
	waitErr := wait.PollUntilContextTimeout(ctx, kindRetry, kindPatience, true, func(context.Context) (bool, error) {
		found, err = k.find(apiVersion, resource)
		return err == nil, nil
	})
	if err == nil {
		err = waitErr
	}
	return found, err
}

// find finds a kind by its resource.
func (k *kinds) find(apiVersion, resource string) (*kind, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if found := k.known[resourceName{apiVersion, resource}]; found != nil {
		return found, nil
	}
	if err := k.ask(apiVersion); err != nil {
		return nil, err
	}
	if found := k.known[resourceName{apiVersion, resource}]; found != nil {
		return found, nil
	}
	return nil, fmt.Errorf("the API server knows no resource %s of %s", resource, apiVersion)
}

func (k *kinds) ask(apiVersion string) error {
	list, err := k.client.ServerResourcesForGroupVersion(apiVersion)
	if apierrors.IsNotFound(err) {
		return fmt.Errorf("the API server knows no %s", apiVersion)
	}
	if err != nil {
		return fmt.Errorf("asking for resources of %s: %w", apiVersion, err)
	}
	gv, err := schema.ParseGroupVersion(apiVersion)
	if err != nil {
		return fmt.Errorf("reading apiVersion: %w", err)
	}
	subresources := map[string]bool{}
	for _, r := range list.APIResources {
		subresources[r.Name] = true
	}
	for _, r := range list.APIResources {
		name := resourceName{apiVersion, r.Name}
		if !strings.Contains(r.Name, "/") && k.known[name] == nil {
			k.known[name] = kindOf(gv, r, subresources[r.Name+"/status"])
		}
	}
	return nil
}

func kindOf(gv schema.GroupVersion, r metav1.APIResource, status bool) *kind {
	return &kind{
		Kind:   simulate.Kind{APIVersion: gv.String(), Kind: r.Kind, Resource: r.Name, Namespaced: r.Namespaced},
		gvr:    gv.WithResource(r.Name),
		status: status,
	}
}
