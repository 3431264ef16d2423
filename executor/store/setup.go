package store

import (
	"context"
	"time"

	"dbmatrix/matrix"
)

// A Setup is what setup commands are about to do, with the commands that undo it.
type Setup struct {
	ID        SetupID // set by the store
	Attempt   AttemptID
	Cell      matrix.CellKey // set by the store
	Replicate int            // set by the store
	Phase     string         // "" where it is of the run
	Dir       string         // in which the teardown runs
	Env       []string       // that it runs with, as "NAME=value"
	Teardown  [][]string     // argument lists
	Began     time.Time      // set by the store
}

// BeginSetup records that setup commands are about to run.
func (s *Store) BeginSetup(ctx context.Context, setup Setup) (SetupID, error) {
	return 0, errNotBuilt
}

// EndSetup records that the teardown has run.
func (s *Store) EndSetup(ctx context.Context, id SetupID) error { return errNotBuilt }

// OpenSetups returns what is still to be undone, newest first, which is the order
// to undo it in.
func (s *Store) OpenSetups(ctx context.Context, experiment ExperimentID) ([]Setup, error) {
	return nil, errNotBuilt
}
