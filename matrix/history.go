package matrix

// A History is what was measured before, as the plan needs to know it. The
// store makes it with few queries, whatever the number of runs.
type History struct {
	Attempts  []Attempt // all of them, oldest first
	Snapshots []Snapshot

	// Inputs returns the stored inputs of a fingerprint, nil where there
	// are none. Plan calls it only to say why a run is stale.
	Inputs func(Fingerprint) ([]Input, error)
}

// An Attempt is one recorded pass through a run.
type Attempt struct {
	ID        int64
	Cell      CellKey // as it was called then
	Replicate int
	Number    int // from 1, for each cell and replicate
	Host      string
	Status    Status      // the worst of its phases
	Message   string      // why it failed, was skipped or interrupted
	Withdrawn string      // the reason given to invalidate, else ""
	Accepted  Fingerprint // of the last phase that a human let it stand for, else ""
	Phases    []PastPhase // in the order they ran

	// Kept are the states that data directories which the attempt left are
	// in, each by its last complete phase; "" is the state before the first.
	Kept []Fingerprint
}

// A PastPhase is a recorded phase of an attempt.
type PastPhase struct {
	Block       string
	Fingerprint Fingerprint
	Iterations  int // finished iterations, the workload's own steps included
	Status      Status
	Message     string
	Seconds     float64 // wall time, start and settle included
	Bytes       uint64  // allocated size of the data at its end
	FromID      int64   // the attempt that measured it, where it was taken from a snapshot; else 0
}

// A Snapshot is a kept copy of a data directory.
type Snapshot struct {
	Fingerprint Fingerprint
	Replicate   int
	Bytes       uint64
	Path        string
	Attempt     int64 // that made it
}
