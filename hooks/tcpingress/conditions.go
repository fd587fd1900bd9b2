package tcpingress

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// verdict is a condition before it has a time.
type verdict struct {
	Status  metav1.ConditionStatus
	Reason  string
	Message string
}

func isTrue(reason, message string) verdict {
	return verdict{metav1.ConditionTrue, reason, message}
}

func isFalse(reason, message string) verdict {
	return verdict{metav1.ConditionFalse, reason, message}
}

func isUnknown(reason, message string) verdict {
	return verdict{metav1.ConditionUnknown, reason, message}
}

// named is a verdict with the type of its condition.
type named struct {
	Type string
	verdict
}

// stamp turns verdicts into conditions. The time of the last transition is
// carried over from before and changes only with the condition's status.
func stamp(verdicts []named, before []metav1.Condition, generation int64, now time.Time) []metav1.Condition {
	conditions := make([]metav1.Condition, 0, len(verdicts))
	for _, v := range verdicts {
		c := metav1.Condition{
			Type:               v.Type,
			Status:             v.Status,
			Reason:             v.Reason,
			Message:            v.Message,
			ObservedGeneration: generation,
			LastTransitionTime: metav1.NewTime(now.UTC().Truncate(time.Second)),
		}
		for i := range before {
			if before[i].Type == v.Type && before[i].Status == v.Status {
				c.LastTransitionTime = before[i].LastTransitionTime
			}
		}
		conditions = append(conditions, c)
	}
	return conditions
}

// summary folds the verdicts on several rules into one: False if one is False,
// else Unknown if one is Unknown, else True. The first of the deciding ones gives
// the reason, and the message says how many of the rules it concerns.
func summary(rules []ruleReport, pick func(*ruleReport) verdict, good verdict) verdict {
	status, count, first := deciding(rules, pick)
	if count == 0 {
		return good
	}
	v := pick(first)
	return verdict{status, v.Reason, countMessage(count, len(rules), first.Name, v.Message)}
}

// deciding finds the rules that decide a sum: those that are False, else those that are
// Unknown. It gives their status, how many they are, and the first of them.
func deciding(rules []ruleReport, pick func(*ruleReport) verdict) (status metav1.ConditionStatus, count int, first *ruleReport) {
	for _, status := range []metav1.ConditionStatus{metav1.ConditionFalse, metav1.ConditionUnknown} {
		for i := range rules {
			if pick(&rules[i]).Status != status {
				continue
			}
			if count++; first == nil {
				first = &rules[i]
			}
		}
		if count > 0 {
			return status, count, first
		}
	}
	return metav1.ConditionTrue, 0, nil
}
