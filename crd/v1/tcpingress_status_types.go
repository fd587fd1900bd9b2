package v1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// TCPIngressStatus is what was observed. It claims nothing that was not seen.
type TCPIngressStatus struct {
	// ObservedGeneration is the generation that Metacontroller last synced. The
	// conditions carry their own, which tells what was judged.
	//
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// Conditions are Accepted (the class gave the ports), ResolvedRefs (the
	// Services and their ports exist), BackendsReady (they have ready endpoints),
	// Programmed (nginx's configuration and the Service carry the rules, and there
	// is an address) and Ready, which is Accepted, ResolvedRefs and Programmed in
	// one. Each is True only if it holds for every rule.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	// ClassName is the class that judged the rules, also where the spec names none.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClassName string `json:"className,omitempty"`
	// Ports lists the ports in short, such as "6379,53/UDP". For people; programs
	// read rules.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=2048
	Ports string `json:"ports,omitempty"`
	// Addresses where clients reach the ports, those of TCP and of UDP.
	//
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Addresses []Address `json:"addresses,omitempty"`
	// Rules holds the state of each rule, by its name.
	//
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=128
	Rules []RuleStatus `json:"rules,omitempty"`
}

// RuleStatus is the state of one rule.
type RuleStatus struct {
	// Name of the rule, or <protocol>-<port> where it has none, or "rules[3]"
	// where an earlier rule has the same name.
	//
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
	// Port that the rule holds, if accepted, else the one that it asks for. Left
	// out where the pool could give none.
	//
	// +optional
	Port int32 `json:"port,omitempty"`
	// EndPort is the last port of a range.
	//
	// +optional
	EndPort int32 `json:"endPort,omitempty"`
	// Protocol of the port.
	//
	// +optional
	Protocol Protocol `json:"protocol,omitempty"`
	// ServiceName is the backend Service that was looked at. The class waits for
	// it to be the one in the spec before it changes anything.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ServiceName string `json:"serviceName,omitempty"`
	// PortName is the name of the backend port that was looked at.
	//
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PortName string `json:"portName,omitempty"`
	// BackendPort is the number that was found behind portName. It is kept while
	// the Service is missing.
	//
	// +optional
	BackendPort int32 `json:"backendPort,omitempty"`
	// Conditions are Accepted, ResolvedRefs, BackendsReady and Programmed of this rule.
	//
	// +optional
	// +listType=map
	// +listMapKey=type
	// +kubebuilder:validation:MaxItems=16
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}
