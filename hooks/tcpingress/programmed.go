package tcpingress

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// programmedSummary folds what is known of the rules into Programmed of the object. Only
// accepted rules can be programmed, so it counts those that are not refused, and says how
// many are:
//
//	the rules that are not refused        the condition
//	one is not programmed                 False, for its reason
//	there are none, or others beside them False/NotAccepted
//	one is not known to be programmed     Unknown, for its reason
//	all are programmed                    True
func programmedSummary(reports []ruleReport) verdict {
	left := make([]ruleReport, 0, len(reports))
	for i := range reports {
		if reports[i].Accepted.Status != metav1.ConditionFalse {
			left = append(left, reports[i])
		}
	}
	programmed := func(r *ruleReport) verdict { return r.Programmed }
	good := isTrue(crdv1.ReasonProgrammed, allMessage("programmed"))
	refused := len(reports) - len(left)
	switch {
	case refused == 0:
		return summary(reports, programmed, good)
	case len(left) == 0:
		return isFalse(crdv1.ReasonNotAccepted, noneAccepted(refused))
	}
	status, count, first := deciding(left, programmed)
	if count == 0 {
		return isFalse(crdv1.ReasonNotAccepted, someNotAccepted(refused, len(reports))+othersProgrammed(len(left)))
	}
	reason := crdv1.ReasonNotAccepted
	if status == metav1.ConditionFalse {
		reason = first.Programmed.Reason
	}
	return isFalse(reason, someNotAccepted(refused, len(reports))+others(count, len(left), first.Name, first.Programmed.Message))
}
