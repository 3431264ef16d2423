package matrix

import (
	"fmt"
	"strings"
	"testing"
)

// bigExperiment has five axes of ten levels each, so 100,000 cells; with scale
// 16 the last axes are longer and it has about a million.
func bigExperiment(last int) string {
	var b strings.Builder
	b.WriteString("defaults {\n  server = server.inno\n  params = { engine = \"innodb\" }\n  my_cnf = {\n")
	for i := range 8 {
		fmt.Fprintf(&b, "    innodb_option_%d = %d\n", i, i)
	}
	b.WriteString("    innodb_engine = param.engine == \"innodb\" ? true : null\n  }\n}\n")
	for i := range 5 {
		n := 10
		if i == 4 {
			n = last
		}
		fmt.Fprintf(&b, "axis \"a%d\" {\n  levels = range(0, %d)\n  my_cnf = { innodb_axis_%d = level }\n}\n", i, n, i)
	}
	b.WriteString(`
exclude { when = axis.a0 == "9" && axis.a1 == "9" && axis.a2 == "9" && axis.a3 == "9" && axis.a4 == "9" }
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  iterations = 2
  workload "bench" {
    step    = "query"
    rate    = 100
    seconds = 60
  }
}
`)
	return b.String()
}

// BenchmarkPlan is the figure of a plan of 100,000 cells that are all done: Load,
// Expand, and MakePlan over their history.
func BenchmarkPlan(b *testing.B) {
	src := bigExperiment(10)
	e, cells := expandText(b, src)
	h := historyOf(e, cells)
	b.ReportAllocs()
	for b.Loop() {
		e, cells := expandText(b, src)
		p, err := e.MakePlan(cells, h, PlanOptions{})
		if err != nil {
			b.Fatal(err)
		}
		if got := p.Summary.ByStatus[Done]; got != len(cells) {
			b.Fatalf("%d of %d runs are done", got, len(cells))
		}
	}
	b.ReportMetric(float64(len(cells)), "cells")
}

// BenchmarkCount is the figure of a million cells, expanded and counted.
func BenchmarkCount(b *testing.B) {
	src := bigExperiment(100)
	e, diags := loadText(b, src)
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	n := 0
	for b.Loop() {
		n, _ = e.Count()
	}
	b.ReportMetric(float64(n), "cells")
}

// historyOf makes the history in which every cell was measured once.
func historyOf(e *Experiment, cells []*Cell) History {
	h := History{Inputs: func(Fingerprint) ([]Input, error) { return nil, nil }}
	for i, c := range cells {
		for k := 1; k <= e.Replicates; k++ {
			a := Attempt{ID: int64(i*e.Replicates + k), Cell: c.Key, Replicate: k, Number: 1, Host: e.Host.ID, Status: OK}
			for j, p := range c.Phases {
				a.Phases = append(a.Phases, PastPhase{Block: p.Block, Fingerprint: c.Fingerprints[j],
					Iterations: p.Recorded(), Status: OK, Seconds: 10, Bytes: 1000})
			}
			h.Attempts = append(h.Attempts, a)
		}
	}
	return h
}
