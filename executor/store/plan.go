package store

import (
	"context"

	"dbmatrix/matrix"
)

// RecordPlan records a plan's experiment, cells, levels and runs, all or none.
// Cells and runs of earlier plans that are not in this one stay on record,
// without a position. It must come before the first BeginAttempt of a run.
func (s *Store) RecordPlan(ctx context.Context, plan *matrix.Plan) (ExperimentID, error) {
	return 0, errNotBuilt
}

// Experiment returns the id of an experiment on a host, or ErrNotFound.
func (s *Store) Experiment(ctx context.Context, name, host string) (ExperimentID, error) {
	return 0, errNotBuilt
}
