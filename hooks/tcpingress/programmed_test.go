package tcpingress

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

func TestProgrammedCountsWhatIsAccepted(t *testing.T) {
	t.Parallel()
	accepted := isTrue(crdv1.ReasonAccepted, "")
	kinds := map[rune]ruleReport{
		'r': {Accepted: isFalse(crdv1.ReasonPortConflict, "Taken."), Programmed: isFalse(crdv1.ReasonNotAccepted, notAccepted())},
		'l': {Accepted: accepted, Programmed: isTrue(crdv1.ReasonProgrammed, "Live.")},
		'w': {Accepted: accepted, Programmed: isFalse(crdv1.ReasonPending, "No pod.")},
		'a': {Accepted: accepted, Programmed: isFalse(crdv1.ReasonAddressPending, "No address.")},
		'p': {Accepted: accepted, Programmed: isUnknown(crdv1.ReasonPropagating, "On the way.")},
		'u': {Accepted: isUnknown(crdv1.ReasonPending, "Not judged."), Programmed: isUnknown(crdv1.ReasonPending, "Not judged.")},
	}
	const see = " not accepted, see the condition Accepted; "
	tests := map[string]string{
		"l":    "True/Programmed: All rules are programmed.",
		"r":    "False/NotAccepted: The rule is not accepted, see the condition Accepted.",
		"w":    "False/Pending: No pod.",
		"p":    "Unknown/Propagating: On the way.",
		"lll":  "True/Programmed: All rules are programmed.",
		"rrr":  "False/NotAccepted: None of the 3 rules is accepted, see the condition Accepted.",
		"lwpa": "False/Pending: 2 of 4 rules, first r1: No pod.",
		"lpu":  "Unknown/Propagating: 2 of 3 rules, first r1: On the way.",
		"rl":   "False/NotAccepted: 1 of 2 rules is" + see + "the other one is programmed.",
		"lrlr": "False/NotAccepted: 2 of 4 rules are" + see + "the other 2 are programmed.",
		"rw":   "False/Pending: 1 of 2 rules is" + see + "the other one, r1: No pod.",
		"rrla": "False/AddressPending: 2 of 4 rules are" + see + "1 of the other 2, first r3: No address.",
		"pru":  "False/NotAccepted: 1 of 3 rules is" + see + "2 of the other 2, first r0: On the way.",
		"pwr":  "False/Pending: 1 of 3 rules is" + see + "1 of the other 2, first r1: No pod.",
		strings.Repeat("w", 14) + strings.Repeat("r", 50): "False/Pending: 50 of 64 rules are" + see + "14 of the other 14, first r0: No pod.",
	}
	for rules, want := range tests {
		t.Run(rules, func(t *testing.T) {
			t.Parallel()
			var reports []ruleReport
			for i, kind := range rules {
				report := kinds[kind]
				report.Name = fmt.Sprintf("r%d", i)
				reports = append(reports, report)
			}
			v := programmedSummary(reports)
			assert.Equal(t, want, fmt.Sprintf("%s/%s: %s", v.Status, v.Reason, v.Message))
		})
	}
}

func TestProgrammedOfAStatusCountsWhatIsAccepted(t *testing.T) {
	t.Parallel()
	request := strings.Replace(parentRedis, "rules:", "rules:\n    - {port: 6380, backend: {service: {name: redis, port: {number: 6379}}}}", 1)
	assert.NotEqual(t, parentRedis, request)
	got := words(ingressStatus(t, request+redisBackend+slice(`{generation: 2, rules: {
		tcp-6380: {port: 6380, protocol: TCP, reason: PortConflict, message: It is taken.},
		tcp-6379: {port: 6379, protocol: TCP, reason: AddressPending, message: No address.}}}`)).Conditions)
	assert.Contains(t, got, "Ready=False/PortConflict: 1 of 2 rules, first tcp-6380: It is taken.")
	assert.Contains(t, got, "Programmed=False/AddressPending: 1 of 2 rules is not accepted, see the condition Accepted; the other one, tcp-6379: No address.")
}
