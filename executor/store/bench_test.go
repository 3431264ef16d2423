package store

import (
	"fmt"
	"path/filepath"
	"runtime"
	"testing"

	"dbmatrix/matrix"
)

// fill records n runs with so many metrics each as fast as rows can be written,
// past the methods that sync each step.
func fill(b *testing.B, n, metrics int) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "results.db")
	s, err := Open(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	p := plan(n, 1)
	r := record(b, s, p)
	err = s.record(r.ctx, "runs", func(t *tx) error {
		for _, c := range p.Cells {
			a, _, err := s.addAttempt(t, AttemptStart{Experiment: r.exp, Runner: r.run, Cell: c.Key, Replicate: 1,
				Fingerprint: c.Fingerprints[1], Phases: 2}, matrix.OK, "")
			if err != nil {
				return err
			}
			for i, phase := range c.Phases {
				id, err := s.addPhase(t, PhaseStart{Attempt: a, Ordinal: i + 1, Phase: phase, Fingerprint: c.Fingerprints[i], Inputs: inputs(c, i)})
				if err != nil {
					return err
				}
				it := Iteration{Number: 1, Status: matrix.OK}
				for m := range metrics / len(c.Phases) {
					it.Metrics = append(it.Metrics, matrix.Metric{Name: fmt.Sprint("metric", m), Unit: "s", Value: float64(m) + 0.25})
				}
				if _, err := addIteration(t, id, it); err != nil {
					return err
				}
				if err := t.exec("UPDATE phase SET status = 'ok', finished = 1, seconds = 10, bytes = 1000 WHERE id = ?", id); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkHistory is what a plan waits for: 100,000 done runs.
func BenchmarkHistory(b *testing.B) {
	path := fill(b, 100_000, 0)
	s, err := OpenReadOnly(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	var h matrix.History
	for b.Loop() {
		if h, err = s.History(b.Context(), "dio", "host-a"); err != nil {
			b.Fatal(err)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc-before.HeapAlloc)/(1<<20), "MiB-kept")
	if len(h.Attempts) != 100_000 || len(h.Attempts[99_999].Phases) != 2 {
		b.Fatalf("got %d attempts", len(h.Attempts))
	}
}

// BenchmarkResults is what a report waits for: 10,000 runs of 60 metrics.
func BenchmarkResults(b *testing.B) {
	path := fill(b, 10_000, 60)
	s, err := OpenReadOnly(b.Context(), path)
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	var attempts []Attempt
	for b.Loop() {
		if attempts, err = s.Results(b.Context(), "dio", Selection{}); err != nil {
			b.Fatal(err)
		}
	}
	if len(attempts) != 10_000 || len(attempts[9_999].Phases[1].Iterations[0].Metrics) != 30 {
		b.Fatalf("got %d attempts", len(attempts))
	}
}

// BenchmarkRecordPlan is what a run waits for that has 10,000 cells.
func BenchmarkRecordPlan(b *testing.B) {
	s, err := Open(b.Context(), filepath.Join(b.TempDir(), "results.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	p := plan(10_000, 1)
	for b.Loop() {
		if _, err := s.RecordPlan(b.Context(), p); err != nil {
			b.Fatal(err)
		}
	}
}
