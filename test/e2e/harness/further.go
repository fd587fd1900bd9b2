package harness

import (
	"context"
	"io/fs"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/nginx-stream/tcpingress/test/standin"
)

// Grant gives the roles of a folder of manifests, as the admin.
func (h *Harness) Grant(ctx context.Context, folder fs.FS) error {
	roles, err := read(folder, "ClusterRole", "ClusterRoleBinding")
	if err != nil {
		return err
	}
	return h.apply(ctx, roles)
}

// Further lets the applier run the controllers of a folder of manifests too, until
// end is called. Its user must have the rights for it by then.
func (h *Harness) Further(ctx context.Context, folder fs.FS) (end func(), err error) {
	list, err := read(folder, "CompositeController", "DecoratorController")
	if err != nil {
		return nil, err
	}
	if Real() {
		return h.furtherReal(ctx, list)
	}
	kubeconfig, err := h.Cluster.UserKubeconfig(User)
	if err != nil {
		return nil, err
	}
	// As in the harness itself, it does not end with the call that started it.
	s, err := standin.Start(context.Background(), standin.Options{
		Kubeconfig:  kubeconfig,
		Controllers: list,
		HookURL:     h.hooksURL,
		Strategy:    standin.Strategy(Strategy()),
	})
	if err != nil {
		return nil, err
	}
	return s.Stop, nil
}

// furtherReal leaves the controllers there, for it is the cluster that ends.
func (h *Harness) furtherReal(ctx context.Context, list []*unstructured.Unstructured) (end func(), err error) {
	if err := point(list, h.hooksURL); err != nil {
		return nil, err
	}
	return func() {}, h.apply(ctx, list)
}
