// Package expose is the DecoratorController hook that turns an annotation of a
// Service into TCPIngresses. A Service and the TCPIngresses that were made for it
// enter; the TCPIngresses that shall exist, and a complaint about the annotation,
// leave. No network, no files, no clock, no logging.
//
// The annotation is nginx-stream.dev/expose. Its grammar:
//
//	annotation = entry { "," entry }
//	entry      = external [ ":" servicePort ] [ "/" protocol ]
//	           | range [ "/" protocol ]
//	external   = number
//	range      = number "-" number
//	servicePort = number | name
//	protocol   = "TCP" | "UDP", in upper or lower case; left out: TCP
//
// White space around an entry counts for nothing. Without a servicePort the
// external number is taken, if the Service has such a port; else the Service's
// port, if it has exactly one of that protocol. A range leads to the Service's
// ports of the same numbers. A port from the class's pool cannot be asked for
// here, since nothing would tell its rule from another: write a TCPIngress.
//
// A mistake never changes what works: it is reported on the Service in one
// sentence, and the TCPIngresses stay as they are.
package expose
