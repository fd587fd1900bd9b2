package e2e

import (
	"errors"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/nginx-stream/tcpingress/test/crd/corpus"
)

// The corpus in test/crd, judged by the real API server: all that is valid is
// accepted, and each of the rest is refused with the whole text that it announces.
func TestCorpus(t *testing.T) {
	t.Parallel()
	valid, invalid, err := corpus.Read(os.DirFS("../crd"))
	require.NoError(t, err)
	require.NotEmpty(t, valid)
	require.NotEmpty(t, invalid)
	for _, c := range valid {
		t.Run(c.Path, func(t *testing.T) { assert.Empty(t, refusal(t, c)) })
	}
	for _, c := range invalid {
		t.Run(c.Path, func(t *testing.T) { assert.Equal(t, c.Refusal, refusal(t, c)) })
	}
	t.Run("as kubectl prints it", func(t *testing.T) {
		const path = "../crd/invalid/tcpingress/port-twice.yaml"
		out, err := h.Cluster.Kubectl(t.Context(), "apply", "--dry-run=server", "-f", path).CombinedOutput()
		require.Error(t, err)
		for _, c := range invalid {
			if "../crd/"+c.Path == path {
				assert.Equal(t, c.Refusal, corpus.Printed(string(out)))
			}
		}
	})
}

// refusal gives the lines of the API server's refusal of a case, in a dry run. The
// first of two documents is really there, if only for a moment.
func refusal(t *testing.T, c corpus.Case) []string {
	t.Helper()
	client := func(o *unstructured.Unstructured) dynamic.ResourceInterface {
		if ns := o.GetNamespace(); ns != "" {
			return h.Dynamic.Resource(resource(o.GetKind())).Namespace(ns)
		}
		return h.Dynamic.Resource(resource(o.GetKind()))
	}
	dry, object := []string{metav1.DryRunAll}, c.Object.DeepCopy()
	if c.Old == nil {
		_, err := client(object).Create(t.Context(), object, metav1.CreateOptions{DryRun: dry, FieldValidation: metav1.FieldValidationStrict})
		return linesOf(t, err)
	}
	old := c.Old.DeepCopy()
	for _, o := range []*unstructured.Unstructured{old, object} {
		o.SetAnnotations(map[string]string{"nginx-stream.dev/allow-delete": "true"})
	}
	old, err := client(old).Create(t.Context(), old, metav1.CreateOptions{})
	require.NoError(t, err, "the first document is accepted")
	defer func() { assert.NoError(t, client(old).Delete(t.Context(), old.GetName(), metav1.DeleteOptions{})) }()
	for range 10 {
		object.SetResourceVersion(old.GetResourceVersion())
		_, err = client(object).Update(t.Context(), object, metav1.UpdateOptions{DryRun: dry, FieldValidation: metav1.FieldValidationStrict})
		if !apierrors.IsConflict(err) {
			break
		}
		// The controllers have written its status in between.
		old, err = client(old).Get(t.Context(), old.GetName(), metav1.GetOptions{})
		require.NoError(t, err)
	}
	return linesOf(t, err)
}

// linesOf gives an error of the API server line by line, as kubectl prints it.
func linesOf(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	require.True(t, errors.As(err, &status), err.Error())
	s := status.Status()
	if s.Reason != metav1.StatusReasonInvalid {
		return corpus.Printed(s.Message)
	}
	var lines []string
	for _, cause := range s.Details.Causes {
		lines = append(lines, cause.Field+": "+cause.Message)
	}
	return lines
}
