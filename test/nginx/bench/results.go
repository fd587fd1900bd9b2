package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
)

// results are the measurements by the name of the work and of the plane, one a round.
type results map[string]map[string][]measurement

func (r results) add(work, plane string, m measurement) {
	if r[work] == nil {
		r[work] = make(map[string][]measurement)
	}
	r[work][plane] = append(r[work][plane], m)
}

// print writes a Markdown table for each work. What is compared is compared within
// each round.
func (r results) print(out io.Writer, planes []*plane) {
	for _, w := range works() {
		_, _ = fmt.Fprintf(out, "\n| %s | %s/s | µs of the worker for 1 | beside the one by hand |\n|---|---|---|---|\n", w.name, w.unit)
		table := tabwriter.NewWriter(out, 0, 0, 1, ' ', 0)
		base := r[w.name][written]
		for _, p := range planes {
			list := r[w.name][p.name]
			ratios := make([]float64, len(list))
			for i := range list {
				ratios[i] = list[i].cost/base[i].cost - 1
			}
			_, _ = fmt.Fprintf(table, "| %s\t| %.0f\t| %.1f\t| %+.1f %%\t|\n", p.name,
				median(list, func(m measurement) float64 { return m.rate }),
				median(list, func(m measurement) float64 { return m.cost }), 100*median(ratios, func(x float64) float64 { return x }))
		}
		_ = table.Flush()
	}
}

func median[T any](list []T, value func(T) float64) float64 {
	values := make([]float64, len(list))
	for i, x := range list {
		values[i] = value(x)
	}
	slices.Sort(values)
	return (values[len(values)/2] + values[(len(values)-1)/2]) / 2
}
