package service

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// Observed is what an observed Service says.
type Observed struct {
	Exists bool
	// Ours are the ports that are exactly as we write them.
	Ours map[int32]bool
	// Foreign are the ports of others.
	Foreign []corev1.ServicePort
	// Addresses at which clients reach the Service.
	Addresses []Address
	// Type of the observed Service, or None.
	Type string
	// Problem is a sentence on why no port can be added to the Service, or "".
	Problem string
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
func Observe(s Settings, svc *corev1.Service) Observed { panic("TODO") }

// Live tells whether clients can reach the port through the Service.
func (o Observed) Live(port int32) bool { panic("TODO") }

// Addressed tells whether the Service has the address that its type promises.
func (o Observed) Addressed() bool { panic("TODO") }

// Taken are the numbers that cannot be given, because a port of somebody else has
// the number or the name that ours would have; the value is a sentence.
func (o Observed) Taken() map[l4.Key]string { panic("TODO") }
