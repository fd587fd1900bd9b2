// Package podset is the CompositeController hook that keeps a number of equal
// pods. A PodSet and its observed pods enter; the pods that shall exist, at most
// one more or one fewer than before, and the PodSet's status leave. No network,
// no files, no clock, no logging.
//
// Metacontroller never updates the pods (update method OnDelete), so an observed
// pod is returned by its name and labels alone: that it is named keeps it, that it
// is not named deletes it.
package podset
