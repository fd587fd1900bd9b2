// Package tcpingress is the product: the hooks of the CompositeControllers
// tcpingressclass and tcpingress. A request of Metacontroller enters, the desired
// children and the status leave.
//
// The class hook judges all rules of all TCPIngresses of one class (package
// resolve), renders what they hold into the Services and ConfigMaps of the class
// (package render), and writes each verdict into a TCPIngressSlice. The TCPIngress
// hook projects its own verdict, and what it sees of its Services, into status.
//
// Everything here is a pure function of the request and the time: no network, no
// files, no clock, no log, no state between calls.
package tcpingress
