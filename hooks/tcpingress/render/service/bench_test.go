package service_test

import (
	"testing"

	"github.com/nginx-stream/tcpingress/hooks/tcpingress/render/service"
)

// BenchmarkSync is all that one sync asks of a Service with a thousand ports.
func BenchmarkSync(b *testing.B) {
	s, ports := settings(nil), thousand()
	svc := typed(b, sync(b, s, ports, nil))
	b.ReportAllocs()
	for b.Loop() {
		o := service.Observe(s, svc)
		if len(service.Taken(s, svc)) != 0 || !o.Live(ports[0]) {
			b.Fatal("the Service is not ours")
		}
		if child := service.Render(s, ports, svc); len(child.Spec.Ports) != 1000 {
			b.Fatal("a port is missing")
		}
	}
}
