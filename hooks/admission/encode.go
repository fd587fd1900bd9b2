package admission

import (
	"encoding/json"
	"fmt"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

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
		status := apierrors.NewInvalid(kind, request.Name, verdict.Errors).ErrStatus
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
