package ingressnginx

import "github.com/nginx-stream/tcpingress/hooks/tcpingress/l4"

// Format gives the value that ingress-nginx reads for one port of the listener.
func Format(l *l4.Listener, port int32) string { panic("TODO") }

// Parse reads a value as ingress-nginx does. The error says why it would skip it.
func Parse(value string, p l4.Protocol) (l4.Entry, error) { panic("TODO") }
