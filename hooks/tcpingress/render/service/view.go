package service

import (
	"fmt"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/owned"
)

// view is one look at the observed Service with the settings in hand.
type view struct {
	Observed
	settings Settings
	service  *corev1.Service // nil if there is none
	fields   owned.Fields
	// serverSide tells that lists are merged by their real keys.
	serverSide bool
	// blocked tells that no port of ours can be added.
	blocked bool
}

func look(s Settings, svc *corev1.Service) *view {
	v := &view{settings: s, service: svc}
	v.unused = s.Type == None
	if svc == nil {
		return v
	}
	v.fields = owned.Of(&svc.ObjectMeta)
	v.Exists = true
	v.Type = string(svc.Spec.Type)
	v.deleting = svc.DeletionTimestamp != nil
	v.serverSide = owned.ServerSide(&svc.ObjectMeta)
	v.readPorts()
	v.readAddresses(svc)
	v.findProblems()
	return v
}

// readPorts tells our ports from those of others. A port that we wrote and that
// somebody changed is neither: the next update puts it right.
func (v *view) readPorts() {
	ports := v.service.Spec.Ports
	v.Ours = make(map[int32]bool, len(ports))
	for i := range ports {
		port := &ports[i]
		switch {
		case isOurs(v.settings.Protocol, port):
			v.Ours[port.Port] = true
		case !v.fields.HasPort(port.Port, corev1.Protocol(v.settings.Protocol)) || v.isTwin(port):
			v.Foreign = append(v.Foreign, *port)
		}
	}
}

// isTwin tells whether a port of the other protocol has the number of one that
// we wrote.
func (v *view) isTwin(port *corev1.ServicePort) bool {
	if protocolOf(port) == corev1.Protocol(v.settings.Protocol) {
		return false
	}
	for i := range v.service.Spec.Ports {
		other := &v.service.Spec.Ports[i]
		if other.Port == port.Port && protocolOf(other) == corev1.Protocol(v.settings.Protocol) {
			return true
		}
	}
	return false
}

func (v *view) findProblems() {
	note := func(text string) bool {
		if text != "" {
			v.Problems = append(v.Problems, text)
		}
		return text != ""
	}
	unnamed, twins := note(v.unnamed()), note(v.twins())
	v.blocked = unnamed || twins
	if v.rigid() {
		note(v.typeProblem(v.wantedType()))
	}
	note(v.classProblem())
	note(v.selectorProblem())
}

// unnamed finds the only port of a Service, which may be without a name until a
// second one is added.
func (v *view) unnamed() string {
	for i := range v.Foreign {
		if port := &v.Foreign[i]; port.Name == "" {
			return fmt.Sprintf("%s of %s has no name, which is required once there is a second port; give it one.", describe(port), v.settings.text())
		}
	}
	return ""
}

// twins finds two ports of others with one number. Metacontroller's default apply
// writes one of them twice whenever it merges the list.
func (v *view) twins() string {
	if v.serverSide {
		return ""
	}
	seen := make(map[int32]bool, len(v.Foreign))
	for i := range v.Foreign {
		number := v.Foreign[i].Port
		if seen[number] {
			return fmt.Sprintf("%s has port %d for TCP and for UDP, which cannot be merged; move one of them to another Service.", v.settings.text(), number)
		}
		seen[number] = true
	}
	return ""
}

// classProblem finds a loadBalancerClass that cannot be set any more.
func (v *view) classProblem() string {
	want := v.settings.LoadBalancerClass
	if want == "" || v.service.Spec.Type != corev1.ServiceTypeLoadBalancer {
		return ""
	}
	if have := v.service.Spec.LoadBalancerClass; have != nil && *have == want {
		return ""
	}
	return fmt.Sprintf("The loadBalancerClass of %s cannot be changed any more; leave service.loadBalancerClass out, or let the Service be made anew.", v.settings.text())
}

// selectorProblem finds labels in the selector that others put there. The merge
// keeps them beside ours, so that the Service may select no pod at all.
func (v *view) selectorProblem() string {
	if !v.settings.SelectorExplicit || v.serverSide {
		return ""
	}
	for _, key := range slices.Sorted(maps.Keys(v.service.Spec.Selector)) {
		if _, ok := v.settings.Selector[key]; !ok && !v.fields.Has("spec", "selector", key) {
			return fmt.Sprintf("The selector of %s has the label %s, which the class does not have; remove it from the Service, or add it to the class.", v.settings.text(), key)
		}
	}
	return ""
}

// key addresses a port of the settings' protocol.
func (v *view) key(port int32) l4.Key { return l4.Key{Protocol: v.settings.Protocol, Port: port} }
