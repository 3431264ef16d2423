package store

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"dbmatrix/matrix"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// An Iteration is what one iteration of a phase yielded.
type Iteration struct {
	Number  int // from 1, under the phase's name
	Status  matrix.Status
	Message string

	// Began and Ended are the measured window by the wall clock, for labels
	// only; zero where there was none. The metric "secs" says how long it was.
	Began, Ended time.Time

	Flags      []matrix.Flag
	Metrics    []matrix.Metric // one of a name; NaN and infinite values are an error
	Series     []matrix.Series
	Histograms []Histogram
	QueryPlans []QueryPlan
	Artifacts  []Artifact
}

// A Histogram is the response times of one operation, in nanoseconds.
type Histogram struct {
	Operation string
	Data      *hdrhistogram.Histogram
}

// A QueryPlan is how the server says it runs a query.
type QueryPlan struct{ Query, Plan string }

// FinishIteration records an iteration that ended, whatever its status, in one
// transaction with its results.
func (s *Store) FinishIteration(ctx context.Context, phase PhaseID, it Iteration) (IterationID, error) {
	what := fmt.Sprintf("iteration %d", it.Number)
	if it.Number < 1 || !finished(it.Status) {
		return 0, fmt.Errorf("recording %s: it must have a number from 1 and a final status, not %q", what, it.Status)
	}
	var id IterationID
	err := s.record(ctx, what, func(t *tx) error {
		var err error
		if id, err = addIteration(t, phase, it); err != nil {
			return err
		}
		complete := 0
		if it.Status.Complete() {
			complete = 1
		}
		return t.change("a running phase", "UPDATE phase SET finished = finished + ? WHERE id = ? AND status = 'running'", complete, phase)
	})
	return id, err
}

// empty reports whether there is nothing to record.
func (it *Iteration) empty() bool {
	return len(it.Flags)+len(it.Metrics)+len(it.Series)+len(it.Histograms)+len(it.QueryPlans)+len(it.Artifacts) == 0
}

func addIteration(t *tx, phase PhaseID, it Iteration) (IterationID, error) {
	n, err := t.insert("INSERT INTO iteration (phase_id, number, status, message, began_ns, ended_ns) VALUES (?, ?, ?, ?, ?, ?)",
		phase, it.Number, it.Status, it.Message, toUnix(it.Began), toUnix(it.Ended))
	if err != nil {
		return 0, err
	}
	id := IterationID(n)
	for _, add := range []func(*tx, PhaseID, IterationID, *Iteration) error{
		addFlags, addMetrics, addSeries, addHistograms, addQueryPlans, addIterationArtifacts,
	} {
		if err := add(t, phase, id, &it); err != nil {
			return 0, err
		}
	}
	return id, nil
}

func addFlags(t *tx, _ PhaseID, id IterationID, it *Iteration) error {
	for _, f := range it.Flags {
		if err := t.exec("INSERT INTO flag (iteration_id, name, detail) VALUES (?, ?, ?) ON CONFLICT DO NOTHING", id, f.Name, f.Detail); err != nil {
			return fmt.Errorf("flag %s: %w", f.Name, err)
		}
	}
	return nil
}

func addMetrics(t *tx, _ PhaseID, id IterationID, it *Iteration) error {
	seen := make(map[string]bool, len(it.Metrics))
	for _, m := range it.Metrics {
		if seen[m.Name] {
			return fmt.Errorf("metric %s: it is there twice", m.Name)
		}
		seen[m.Name] = true
		if math.IsNaN(m.Value) || math.IsInf(m.Value, 0) {
			return fmt.Errorf("metric %s: %v is no number", m.Name, m.Value)
		}
		name, err := internMetric(t, m.Name, m.Unit)
		if err != nil {
			return err
		}
		if err := t.exec("INSERT INTO metric (iteration_id, metric_name_id, value) VALUES (?, ?, ?)", id, name, m.Value); err != nil {
			return fmt.Errorf("metric %s: %w", m.Name, err)
		}
	}
	return nil
}

func addSeries(t *tx, _ PhaseID, id IterationID, it *Iteration) error {
	for _, series := range it.Series {
		name, err := internMetric(t, series.Metric, series.Unit)
		if err != nil {
			return err
		}
		n, err := t.insert("INSERT INTO series (iteration_id, metric_name_id, instance) VALUES (?, ?, ?)", id, name, series.Instance)
		if err != nil {
			return fmt.Errorf("series %s %s: %w", series.Metric, series.Instance, err)
		}
		if err := addReadings(t, n, series.Readings); err != nil {
			return fmt.Errorf("series %s %s: %w", series.Metric, series.Instance, err)
		}
	}
	return nil
}

// addReadings stores the readings of a series. Two in one millisecond are told
// apart by putting the second into the next one, so that sums stay right.
func addReadings(t *tx, series int64, readings []matrix.Reading) error {
	last := int64(math.MinInt64)
	for _, r := range readings {
		at := r.At.Milliseconds()
		if at <= last {
			at = last + 1
		}
		last = at
		value := sql.NullFloat64{Float64: r.Value, Valid: !math.IsNaN(r.Value) && !math.IsInf(r.Value, 0)}
		if err := t.exec("INSERT INTO reading (series_id, at_ms, value) VALUES (?, ?, ?)", series, at, value); err != nil {
			return err
		}
	}
	return nil
}

func addHistograms(t *tx, _ PhaseID, id IterationID, it *Iteration) error {
	for _, h := range it.Histograms {
		encoded, err := h.Data.EncodeV2()
		if err != nil {
			return fmt.Errorf("histogram of %s: %w", h.Operation, err)
		}
		if err := t.exec("INSERT INTO histogram (iteration_id, operation, count, encoded) VALUES (?, ?, ?, ?)",
			id, h.Operation, h.Data.TotalCount(), encoded); err != nil {
			return fmt.Errorf("histogram of %s: %w", h.Operation, err)
		}
	}
	return nil
}

func addQueryPlans(t *tx, _ PhaseID, id IterationID, it *Iteration) error {
	for _, p := range it.QueryPlans {
		if err := t.exec(`INSERT INTO query_plan (iteration_id, query, plan) VALUES (?, ?, ?)
			ON CONFLICT DO UPDATE SET plan = excluded.plan`, id, p.Query, p.Plan); err != nil {
			return fmt.Errorf("plan of a query: %w", err)
		}
	}
	return nil
}

func addIterationArtifacts(t *tx, phase PhaseID, _ IterationID, it *Iteration) error {
	if len(it.Artifacts) == 0 {
		return nil
	}
	var attempt AttemptID
	if err := t.one("SELECT attempt_id FROM phase WHERE id = ?", []any{phase}, &attempt); err != nil {
		return orNotFound(err)
	}
	for _, a := range it.Artifacts {
		a.Phase = phase
		if err := addArtifact(t, attempt, a); err != nil {
			return err
		}
	}
	return nil
}
