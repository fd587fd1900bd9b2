package service

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"
)

// prefix begins the names of our ports. Some clouds refuse names that begin with
// a digit.
func prefix(p l4.Protocol) string {
	if p == l4.UDP {
		return "udp-"
	}
	return "tcp-"
}

func portName(p l4.Protocol, port int32) string { return prefix(p) + strconv.Itoa(int(port)) }

// portsOf gives the ports as we write them. A name carries the number, so that a
// changed number never leaves the old name behind on another port.
func portsOf(p l4.Protocol, numbers []int32) []corev1ac.ServicePortApplyConfiguration {
	protocol := corev1.Protocol(p)
	names := make([]string, len(numbers))
	targets := make([]intstr.IntOrString, len(numbers))
	ports := make([]corev1ac.ServicePortApplyConfiguration, len(numbers))
	for i, number := range numbers {
		names[i], targets[i] = portName(p, number), intstr.FromInt32(number)
		ports[i] = corev1ac.ServicePortApplyConfiguration{Name: &names[i], Protocol: &protocol, Port: &numbers[i], TargetPort: &targets[i]}
	}
	return ports
}

// isOurs tells whether an observed port is exactly as we write it.
func isOurs(p l4.Protocol, port *corev1.ServicePort) bool {
	number, ok := numberIn(p, port.Name)
	return ok && number == port.Port &&
		protocolOf(port) == corev1.Protocol(p) &&
		port.TargetPort == intstr.FromInt32(port.Port)
}

// protocolOf fills in the default that a port from a file may lack.
func protocolOf(port *corev1.ServicePort) corev1.Protocol {
	if port.Protocol == "" {
		return corev1.ProtocolTCP
	}
	return port.Protocol
}

// numberIn gives the number that a name stands for, if it is one of our names.
func numberIn(p l4.Protocol, name string) (int32, bool) {
	digits, ok := strings.CutPrefix(name, prefix(p))
	if !ok {
		return 0, false
	}
	var plain [20]byte // compared without making a string: there may be thousands
	number, err := strconv.ParseInt(digits, 10, 32)
	if err != nil || number < 1 || number > 65535 || string(strconv.AppendInt(plain[:0], number, 10)) != digits {
		return 0, false
	}
	return int32(number), true
}

// Charge gives the bytes that a port adds to the JSON of the Service.
func Charge(p l4.Protocol, port int32) int {
	const frame = len(`{"name":"","protocol":"","port":,"targetPort":},`)
	digits := len(strconv.Itoa(int(port)))
	return frame + len(prefix(p)) + len(p) + 3*digits
}

// BaseSize gives the bytes of the JSON of the Service without ports. Annotations
// count twice: once as they are, and once in the copy of the Service that
// Metacontroller keeps in an annotation.
func BaseSize(s Settings) int {
	encoded, err := json.Marshal(build(look(s, nil), nil))
	if err != nil {
		panic(fmt.Sprintf("encoding a Service without ports: %v", err))
	}
	size := len(encoded)
	for key, value := range s.Annotations {
		size += len(key) + len(value)
	}
	return size
}
