package store

import (
	"context"
	"time"
)

// A Fact is a named text, such as "kernel" and "6.1.0-25-amd64".
type Fact struct{ Name, Value string }

// An Epoch is a stretch of time in which the host did not change.
type Epoch struct {
	ID     EpochID
	BootID string
	Reason string // why it began, such as "first", "reboot", "accepted"
	Began  time.Time
	Facts  []Fact // in the order they were recorded
}

// BeginEpoch records that a new epoch begins.
func (s *Store) BeginEpoch(ctx context.Context, experiment ExperimentID, e Epoch) (EpochID, error) {
	return 0, errNotBuilt
}

// LastEpoch returns the newest epoch of an experiment, or ErrNotFound.
func (s *Store) LastEpoch(ctx context.Context, experiment ExperimentID) (Epoch, error) {
	return Epoch{}, errNotBuilt
}
