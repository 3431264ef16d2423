package report

import (
	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// Own is the source of what this experiment measured itself.
const Own = "own"

// An Attempt is one recorded pass through a run, or the rows of an imported file
// that describe one.
type Attempt struct {
	Source    string         // Own, or the name of the import block
	ID        int64          // identifies the attempt in the record; 0 for imports
	Cell      matrix.CellKey // as it was called then
	Levels    map[string]string
	Matrix    string
	Replicate int // from 1
	Number    int // from 1, for each cell and replicate; the highest is the newest
	Status    matrix.Status
	Message   string               // why it failed, was skipped or interrupted
	Withdrawn string               // the reason given to invalidate, else ""
	Counts    bool                 // the record says that it stands for its run
	Accepted  []matrix.Fingerprint // of the last phase, that a human let it stand for
	Stale     bool                 // an imported file says that it was made with other inputs
	Phases    []PhaseResult

	recorded []recordedPhase // by which the record knows its servers

	Facts   map[string]string // of host, build and definition
	Options []OptionOutcome   // those that did not end as asked
}

// A recordedPhase is a phase as the record knows it.
type recordedPhase struct {
	id    store.PhaseID
	block string
}

// A PhaseResult is one iteration of one phase of an attempt.
type PhaseResult struct {
	Phase       string // the name under which results are kept
	Iteration   int    // from 1; 0 is the phase as a whole
	Block       string // the phase block that ran; it differs from Phase where it continues another
	Fingerprint matrix.Fingerprint
	Status      matrix.Status
	Message     string

	// Origin is the attempt that measured the phase where a snapshot was
	// taken over, else 0. Results of one origin are one measurement.
	Origin int64

	// Record identifies the iteration in the record, where its readings over
	// time are; 0 where there are none.
	Record int64

	Metrics Metrics          // what was recorded
	Printed map[string]Value // by column token: what an imported file says

	Flags []matrix.Flag // what makes the numbers doubtful
}

// Metrics are the recorded metrics of a phase, by name. They are the record's own:
// a report of many runs has no second copy of them.
type Metrics store.Metrics

// An OptionOutcome is a server option that did not end as it was asked for.
type OptionOutcome struct {
	Name    string
	Asked   string
	InForce string
	Outcome string // adjusted, contradicted or unverifiable
}
