package v1alpha1

// Types of conditions.
const (
	// ConditionAvailable tells whether as many pods are ready as there shall be.
	ConditionAvailable = "Available"
	// ConditionProgressing tells whether pods are being added or removed. It is False
	// when nothing is left to do, and when nothing can be done.
	ConditionProgressing = "Progressing"
)

// Reasons of Available.
const (
	ReasonPodsReady    = "PodsReady"
	ReasonPodsNotReady = "PodsNotReady"
)

// Reasons of Progressing=True.
const (
	// ReasonScalingUp: a pod is being added.
	ReasonScalingUp = "ScalingUp"
	// ReasonScalingDown: a pod is being removed.
	ReasonScalingDown = "ScalingDown"
	// ReasonCleaningUp: a pod that has succeeded or failed is being removed.
	ReasonCleaningUp = "CleaningUp"
	// ReasonTerminating: the number is right, and removed pods are still ending.
	ReasonTerminating = "Terminating"
)

// Reasons of Progressing=False.
const (
	// ReasonComplete: there are as many live pods as there shall be.
	ReasonComplete = "Complete"
	// ReasonInvalidSpec: the spec cannot be followed, and no pod is touched.
	ReasonInvalidSpec = "InvalidSpec"
	// ReasonDeleting: the PodSet is being deleted, and its pods go with it.
	ReasonDeleting = "Deleting"
)
