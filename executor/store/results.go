package store

import (
	"context"
	"time"

	"dbmatrix/matrix"
)

// A Selection says which attempts of an experiment are asked for. The zero value
// asks for those of all hosts that count, or, where none of a run counts, for its
// newest.
type Selection struct {
	Host string           // machine id; "" is all
	Cell []matrix.CellKey // nil is all
	All  bool             // superseded, failed and withdrawn attempts too
}

// An Attempt is one recorded pass through a run with its results.
type Attempt struct {
	ID          AttemptID
	Host        string
	Cell        matrix.CellKey // as it was called then
	Levels      []matrix.CellLevel
	Matrix      string
	Replicate   int
	Number      int
	Fingerprint matrix.Fingerprint // of its last phase
	Status      matrix.Status      // Running while it is under way
	Message     string
	Began       time.Time
	Ended       time.Time // zero while it is under way
	Epoch       EpochID   // 0: none

	Counts    bool                 // its results stand: the newest complete one that was not withdrawn
	Withdrawn string               // the reason, else ""
	Accepted  []matrix.Fingerprint // that somebody lets it stand for, newest last

	Phases []Phase // in the order they ran
}

// A Phase is a recorded phase. One that was taken over with a snapshot has the
// iterations of where it was measured.
type Phase struct {
	ID            PhaseID
	Block         string // the phase block that ran
	Name          string // under which results are kept
	Workload      string
	Fingerprint   matrix.Fingerprint
	Status        matrix.Status
	Message       string
	Stage         string // what a running phase is at
	Planned       int    // iterations that it is to have
	Began         time.Time
	Ended         time.Time
	Seconds       float64
	SettleSeconds float64
	Bytes         int64

	// From is the attempt that measured the phase, 0 where this one did.
	// FromWithdrawn is the reason where that one was withdrawn.
	From          AttemptID
	FromWithdrawn string

	Iterations []IterationResult // finished ones, by number; 0 is the phase as a whole
}

// Iteration returns the iteration of that number, or nil.
func (p *Phase) Iteration(number int) *IterationResult {
	for i := range p.Iterations {
		if p.Iterations[i].Number == number {
			return &p.Iterations[i]
		}
	}
	return nil
}

// An IterationResult is a recorded iteration.
type IterationResult struct {
	ID      IterationID
	Number  int
	Status  matrix.Status
	Message string
	Began   time.Time // zero where there was no window
	Ended   time.Time
	Flags   []matrix.Flag
	Metrics Metrics
}

// Metrics are recorded numbers by name, without order.
type Metrics map[string]Value

// A Value is a number and its unit.
type Value struct {
	Number float64
	Unit   string
}

// Results returns the selected attempts of an experiment with all their metrics,
// in the order of the plan recorded last (cells that are not in it come last),
// then by replicate and number. It takes a fixed number of queries.
func (s *Store) Results(ctx context.Context, experiment string, sel Selection) ([]Attempt, error) {
	return nil, errNotBuilt
}
