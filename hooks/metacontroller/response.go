package metacontroller

// CompositeResponse answers a sync or finalize call of a CompositeController.
type CompositeResponse struct {
	// Status of the parent, complete.
	Status any `json:"status"`
	// Children that shall exist. Observed ones that are missing here are deleted.
	Children []any `json:"children"`
	// ResyncAfterSeconds asks for one more call after that time; 0 asks for none.
	ResyncAfterSeconds float64 `json:"resyncAfterSeconds,omitempty"`
	// Finalized counts in answers of a finalize hook only.
	Finalized bool `json:"finalized,omitempty"`
}

// DecoratorResponse answers a sync or finalize call of a DecoratorController.
type DecoratorResponse struct {
	// Labels and Annotations to set on the object; a nil value removes the key.
	Labels      map[string]*string `json:"labels,omitempty"`
	Annotations map[string]*string `json:"annotations,omitempty"`
	// Attachments that shall exist. Observed ones that are missing here are deleted.
	Attachments []any `json:"attachments"`
	// ResyncAfterSeconds asks for one more call after that time; 0 asks for none.
	ResyncAfterSeconds float64 `json:"resyncAfterSeconds,omitempty"`
	// Finalized counts in answers of a finalize hook only.
	Finalized bool `json:"finalized,omitempty"`
}

// CustomizeResponse answers a customize call. It may depend on the parent's spec only.
type CustomizeResponse struct {
	RelatedResources []RelatedResourceRule `json:"relatedResources"`
}
