package store

import (
	"context"

	"dbmatrix/matrix"
)

// A PhaseStart is what is known when a phase begins.
type PhaseStart struct {
	Attempt     AttemptID
	Ordinal     int // among the attempt's phases, from 1
	Phase       *matrix.Phase
	Fingerprint matrix.Fingerprint
}

// BeginPhase records that a phase begins, and the inputs of its fingerprint.
func (s *Store) BeginPhase(ctx context.Context, p PhaseStart) (PhaseID, error) {
	return 0, errNotBuilt
}

// TakePhase records that an attempt goes on from the state after a phase that
// another attempt measured, so that the phase is not executed again. It is
// ErrNotFound where that attempt has no finished phase of the fingerprint.
func (s *Store) TakePhase(ctx context.Context, p PhaseStart, from AttemptID) (PhaseID, error) {
	return 0, errNotBuilt
}

// SetStage records what a running phase is at, such as "starting", "measuring"
// or "settling".
func (s *Store) SetStage(ctx context.Context, id PhaseID, stage string) error { return errNotBuilt }

// A PhaseEnd is how a phase ended.
type PhaseEnd struct {
	Status        matrix.Status
	Message       string
	Seconds       float64 // wall time, start, warm-up and settle included
	SettleSeconds float64
	Bytes         int64 // allocated size of the data; 0 where there is none

	// Whole is what was measured of the phase as a whole, such as sizes at
	// its end. It is recorded as iteration 0; its Number and Status are not
	// looked at.
	Whole Iteration
}

// FinishPhase records the end of a phase, in one transaction with what was
// measured of it as a whole.
func (s *Store) FinishPhase(ctx context.Context, id PhaseID, end PhaseEnd) error { return errNotBuilt }

// An Option is one requested server option and what became of it.
type Option struct {
	Name    string
	Asked   string // as written in the option file
	InForce string // as the server tells it
	Unknown bool   // nothing tells what is in force
	Verdict string // verified, adjusted, contradicted or unverifiable
	Granule bool   // adjusted only by rounding to the server's own unit
	Varied  bool   // an axis, a matrix or a phase sets it
	Origin  string // the places that set it, one a line
	Detail  string
}

// AddOptions records what became of the options that a server was started with,
// with the phase that it was started for.
func (s *Store) AddOptions(ctx context.Context, id PhaseID, options []Option) error {
	return errNotBuilt
}

// AddVariables records all variables of the server that a phase was started with.
func (s *Store) AddVariables(ctx context.Context, id PhaseID, variables []Fact) error {
	return errNotBuilt
}
