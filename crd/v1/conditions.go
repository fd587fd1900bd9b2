package v1

// Types of conditions. TCPIngress has the first five, its rules the middle
// four, TCPIngressClass the last three.
const (
	// ConditionReady is Accepted, ResolvedRefs and Programmed in one.
	ConditionReady = "Ready"
	// ConditionBackendsReady tells whether the backends have ready endpoints.
	ConditionBackendsReady = "BackendsReady"
	// ConditionResolvedRefs tells whether the Services and their ports exist.
	ConditionResolvedRefs = "ResolvedRefs"
	// ConditionAccepted tells whether the class gave the ports.
	ConditionAccepted = "Accepted"
	// ConditionProgrammed tells whether the observed children carry the rules.
	ConditionProgrammed = "Programmed"
	// ConditionForeignEntries is True when a ConfigMap of the class carries keys that
	// no TCPIngress asked for. The only condition whose True is unusual.
	ConditionForeignEntries = "ForeignEntries"
)

// Reasons of Accepted=False on a rule and its TCPIngress.
const (
	ReasonInvalidRule            = "InvalidRule"
	ReasonDuplicateRule          = "DuplicateRule"
	ReasonUnsupportedByProvider  = "UnsupportedByProvider"
	ReasonPortReserved           = "PortReserved"
	ReasonPortNotAllowed         = "PortNotAllowed"
	ReasonPortNotGranted         = "PortNotGranted"
	ReasonNamespaceNotAllowed    = "NamespaceNotAllowed"
	ReasonNamespaceQuotaExceeded = "NamespaceQuotaExceeded"
	ReasonPortConflict           = "PortConflict"
	ReasonHostConflict           = "HostConflict"
	ReasonPoolExhausted          = "PoolExhausted"
	ReasonCapacityExceeded       = "CapacityExceeded"
	ReasonProtocolDisabled       = "ProtocolDisabled"
)

// Reasons of ResolvedRefs=False.
const (
	ReasonServiceNotFound     = "ServiceNotFound"
	ReasonServicePortNotFound = "ServicePortNotFound"
	ReasonProtocolMismatch    = "ProtocolMismatch"
	ReasonUnsupportedService  = "UnsupportedService"
)

// ReasonNoReadyEndpoints is the reason of BackendsReady=False.
const ReasonNoReadyEndpoints = "NoReadyEndpoints"

// Reasons of Programmed, and of Unknown.
const (
	// ReasonPending: not yet judged (Accepted=Unknown), or the children do not
	// carry the rule yet (Programmed=False).
	ReasonPending        = "Pending"
	ReasonNotAccepted    = "NotAccepted"
	ReasonAddressPending = "AddressPending"
	ReasonChildNotOwned  = "ChildNotOwned"
	ReasonServiceShared  = "ServiceShared"
	ReasonPropagating    = "Propagating"
	// ReasonSwitching: the class is on its way to another provider, and its Services
	// still lead to the old one (Programmed=False of a class).
	ReasonSwitching = "Switching"
)

// Reasons of conditions that are as they should be, and of a class.
const (
	ReasonAccepted     = "Accepted"
	ReasonResolved     = "ResolvedRefs"
	ReasonProgrammed   = "Programmed"
	ReasonReady        = "Ready"
	ReasonBackendReady = "EndpointsReady"
	// ReasonDraining: the Services lead to the new provider of the class, and the old
	// one still serves those who were not told yet (Programmed=True).
	ReasonDraining = "Draining"
	// ReasonInvalidClass: the class's own spec cannot be used.
	ReasonInvalidClass = "InvalidClass"
	// ReasonNamespaceNotFound: the namespace of the class does not exist
	// (Programmed=False of a class).
	ReasonNamespaceNotFound = "NamespaceNotFound"
	// ReasonForeignEntries and ReasonNoForeignEntries belong to ConditionForeignEntries.
	ReasonForeignEntries   = "ForeignEntries"
	ReasonNoForeignEntries = "NoForeignEntries"
)
