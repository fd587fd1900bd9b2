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

// BenchmarkResolveRanges is the worst that tenants can ask for: thousands of
// large ranges that overlap.
func BenchmarkResolveRanges(b *testing.B) {
	var all []Ingress
	for i := range 1_000 {
		rules := ""
		for j := range 8 {
			rules += fmt.Sprintf("; %d-%d/TCP -> x", 1+1_024*j, 1_024*(j+1))
		}
		all = append(all, ti(fmt.Sprintf("team-%d/x-%d", i%50, i), i, rules[2:]))
	}
	w := newWorld(all...)
	b.ReportAllocs()
	for b.Loop() {
		Resolve(w, &fake{})
	}
}
