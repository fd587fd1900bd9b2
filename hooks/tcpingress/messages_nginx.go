package tcpingress

import (
	"fmt"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	crdv1 "github.com/nginx-stream/tcpingress/crd/v1"
)

// Sentences on provider Nginx, and on the switch from one provider to another.

func propagating(since string, period time.Duration) string {
	return fmt.Sprintf("The configuration carries the rule since %s; until it has reached every nginx, up to %s may pass.", since, secondsText(period))
}

func classPropagating(period time.Duration) string {
	return fmt.Sprintf("The configuration carries all rules; until a change has reached every nginx, up to %s may pass.", secondsText(period))
}

func waitingForPort(service, port string) string {
	return fmt.Sprintf("The rule is rendered as soon as the number of port %s of Service %s is known, see the condition ResolvedRefs.", port, service)
}

func waitsForSwitch(from, to crdv1.Provider) string {
	return fmt.Sprintf("The class is being switched from provider %s to %s, and only the new one carries the rule as it is; it is served once the Services have moved.", from, to)
}

func switching(from, to crdv1.Provider) string {
	return fmt.Sprintf("The class is being switched from provider %s to %s", from, to)
}

func preparing(from, to crdv1.Provider, why string) string {
	return fmt.Sprintf("%s, which is not ready; until then %s serves. %s", switching(from, to), from, why)
}

func prepared(from, to crdv1.Provider, since *metav1.Time, period time.Duration) string {
	return fmt.Sprintf("%s, which is ready since %s; %s later the Services move.", switching(from, to), clockText(since), secondsText(period))
}

func moving(from, to crdv1.Provider) string {
	return fmt.Sprintf("%s, and the Services are being moved to it.", switching(from, to))
}

func draining(from, to crdv1.Provider, since *metav1.Time, period time.Duration) string {
	return fmt.Sprintf("The Services lead to provider %s since %s; what is left of %s goes %s later.", to, clockText(since), from, secondsText(period))
}

func secondsText(d time.Duration) string { return fmt.Sprintf("%d s", int(d.Seconds())) }

func clockText(t *metav1.Time) string { return t.UTC().Format(time.RFC3339) }

func notThereYet(objects []string) string {
	return strings.Join(objects, ", ") + " is not there yet."
}

func notCarriedYet(owner string) string {
	return fmt.Sprintf("Its configuration does not carry rule %s yet.", owner)
}

func portText(p *corev1.ServicePort) string {
	if p.Name == "" {
		return fmt.Sprintf("%d/%s", p.Port, p.Protocol)
	}
	return fmt.Sprintf("%s (%d)", p.Name, p.Port)
}

func portsShared(object string, ports []string) string {
	return fmt.Sprintf("%s carries ports of others, %s, and all ports of a Service lead to the same pods; move them to another Service, then the class goes on. Nothing is changed until then.",
		object, strings.Join(ports, ", "))
}

func selectorShared(object string, keys []string, class string) string {
	return fmt.Sprintf("The selector of %s has labels of others, %s; write the same selector into spec.ingressNginx.selector of TCPIngressClass %s while its provider is IngressNginx, so that it is the class's, or remove it from the Service. Nothing is changed until then.",
		object, strings.Join(keys, ", "), class)
}
