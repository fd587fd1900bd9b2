// Package admission is the wire of a validating admission webhook. The body of an
// AdmissionReview enters, and is handed as two objects, the old one and the new
// one, to the function of its kind; what that function finds leaves as the answer
// that the API server understands. It knows no kind itself, and imports nothing of
// ours. No network, no files, no clock, no state.
package admission
