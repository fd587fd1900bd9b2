package tcpingress

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
	"github.com/nginx-stream/tcpingress/hooks/metacontroller"
)

// claimant is a TCPIngress as the class hook reads it: of ten thousand objects,
// only what the book needs.
type claimant struct {
	metacontroller.BareMeta
	Spec   crdv1.TCPIngressSpec `json:"spec"`
	Status claimantStatus       `json:"status"`
}

type claimantStatus struct {
	ClassName string         `json:"className"`
	Rules     []claimantRule `json:"rules"`
}

type claimantRule struct {
	Name        string         `json:"name"`
	Port        int32          `json:"port"`
	EndPort     int32          `json:"endPort"`
	Protocol    crdv1.Protocol `json:"protocol"`
	ServiceName string         `json:"serviceName"`
	PortName    string         `json:"portName"`
	BackendPort int32          `json:"backendPort"`
	Conditions  []struct {
		Type   string                 `json:"type"`
		Status metav1.ConditionStatus `json:"status"`
		Reason string                 `json:"reason"`
	} `json:"conditions"`
}

// ruleStatus gives the rule as the book knows it.
func (r *claimantRule) ruleStatus() crdv1.RuleStatus {
	s := crdv1.RuleStatus{
		Name: r.Name, Port: r.Port, EndPort: r.EndPort, Protocol: r.Protocol,
		ServiceName: r.ServiceName, PortName: r.PortName, BackendPort: r.BackendPort,
	}
	for _, c := range r.Conditions {
		if c.Type == crdv1.ConditionAccepted || c.Type == crdv1.ConditionResolvedRefs {
			s.Conditions = append(s.Conditions, metav1.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason})
		}
	}
	return s
}

// ingressObject is a TCPIngress as its own hook reads it.
type ingressObject struct {
	metacontroller.BareMeta
	Spec   crdv1.TCPIngressSpec   `json:"spec"`
	Status crdv1.TCPIngressStatus `json:"status"`
}

// backendService is a Service as the hook of a TCPIngress reads it: the ports, and
// whether it is one that may be used.
type backendService struct {
	metacontroller.BareMeta
	Spec struct {
		Type  corev1.ServiceType `json:"type"`
		Ports []servicePort      `json:"ports"`
	} `json:"spec"`
}

// servicePort is a port of a Service.
type servicePort struct {
	Name       string             `json:"name"`
	Port       int32              `json:"port"`
	Protocol   crdv1.Protocol     `json:"protocol"`
	TargetPort intstr.IntOrString `json:"targetPort"`
}

// endpointSlice tells whether the ports of a Service have a ready endpoint.
type endpointSlice struct {
	metacontroller.LabeledMeta
	Ports []struct {
		Name     string         `json:"name"`
		Protocol crdv1.Protocol `json:"protocol"`
	} `json:"ports"`
	Endpoints []struct {
		Conditions struct {
			Ready *bool `json:"ready"`
		} `json:"conditions"`
	} `json:"endpoints"`
}

// sliceObject is a TCPIngressSlice.
type sliceObject struct {
	metacontroller.LabeledMeta
	Class             string                      `json:"class"`
	Addresses         []crdv1.Address             `json:"addresses"`
	AllowExternalName bool                        `json:"allowExternalName"`
	Entries           map[string]crdv1.SliceEntry `json:"entries"`
}

// classObject is a TCPIngressClass.
type classObject struct {
	metacontroller.Meta
	Spec   crdv1.TCPIngressClassSpec   `json:"spec"`
	Status crdv1.TCPIngressClassStatus `json:"status"`
}

// namespaceObject is a Namespace, of which only the labels matter.
type namespaceObject struct{ metacontroller.LabeledMeta }

// ownedObject is an object that may belong to somebody.
type ownedObject struct {
	metacontroller.TypeMeta
	Metadata struct {
		metacontroller.BareObjectMeta
		OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
	} `json:"metadata"`
}

// Identity implements metacontroller.Object.
func (o *ownedObject) Identity() metacontroller.Identity {
	return metacontroller.Identity{APIVersion: o.APIVersion, Kind: o.Kind, Namespace: o.Metadata.Namespace, Name: o.Metadata.Name}
}

// controller gives the owner that controls the object, or nil.
func (o *ownedObject) controller() *metav1.OwnerReference {
	for i := range o.Metadata.OwnerReferences {
		if ref := &o.Metadata.OwnerReferences[i]; ref.Controller != nil && *ref.Controller {
			return ref
		}
	}
	return nil
}

// configMapObject is a child: unlike the typed objects of package metacontroller
// it keeps metadata.managedFields, which tell what server-side apply wrote.
type configMapObject struct{ corev1.ConfigMap }

// Identity implements metacontroller.Object.
func (o *configMapObject) Identity() metacontroller.Identity {
	return identity(o.GroupVersionKind(), &o.ObjectMeta)
}

// serviceObject is a child Service, with its metadata.managedFields.
type serviceObject struct{ corev1.Service }

// Identity implements metacontroller.Object.
func (o *serviceObject) Identity() metacontroller.Identity {
	return identity(o.GroupVersionKind(), &o.ObjectMeta)
}

// deploymentObject is a child Deployment, with its metadata.managedFields.
type deploymentObject struct{ appsv1.Deployment }

// Identity implements metacontroller.Object.
func (o *deploymentObject) Identity() metacontroller.Identity {
	return identity(o.GroupVersionKind(), &o.ObjectMeta)
}

// disruptionObject is a child PodDisruptionBudget, with its metadata.managedFields.
type disruptionObject struct{ policyv1.PodDisruptionBudget }

// Identity implements metacontroller.Object.
func (o *disruptionObject) Identity() metacontroller.Identity {
	return identity(o.GroupVersionKind(), &o.ObjectMeta)
}

func identity(gvk schema.GroupVersionKind, meta *metav1.ObjectMeta) metacontroller.Identity {
	apiVersion, kind := gvk.ToAPIVersionAndKind()
	return metacontroller.Identity{APIVersion: apiVersion, Kind: kind, Namespace: meta.Namespace, Name: meta.Name}
}

// Groups of objects that the hooks read.

func configMaps(list *[]configMapObject) metacontroller.Group {
	return metacontroller.Into("v1", "ConfigMap", list)
}

func services(list *[]serviceObject) metacontroller.Group {
	return metacontroller.Into("v1", "Service", list)
}

func deployments(list *[]deploymentObject) metacontroller.Group {
	return metacontroller.Into("apps/v1", "Deployment", list)
}

func disruptions(list *[]disruptionObject) metacontroller.Group {
	return metacontroller.Into("policy/v1", "PodDisruptionBudget", list)
}

func verdictSlices(list *[]sliceObject) metacontroller.Group {
	return metacontroller.Into(crdv1.APIVersion, crdv1.KindTCPIngressSlice, list)
}

func backendServices(list *[]backendService) metacontroller.Group {
	return metacontroller.Into("v1", "Service", list)
}

func endpointSlices(list *[]endpointSlice) metacontroller.Group {
	return metacontroller.Into("discovery.k8s.io/v1", "EndpointSlice", list)
}

// asked is a group that a hook asks for in some cases only.
type asked struct {
	group      string
	want, seen bool
}

// complete refuses a request that lacks a group that was asked for.
func complete(groups ...asked) error {
	for _, g := range groups {
		if g.want && !g.seen {
			return &metacontroller.MissingGroup{Where: "related", Group: g.group}
		}
	}
	return nil
}
