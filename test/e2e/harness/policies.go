package harness

import (
	"context"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
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

// guard applies the policies, as the admin, and waits until they are enforced: the API
// server looks for new ones once a second.
func (h *Harness) guard(ctx context.Context) error {
	list, err := Policies()
	if err != nil {
		return err
	}
	if err := h.apply(ctx, list); err != nil {
		return err
	}
	probes, err := Objects(`
apiVersion: nginx-stream.dev/v1
kind: TCPIngressClass
metadata: {name: policy-probe}
spec: {namespace: default, service: {tcpName: probe}}
---
apiVersion: nginx-stream.dev/v1
kind: TCPIngress
metadata: {namespace: default, name: policy-probe}
spec: {ingressClassName: policy-probe, rules: [{port: 443, backend: {service: {name: probe, port: {number: 443}}}}]}
`)
	if err != nil {
		return err
	}
	if err := h.apply(ctx, probes[:1]); err != nil {
		return err
	}
	classes := h.Dynamic.Resource(schema.GroupVersionResource{Group: "nginx-stream.dev", Version: "v1", Resource: "tcpingressclasses"})
	name := probes[0].GetName()
	if err := h.awaitRefusals(ctx, classes, name, probes[1]); err != nil {
		return err
	}
	meant := []byte(`{"metadata":{"annotations":{"nginx-stream.dev/allow-delete":"true"}}}`)
	if _, err := classes.Patch(ctx, name, types.MergePatchType, meant, metav1.PatchOptions{}); err != nil {
		return fmt.Errorf("allowing the deletion of class %s: %w", name, err)
	}
	if err := classes.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return fmt.Errorf("deleting class %s: %w", name, err)
	}
	return nil
}

// awaitRefusals waits until both policies refuse, of which nothing is stored.
func (h *Harness) awaitRefusals(ctx context.Context, classes dynamic.ResourceInterface, name string, ingress *unstructured.Unstructured) error {
	ingresses := h.Dynamic.Resource(schema.GroupVersionResource{Group: "nginx-stream.dev", Version: "v1", Resource: "tcpingresses"})
	dry := []string{metav1.DryRunAll}
	end := time.Now().Add(30 * time.Second)
	for {
		deleted := classes.Delete(ctx, name, metav1.DeleteOptions{DryRun: dry})
		_, created := ingresses.Namespace(ingress.GetNamespace()).Create(ctx, ingress.DeepCopy(), metav1.CreateOptions{DryRun: dry})
		if apierrors.IsForbidden(deleted) && apierrors.IsForbidden(created) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the policies are not enforced: a deletion gives %v, and a reserved port %v", deleted, created)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waiting for the policies: %w", ctx.Err())
		case <-time.After(50 * time.Millisecond):
		}
	}
}
