package resolve

import (
	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// Outcome is the book of one class after all claims are settled.
type Outcome struct {
	// Table is what the data plane shall do. Rules that are accepted but may not
	// be rendered yet (their Service has not been judged, or may not be used) are
	// not in it; a rule with an edited backend is in it with the observed one.
	Table l4.Table
	// Verdicts are on the TCPIngresses of this class, by "namespace/name".
	Verdicts map[string]Verdict
	// Listeners and Ranges are the book for the class's status.
	Listeners map[string]string
	Ranges    []crdv1.ListenerRange
}

// Verdict is the judgement on one TCPIngress.
type Verdict struct {
	Generation int64
	Rules      []RuleVerdict
}

// RuleVerdict is the judgement on one rule.
type RuleVerdict struct {
	// Name of the rule, its default filled in; "rules[3]" for a rule whose name
	// another one of the object has already.
	Name          string
	Port, EndPort int32
	Protocol      l4.Protocol
	// Reason is one of Accepted=False, or empty for a rule that holds its port.
	Reason  string
	Message string
	// Want is what the rule says, nil where it is not accepted.
	Want *l4.Listener
	// Render is what shall be rendered for it: Want itself, or what is observed of it
	// (the old backend; of a range or of hosts maybe a part) while the Service that
	// it names waits for its verdict, or nil while it may not be rendered.
	Render *l4.Listener
	// Withdrawn tells that Render is nil because the Service may not be used,
	// rather than not having been looked at.
	Withdrawn bool
}

// Accepted tells whether the rule holds its port.
func (v *RuleVerdict) Accepted() bool { return v.Reason == "" }

// Complete tells whether all that the rule says may be rendered, rather than what
// is observed of it, or a part.
func (v *RuleVerdict) Complete() bool { return v.Render != nil && v.Render == v.Want }
