package store

import (
	"context"
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
	return 0, errNotBuilt
}
