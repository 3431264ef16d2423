package store

import (
	"context"

	"dbmatrix/matrix"
)

// History returns what was measured of an experiment, for the plan: the attempts
// of all hosts that have ended, oldest first (matrix.Attempt.Host says where),
// those under way as interrupted, and the snapshots that are on this host. It
// takes a fixed number of queries. An experiment that was never recorded has an
// empty history.
func (s *Store) History(ctx context.Context, experiment, host string) (matrix.History, error) {
	return matrix.History{}, errNotBuilt
}

// Inputs returns the stored inputs of a fingerprint sorted by name, nil where
// there are none.
func (s *Store) Inputs(ctx context.Context, fp matrix.Fingerprint) ([]matrix.Input, error) {
	return nil, errNotBuilt
}
