package store

import (
	"context"

	"dbmatrix/matrix"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// A Detail is all that is recorded of one attempt beside its results.
type Detail struct {
	Facts     []Fact               // sorted by name
	Options   map[PhaseID][]Option // sorted by name; only phases that a server was started for
	Variables map[PhaseID][]Fact   // sorted by name; likewise
	Events    []Event              // oldest first
	Artifacts []Artifact           // sorted by path
}

// Detail returns all that is recorded of an attempt beside its results.
func (s *Store) Detail(ctx context.Context, id AttemptID) (*Detail, error) {
	return nil, errNotBuilt
}

// Facts returns the facts of all attempts of an experiment, each sorted by name.
func (s *Store) Facts(ctx context.Context, experiment string) (map[AttemptID][]Fact, error) {
	return nil, errNotBuilt
}

// Options returns the options of all attempts of an experiment that did not end
// as verified, or with all those too.
func (s *Store) Options(ctx context.Context, experiment string, all bool) (map[PhaseID][]Option, error) {
	return nil, errNotBuilt
}

// Variables returns the server variables in force of all attempts of an
// experiment that count, by the phase that the server was started for. Equal
// texts are stored once, so that many runs take little memory.
func (s *Store) Variables(ctx context.Context, experiment string) (map[PhaseID][]Fact, error) {
	return nil, errNotBuilt
}

// Series returns the recorded series of an iteration, of the named metrics or,
// with none named, of all.
func (s *Store) Series(ctx context.Context, id IterationID, metrics ...string) ([]matrix.Series, error) {
	return nil, errNotBuilt
}

// Histograms returns the response times of an iteration by operation, in
// nanoseconds.
func (s *Store) Histograms(ctx context.Context, id IterationID) (map[string]*hdrhistogram.Histogram, error) {
	return nil, errNotBuilt
}

// QueryPlans returns how the server said it runs the queries of an iteration.
func (s *Store) QueryPlans(ctx context.Context, id IterationID) ([]QueryPlan, error) {
	return nil, errNotBuilt
}
