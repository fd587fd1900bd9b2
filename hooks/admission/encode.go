package admission

import (
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxErrors bounds an answer: nobody reads more, and the API server reads only so much.
const maxErrors = 256

// encode answers in the version and with the uid of the question, and never with a
// patch. A refusal looks like one of the API server's own, so that kubectl prints it
// as such, one line for each error.
func encode(request *admissionv1.AdmissionRequest, verdict *Verdict) ([]byte, error) {
	response := &admissionv1.AdmissionResponse{
		UID:      request.UID,
		Allowed:  len(verdict.Errors) == 0,
		Warnings: verdict.Warnings,
	}
	if !response.Allowed {
		kind := schema.GroupKind{Group: request.Kind.Group, Kind: request.Kind.Kind}
		status := apierrors.NewInvalid(kind, request.Name, bounded(verdict.Errors)).ErrStatus
		response.Result = &status
	}
	answer, err := json.Marshal(admissionv1.AdmissionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: apiVersion(), Kind: reviewKind},
		Response: response,
	})
	if err != nil {
		return nil, fmt.Errorf("encoding the answer: %w", err)
	}
	return answer, nil
}

// bounded gives the first errors, and how many more there are.
func bounded(errs field.ErrorList) field.ErrorList {
	if len(errs) <= maxErrors {
		return errs
	}
	more := fmt.Sprintf("and %d more errors; correct those above first", len(errs)-maxErrors)
	return append(errs[:maxErrors:maxErrors], field.Forbidden(field.NewPath("spec"), more))
}
