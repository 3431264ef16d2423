package store

import (
	"context"
	"time"

	"dbmatrix/matrix"
)

// A Snapshot is a kept copy of a data directory.
type Snapshot struct {
	Experiment  ExperimentID
	Fingerprint matrix.Fingerprint
	Replicate   int
	Attempt     AttemptID // that made it
	Path        string    // absolute
	Bytes       int64     // allocated
	Made        time.Time // set by the store
}

// AddSnapshot records a snapshot that is complete on disk.
func (s *Store) AddSnapshot(ctx context.Context, snapshot Snapshot) error { return errNotBuilt }

// RemoveSnapshot records that the snapshot at path is not there any more. Call
// it before the files are removed.
func (s *Store) RemoveSnapshot(ctx context.Context, path string) error { return errNotBuilt }

// Snapshots returns the snapshots that are there, oldest first.
func (s *Store) Snapshots(ctx context.Context, experiment ExperimentID) ([]Snapshot, error) {
	return nil, errNotBuilt
}
