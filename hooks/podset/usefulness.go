package podset

import (
	"cmp"

	corev1 "k8s.io/api/core/v1"
)

// compareUsefulness orders pods by what would be lost with them, least first. The
// first difference decides:
//
//	goes first          goes last
//	not scheduled       scheduled
//	pending             unknown, then running
//	not ready           ready
//	younger             older
//	higher ordinal      lower ordinal, then adopted
//
// Names settle what is left, so that the order of the observed pods never matters.
func compareUsefulness(a, b *pod, set string) int {
	return cmp.Or(
		compareBool(a.Spec.NodeName != "", b.Spec.NodeName != ""),
		cmp.Compare(phaseRank(a), phaseRank(b)),
		compareBool(a.ready(), b.ready()),
		b.CreationTimestamp.Compare(a.CreationTimestamp),
		cmp.Compare(b.ordinal(set), a.ordinal(set)),
		cmp.Compare(b.Name, a.Name),
	)
}

func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	default:
		return 1
	}
}

// phaseRank ranks the phases of live pods. A pod without a phase is as new as one can be.
func phaseRank(p *pod) int {
	switch p.Status.Phase {
	case corev1.PodRunning:
		return 2
	case corev1.PodUnknown:
		return 1
	default:
		return 0
	}
}
