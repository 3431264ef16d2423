package store

import (
	"context"

	"dbmatrix/matrix"
)

// Running is the status of attempts and phases that are under way.
const Running matrix.Status = "running"

// An AttemptStart is what is known when an attempt begins.
type AttemptStart struct {
	Experiment  ExperimentID
	Runner      RunnerID
	Epoch       EpochID // 0: none
	Cell        matrix.CellKey
	Replicate   int
	Fingerprint matrix.Fingerprint // of the last phase that it is to execute
	Phases      int                // how many it is to execute or take over
}

// BeginAttempt records that a pass through a run begins, and returns its id and
// its number among the attempts of that run, from 1.
func (s *Store) BeginAttempt(ctx context.Context, a AttemptStart) (AttemptID, int, error) {
	return 0, 0, errNotBuilt
}

// FinishAttempt records how an attempt ended: with a final status, and a message
// where it is not ok.
func (s *Store) FinishAttempt(ctx context.Context, id AttemptID, status matrix.Status, message string) error {
	return errNotBuilt
}

// SkipRun records an attempt that was not made, with the reason.
func (s *Store) SkipRun(ctx context.Context, a AttemptStart, reason string) (AttemptID, error) {
	return 0, errNotBuilt
}

// AddFacts records facts of an attempt. A name may have several values.
func (s *Store) AddFacts(ctx context.Context, id AttemptID, facts []Fact) error {
	return errNotBuilt
}

// Withdraw takes an attempt's results back, for a reason. They stay on record.
func (s *Store) Withdraw(ctx context.Context, id AttemptID, reason, by string) error {
	return errNotBuilt
}

// Accept records that somebody lets an attempt stand for the fingerprint of the
// last phase that its run has now.
func (s *Store) Accept(ctx context.Context, id AttemptID, fp matrix.Fingerprint, reason, by string) error {
	return errNotBuilt
}
