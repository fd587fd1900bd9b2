package resolve

import (
	"fmt"
	"testing"
)

// BenchmarkResolve is a class in steady state: every TCPIngress has one rule,
// which is observed, booked and judged.
func BenchmarkResolve(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := steady(n)
			b.ReportAllocs()
			for b.Loop() {
				Resolve(w, &fake{})
			}
		})
	}
}

// BenchmarkResolveNew is the same class, seen for the first time.
func BenchmarkResolveNew(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			w := crowd(n)
			b.ReportAllocs()
			for b.Loop() {
				Resolve(w, &fake{})
			}
		})
	}
}

func crowd(n int) *World {
	var all []Ingress
	for i := range n {
		all = append(all, ti(fmt.Sprintf("team-%d/redis-%d", i%50, i), i, fmt.Sprintf("%d/TCP -> redis:6379", 10_000+i)))
	}
	return newWorld(all...)
}

func steady(n int) *World {
	w := crowd(n)
	w = advance(w, Resolve(w, &fake{}))
	return advance(w, Resolve(w, &fake{}))
}
