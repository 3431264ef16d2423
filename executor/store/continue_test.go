package store

import (
	"errors"
	"strings"
	"testing"
	"time"

	"dbmatrix/matrix"
)

// broken records an attempt that is interrupted in its second phase, after
// complete iterations and one that was cut off.
func broken(t *testing.T, complete int) (*recorder, AttemptID, PhaseID) {
	t.Helper()
	s := newStore(t)
	p := plan(1, 1)
	r := record(t, s, p)
	a := r.attempt(p.Cells[0], 1)
	first := r.begin(a, p.Cells[0], 0)
	r.iteration(first, 1)
	r.finish(first, matrix.OK, "")
	id := r.begin(a, p.Cells[0], 1)
	now := time.Now()
	for n := 1; n <= complete+1; n++ {
		it := Iteration{
			Number: n, Status: matrix.OK, Began: now, Ended: now.Add(time.Duration(n) * time.Second),
			Metrics: []matrix.Metric{{Name: "queries", Unit: "count", Value: float64(100 * n)}},
			Series:  []matrix.Series{{Metric: "qps", Unit: "1/s", Readings: []matrix.Reading{{At: time.Second, Value: 1}}}},
			Flags:   []matrix.Flag{{Name: "swap", Detail: "some"}},
		}
		if n > complete {
			it.Status = matrix.Interrupted
		}
		if _, err := s.FinishIteration(r.ctx, id, it); err != nil {
			t.Fatal(err)
		}
	}
	end := PhaseEnd{Status: matrix.Interrupted, Whole: Iteration{Metrics: []matrix.Metric{{Name: "size_allocated", Unit: "B", Value: 1}}}}
	if err := s.FinishPhase(r.ctx, id, end); err != nil {
		t.Fatal(err)
	}
	r.end(a, matrix.Interrupted, "asked")
	return r, a, id
}

func TestContinueAttempt(t *testing.T) {
	r, a, id := broken(t, 2)
	b, err := r.s.BrokenPhase(r.ctx, a)
	if err != nil || b.Phase != id || b.Finished != 2 || b.Status != matrix.OK || b.Last.IsZero() {
		t.Fatalf("broken: %+v, %v", b, err)
	}
	if err := r.s.ContinueAttempt(r.ctx, b, r.run); err != nil {
		t.Fatal(err)
	}
	wantRows(t, r.s, "SELECT status FROM attempt", "running")
	wantRows(t, r.s, "SELECT number, status FROM iteration WHERE phase_id = (SELECT max(id) FROM phase) ORDER BY number", "1|ok", "2|ok")
	wantRows(t, r.s, "PRAGMA foreign_key_check")
	events, err := r.s.Events(r.ctx, r.exp, a)
	if err != nil || len(events) != 1 || events[0].Kind != "continued" || !strings.Contains(events[0].Detail, "iteration 3 was interrupted: queries = 300 count") {
		t.Errorf("events: %+v, %v", events, err)
	}
	if went, err := r.s.Continued(r.ctx, "dio"); err != nil || len(went) != 1 || !went[a] {
		t.Errorf("went on: %v, %v", went, err)
	}
	// The cut iteration and the phase as a whole are recorded again.
	if _, err := r.s.FinishIteration(r.ctx, id, Iteration{Number: 3, Status: matrix.OK}); err != nil {
		t.Error(err)
	}
	whole := Iteration{Metrics: []matrix.Metric{{Name: "size_allocated", Unit: "B", Value: 2}}}
	if err := r.s.FinishPhase(r.ctx, id, PhaseEnd{Status: matrix.OK, Whole: whole}); err != nil {
		t.Error(err)
	}
	wantRows(t, r.s, "SELECT finished, status FROM phase WHERE ordinal = 2", "3|ok")
	if err := r.s.ContinueAttempt(r.ctx, b, r.run); !errors.Is(err, ErrNotFound) {
		t.Errorf("a complete phase goes on: %v", err)
	}
}

func TestBrokenPhaseNeedsACompleteIteration(t *testing.T) {
	r, a, _ := broken(t, 0)
	if b, err := r.s.BrokenPhase(r.ctx, a); !errors.Is(err, ErrNotFound) {
		t.Errorf("broken: %+v, %v", b, err)
	}
	if _, err := r.s.BrokenPhase(r.ctx, a+1); !errors.Is(err, ErrNotFound) {
		t.Errorf("an attempt that is not there: %v", err)
	}
}
