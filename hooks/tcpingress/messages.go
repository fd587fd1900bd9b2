package tcpingress

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/intstr"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// Every sentence that a status of ours can hold is in this file, but for those
// on refused claims, which are in package resolve.

func countMessage(count, of int, rule, message string) string {
	if of == 1 {
		return message
	}
	return fmt.Sprintf("%d of %d rules, first %s: %s", count, of, rule, message)
}

func serviceNotFound(name string) string {
	return fmt.Sprintf("Service %s does not exist in this namespace; create it, or correct backend.service.name.", name)
}

func externalName(name string) string {
	return fmt.Sprintf("Service %s is of type ExternalName, which this class does not forward to; use a Service with endpoints.", name)
}

func externalNameReady(name string) string {
	return fmt.Sprintf("Service %s is of type ExternalName; its target is not watched.", name)
}

func resolvedMessage(name string) string {
	return fmt.Sprintf("Service %s has the port.", name)
}

// portsOf lists the ports that a Service does have.
func portsOf(svc *backendService) string {
	if len(svc.Spec.Ports) == 0 {
		return "it has no ports"
	}
	const most = 8
	var list []string
	for i := range svc.Spec.Ports {
		p := &svc.Spec.Ports[i]
		text := fmt.Sprintf("%d/%s", p.Port, protocolOf(p))
		if p.Name != "" {
			text += " (" + p.Name + ")"
		}
		list = append(list, text)
	}
	if more := len(list) - most; more > 0 {
		list = append(list[:most], fmt.Sprintf("and %d more", more))
	}
	return "it has " + strings.Join(list, ", ")
}

func wanted(port *crdv1.BackendPort) string {
	if port.Name != "" {
		return port.Name
	}
	return strconv.Itoa(int(port.Number))
}

func portNotFound(svc *backendService, port *crdv1.BackendPort, protocol crdv1.Protocol) string {
	target := intstr.FromInt32(port.Number)
	if port.Name != "" {
		target = intstr.FromString(port.Name)
	}
	hint := ""
	for i := range svc.Spec.Ports {
		p := &svc.Spec.Ports[i]
		if protocolOf(p) == protocol && p.TargetPort == target {
			hint = fmt.Sprintf(" %s is the targetPort of its port %d: name the Service's own port, %d.", wanted(port), p.Port, p.Port)
			break
		}
	}
	return fmt.Sprintf("Service %s has no port %s/%s; %s.%s", svc.Name, wanted(port), protocol, portsOf(svc), hint)
}

func noPortNamed(svc *backendService) string {
	return fmt.Sprintf("The rule names no port of Service %s; %s. Name one in backend.service.port.", svc.Name, portsOf(svc))
}

func protocolMismatch(svc *backendService, port *crdv1.BackendPort, protocol crdv1.Protocol) string {
	return fmt.Sprintf("Service %s has port %s, but not for %s; %s. Correct the rule's protocol or the Service.",
		svc.Name, wanted(port), protocol, portsOf(svc))
}

func rangeNotFound(service string, protocol crdv1.Protocol, missing int, first int32) string {
	return fmt.Sprintf("Service %s lacks %d of the range's ports, first %d/%s; a range is forwarded number by number, so the Service must list each.",
		service, missing, first, protocol)
}

func noReadyEndpoints(service string, port int32) string {
	return fmt.Sprintf("Service %s has no ready endpoint for port %d; look at its pods.", service, port)
}

func endpointsReady(service string) string {
	return fmt.Sprintf("Service %s has ready endpoints.", service)
}

func notJudged(class string) string {
	if class == "" {
		return "No default class has judged this object yet; set spec.ingressClassName, or mark a TCPIngressClass with the annotation " +
			crdv1.AnnotationDefaultClass + `: "true".`
	}
	return fmt.Sprintf("TCPIngressClass %s has not judged this object yet; does it exist, and is it accepted? kubectl get tcpingressclass %s", class, class)
}

func deleting() string { return "The TCPIngress is being deleted and holds no ports any more." }

func judgedBefore(class string) string {
	return fmt.Sprintf("TCPIngressClass %s has judged an earlier generation; its verdict on this one is on the way, if the class is accepted: kubectl get tcpingressclass %s", class, class)
}

func noSuchVerdict(class string) string {
	return fmt.Sprintf("TCPIngressClass %s has not judged this rule yet.", class)
}

// tooManyRules and noRules use the words of the webhook.
func tooManyRules(index int) string {
	return fmt.Sprintf("spec.rules[%d]: Forbidden: a TCPIngress has at most %d rules; move this one to another TCPIngress.", index, maxRules)
}

func noRules() string { return "spec.rules: Required value: a TCPIngress has at least one rule." }

func notAccepted() string { return "The rule is not accepted, see the condition Accepted." }

func noneAccepted(rules int) string {
	if rules == 1 {
		return notAccepted()
	}
	return fmt.Sprintf("None of the %d rules is accepted, see the condition Accepted.", rules)
}

// someNotAccepted begins a sentence that others or othersProgrammed ends.
func someNotAccepted(refused, of int) string {
	verb := "are"
	if refused == 1 {
		verb = "is"
	}
	return fmt.Sprintf("%d of %d rules %s not accepted, see the condition Accepted; ", refused, of, verb)
}

func others(count, of int, rule, message string) string {
	if of == 1 {
		return fmt.Sprintf("the other one, %s: %s", rule, message)
	}
	return fmt.Sprintf("%d of the other %d, first %s: %s", count, of, rule, message)
}

func othersProgrammed(n int) string {
	if n == 1 {
		return "the other one is programmed."
	}
	return fmt.Sprintf("the other %d are programmed.", n)
}

func acceptedMessage(class string) string {
	return fmt.Sprintf("TCPIngressClass %s gave the port.", class)
}

func allMessage(what string) string { return "All rules are " + what + "." }

func programmedMessage() string { return "The observed children carry the rule." }

func readyMessage() string { return "All rules are accepted, resolved and programmed." }

func describeClass(class string) string { return "kubectl describe tcpingressclass " + class }

func pendingMessage(class string) string {
	return "The observed children do not carry the rule yet; if this lasts, errors of the API server are events of the class: " + describeClass(class)
}

func waitingForService(service string) string {
	return fmt.Sprintf("The rule is rendered as soon as Service %s has been looked at.", service)
}

func withdrawn(service string) string {
	return fmt.Sprintf("The entry is withdrawn, because Service %s may not be used, see the condition ResolvedRefs.", service)
}

func addressPending(object string) string {
	return fmt.Sprintf("%s carries the port, but has no address yet; look at its events: kubectl describe %s", object, describeTarget(object))
}

// describeTarget turns "Service ns/name" into "service -n ns name".
func describeTarget(object string) string {
	kind, key, _ := strings.Cut(object, " ")
	namespace, name, _ := strings.Cut(key, "/")
	return fmt.Sprintf("%s -n %s %s", strings.ToLower(kind), namespace, name)
}

// childNotOwned tells that an object of that name exists and how to hand it over.
// Metacontroller adopts an object without an owner that carries the label.
func childNotOwned(object, class, uid string) string {
	return fmt.Sprintf("%s exists already and does not belong to TCPIngressClass %s. To hand it over (it is deleted with the class then): kubectl label %s controller-uid=%s; or name another one in a new class.",
		object, class, describeTarget(object), uid)
}

func ownedByOther(object, owner string) string {
	return fmt.Sprintf("%s exists already and is controlled by %s; name another one in a new class.", object, owner)
}

func classAccepted() string { return "The class can be used." }

func classProgrammed() string { return "The observed children carry all rules." }

func invalidClass(problems []string) string {
	return "Nothing is changed until the class is corrected: " + strings.Join(problems, "; ") + "."
}

func childrenPending(objects []string, class string) string {
	return fmt.Sprintf("Not yet as they should be: %s; if this lasts, errors of the API server are events of the class: %s",
		strings.Join(objects, ", "), describeClass(class))
}

// namespaceNotFound and namespaceGoes are for the owner of the class.
func namespaceNotFound(name string) string {
	return fmt.Sprintf("Namespace %s does not exist, so nothing can be made in it; create it (kubectl create namespace %s), or replace the class by one with another spec.namespace.", name, name)
}

func namespaceGoes(name string) string {
	return fmt.Sprintf("Namespace %s is being deleted, so nothing can be made in it; create it again when it is gone (kubectl create namespace %s), or replace the class by one with another spec.namespace.", name, name)
}

func namespaceNotFoundForRule(name, class string) string {
	return fmt.Sprintf("Namespace %s of TCPIngressClass %s does not exist; ask the platform admin to create it.", name, class)
}

func namespaceGoesForRule(name, class string) string {
	return fmt.Sprintf("Namespace %s of TCPIngressClass %s is being deleted; ask the platform admin to create it again.", name, class)
}

func noForeignEntries() string { return "The ConfigMaps hold no entries of others." }

func foreignEntries(entries []string) string {
	const most = 10
	entries = slices.Clone(entries)
	if more := len(entries) - most; more > 0 {
		entries = append(entries[:most], fmt.Sprintf("and %d more", more))
	}
	return "Entries that no TCPIngress asks for are left alone: " + strings.Join(entries, ", ") + "."
}
