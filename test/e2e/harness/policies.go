package harness

import (
	"context"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// PastAdmission is a label of namespaces whose TCPIngresses the policies do not judge,
// so that what they would refuse reaches the hooks.
const PastAdmission = "e2e.nginx-stream.dev/past-admission"

// Policies gives the admission policies of manifests/base and their bindings, which
// here leave out the namespaces that are labelled PastAdmission.
func Policies() ([]*unstructured.Unstructured, error) {
	list, err := deployed("ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding")
	if err != nil {
		return nil, err
	}
	for _, o := range list {
		if o.GetKind() != "ValidatingAdmissionPolicyBinding" {
			continue
		}
		absent := []any{map[string]any{"key": PastAdmission, "operator": "DoesNotExist"}}
		if err := unstructured.SetNestedSlice(o.Object, absent, "spec", "matchResources", "namespaceSelector", "matchExpressions"); err != nil {
			return nil, fmt.Errorf("leaving out namespaces: %w", err)
		}
	}
	return list, nil
}

// guard applies the policies, as the admin.
func (h *Harness) guard(ctx context.Context) error {
	list, err := Policies()
	if err != nil {
		return err
	}
	return h.apply(ctx, list)
}
