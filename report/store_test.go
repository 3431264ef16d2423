package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// TestPhaseResults checks what a report makes of recorded phases.
func TestPhaseResults(t *testing.T) {
	number := func(x float64) store.Metrics { return store.Metrics{{Name: "secs", Value: x, Unit: "s"}} }
	whole := store.IterationResult{
		Number: 0, Status: matrix.OK, Metrics: store.Metrics{{Name: "size_allocated", Value: 7, Unit: "B"}}, Flags: []matrix.Flag{{Name: "settle"}},
	}
	iterations := []store.IterationResult{
		whole,
		{Number: 1, Status: matrix.OK, Metrics: number(1)},
		{Number: 2, Status: matrix.SLAMissed, Message: "90%", Metrics: number(2), Flags: []matrix.Flag{{Name: "swap"}}},
	}
	secs := func(x float64) matrix.Metric { return matrix.Metric{Name: "secs", Unit: "s", Value: x} }
	size := matrix.Metric{Name: "size_allocated", Unit: "B", Value: 7}
	settle, swap := matrix.Flag{Name: "settle"}, matrix.Flag{Name: "swap"}
	tests := []struct {
		name  string
		phase store.Phase
		want  []PhaseResult
	}{
		{
			"complete: its end belongs to the last iteration too",
			store.Phase{Block: "more", Name: "query", Fingerprint: "f", Status: matrix.SLAMissed, Iterations: iterations},
			[]PhaseResult{
				{Phase: "query", Block: "more", Iteration: 0, Fingerprint: "f", Status: matrix.SLAMissed, Origin: 9, Metrics: Metrics{size}, Flags: []matrix.Flag{settle}},
				{Phase: "query", Block: "more", Iteration: 1, Fingerprint: "f", Status: matrix.OK, Origin: 9, Metrics: Metrics{secs(1)}},
				{Phase: "query", Block: "more", Iteration: 2, Fingerprint: "f", Status: matrix.SLAMissed, Message: "90%", Origin: 9, Metrics: Metrics{secs(2), size}, Flags: []matrix.Flag{settle, swap}},
			},
		},
		{
			"broken off: finished iterations do not count",
			store.Phase{Block: "query", Name: "query", Status: matrix.Interrupted, Message: "Ctrl-C", Iterations: iterations[1:2]},
			[]PhaseResult{
				{Phase: "query", Block: "query", Iteration: 0, Status: matrix.Interrupted, Message: "Ctrl-C", Origin: 9, Metrics: Metrics{}},
				{Phase: "query", Block: "query", Iteration: 1, Status: matrix.Interrupted, Message: "Ctrl-C", Origin: 9, Metrics: Metrics{secs(1)}},
			},
		},
		{
			"taken over from an attempt that was withdrawn",
			store.Phase{Block: "load", Name: "load", Status: matrix.OK, From: 4, FromWithdrawn: "noise", Iterations: iterations[1:2]},
			[]PhaseResult{
				{Phase: "load", Block: "load", Iteration: 0, Status: matrix.Invalid, Message: "withdrawn: noise", Origin: 4, Metrics: Metrics{}},
				{Phase: "load", Block: "load", Iteration: 1, Status: matrix.Invalid, Message: "withdrawn: noise", Origin: 4, Metrics: Metrics{secs(1)}},
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := fromStore(&store.Attempt{ID: 9, Status: matrix.OK, Phases: []store.Phase{tt.phase}}).Phases
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}
