package service

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// Observed is what an observed Service says.
type Observed struct {
	// Exists tells that there is one.
	Exists bool
	// Ours are the ports that are exactly as we write them.
	Ours map[int32]bool
	// Foreign are the ports of others.
	Foreign []corev1.ServicePort
	// Addresses at which clients reach the Service.
	Addresses []Address
	// Type of the observed Service, "" if there is none.
	Type string
	// Problems are sentences on what cannot be done to this Service as it is.
	Problems []string

	// promised tells that an address is there, or that none is promised.
	promised bool
	// deleting tells that the Service is about to go.
	deleting bool
	// unused tells that the class makes no Service.
	unused bool
}

// Address is where clients reach a Service.
type Address struct {
	// Type is IPAddress or Hostname.
	Type  string
	Value string
}

// The types of Address.
const (
	IPAddress = "IPAddress"
	Hostname  = "Hostname"
)

// Observe reads the observed Service of these settings; svc is nil if there is none.
func Observe(s Settings, svc *corev1.Service) Observed { return look(s, svc).Observed }

// Live tells whether clients can reach the port through the Service.
func (o Observed) Live(port int32) bool { return o.unused || o.Ours[port] && !o.deleting }

// Addressed tells whether the Service has the address that its type promises.
func (o Observed) Addressed() bool { return o.unused || o.promised && !o.deleting }

// Taken gives the numbers that cannot be given, because a port of somebody else on
// the observed Service has the number, or the name that ours would have; the value
// is the message. The other protocol counts too, unless server-side apply is known:
// Metacontroller's default apply takes two ports of one number for one.
func Taken(s Settings, svc *corev1.Service) map[l4.Key]string { return look(s, svc).taken() }

func (v *view) taken() map[l4.Key]string {
	taken := make(map[l4.Key]string, len(v.Foreign))
	for i := range v.Foreign {
		port := &v.Foreign[i]
		text := fmt.Sprintf("%s of %s is not managed by this class; remove it there, or choose another port.", describe(port), v.settings.text())
		if !v.serverSide || protocolOf(port) == corev1.Protocol(v.settings.Protocol) {
			taken[v.key(port.Port)] = text
		}
		if number, ok := numberIn(v.settings.Protocol, port.Name); ok {
			taken[v.key(number)] = text
		}
	}
	return taken
}

func describe(port *corev1.ServicePort) string {
	if port.Name == "" {
		return fmt.Sprintf("Port %d/%s", port.Port, protocolOf(port))
	}
	return fmt.Sprintf("Port %s (%d/%s)", port.Name, port.Port, protocolOf(port))
}

func (o *Observed) readAddresses(svc *corev1.Service) {
	if svc.Spec.Type != corev1.ServiceTypeLoadBalancer {
		ips := svc.Spec.ClusterIPs
		if len(ips) == 0 && svc.Spec.ClusterIP != "" {
			ips = []string{svc.Spec.ClusterIP}
		}
		for _, ip := range ips {
			if ip != "" && ip != corev1.ClusterIPNone {
				o.Addresses = append(o.Addresses, Address{IPAddress, ip})
			}
		}
		o.promised = len(o.Addresses) > 0 || svc.Spec.ClusterIP == corev1.ClusterIPNone
		return
	}
	for _, ingress := range svc.Status.LoadBalancer.Ingress {
		if ingress.IP != "" {
			o.Addresses = append(o.Addresses, Address{IPAddress, ingress.IP})
		}
		if ingress.Hostname != "" {
			o.Addresses = append(o.Addresses, Address{Hostname, ingress.Hostname})
		}
	}
	o.promised = len(o.Addresses) > 0
}
