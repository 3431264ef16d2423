package report

import "dbmatrix/matrix"

// Own is the source of what this experiment measured itself.
const Own = "own"

// An Attempt is one recorded pass through a run, or the rows of an imported file
// that describe one.
type Attempt struct {
	Source    string         // Own, or the name of the import block
	ID        int64          // identifies the attempt in the store; 0 for imports
	Cell      matrix.CellKey // as it was called then
	Levels    map[string]string
	Matrix    string
	Replicate int // from 1
	Number    int // from 1, for each cell and replicate; the highest is the newest
	Status    matrix.Status
	Message   string // why it failed, was skipped or interrupted
	Withdrawn string // the reason given to invalidate, else ""
	Accepted  bool   // a human let it stand although it is stale
	Phases    []PhaseResult

	Facts     map[string]string // of host, build and definition
	Variables map[string]string // server variables in force, by name
	Options   []OptionOutcome   // those that did not end as asked
}

// A PhaseResult is one iteration of one phase of an attempt.
type PhaseResult struct {
	Phase       string // the name under which results are kept
	Iteration   int    // from 1
	Block       string // the phase block that ran; it differs from Phase where it continues another
	Fingerprint matrix.Fingerprint
	Status      matrix.Status
	Message     string

	// Origin is the attempt that measured the phase where a snapshot was
	// taken over, else 0. Results of one origin are one measurement.
	Origin int64

	Metrics Metrics          // what was recorded
	Printed map[string]Value // by column token: what an imported file says

	// Doubts are what makes the numbers doubtful (swap, steal, a partial
	// interval, an interruption ...), as sentences without the full stop.
	Doubts []string
}

// Metrics are the recorded metrics of a phase, by name, in base units.
type Metrics map[string]Metric

// A Metric is one recorded number and its unit, such as "s", "B" or "count".
type Metric struct {
	Value float64
	Unit  string
}

// An OptionOutcome is a server option that did not end as it was asked for.
type OptionOutcome struct {
	Name    string
	Asked   string
	InForce string
	Outcome string // adjusted, contradicted or unverifiable
}
