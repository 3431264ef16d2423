package store

import (
	"context"
	"time"
)

// An Event is something that happened, with its time.
type Event struct {
	Experiment ExperimentID
	Attempt    AttemptID // 0: about the experiment as a whole
	Phase      PhaseID   // 0: outside phases
	Iteration  int       // 0: outside iterations
	At         time.Time // zero: now
	Kind       string
	Message    string
	Detail     string // evidence, such as log lines
}

// AddEvents records events at once, in one transaction.
func (s *Store) AddEvents(ctx context.Context, events ...Event) error { return errNotBuilt }

// Events returns the events of an attempt, oldest first; of attempt 0 those of
// the experiment as a whole.
func (s *Store) Events(ctx context.Context, experiment ExperimentID, attempt AttemptID) ([]Event, error) {
	return nil, errNotBuilt
}
