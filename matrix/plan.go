package matrix

import "time"

// A Plan is the ordered runs of an experiment with the reason for each.
type Plan struct {
	Experiment *Experiment
	Host       Host
	Cells      []*Cell
	Runs       []*Run

	// Gone are recorded results that no run of the plan stands for.
	Gone []GoneRun

	Summary Summary
}

// A Run is one cell and replicate at a position in the plan. (Other word:
// trial.) Each pass through it is an attempt.
type Run struct {
	Position  int // from 1
	Cell      *Cell
	Replicate int // from 1
	Status    Status
	Reason    string // a sentence without the full stop
	Phases    []RunPhase

	// Attempt is the recorded attempt that the status comes from, 0 where
	// there is none. Another name of the cell may stand in it.
	Attempt int64
}

// A RunPhase is one phase of a run, as the plan sees it.
type RunPhase struct {
	Phase       *Phase
	Fingerprint Fingerprint // "" where the build is not on this host
	Status      Status
	Reason      string

	// SharedWith are the cells that go on from one snapshot of this phase,
	// this one among them; nil where it has no company.
	SharedWith []CellKey

	// Continues says that the phase goes on at its next iteration, in the data
	// directory that the run's attempt left.
	Continues bool

	// From is the position of the run that measures the phase and leaves a
	// snapshot for this one; 0 where the run executes it itself, or a
	// snapshot is there already (then Status is Done).
	From int

	// Seconds and Bytes are what the phase is expected to take, from the
	// experiment's own history or declared durations; 0 is unknown.
	Seconds float64
	Bytes   uint64
	Basis   Basis
}

// A GoneRun is a recorded run that is no longer in the plan.
type GoneRun struct {
	Cell      CellKey
	Replicate int
}

// A Summary counts a plan.
type Summary struct {
	Cells                int
	Runs                 int
	ByStatus             map[Status]int
	PhasesToRun          int
	PhasesWithoutSharing int
	Duration             time.Duration
	DurationKnown        bool // every phase to run has an estimate
	PeakBytes            uint64
	PeakKnown            bool // of every run to execute something is known of its data
}

// A Status says what became of a run or phase, or what the plan will do with it.
type Status string

// Statuses that the plan gives.
const (
	New     Status = "new"     // nothing recorded that stands
	Done    Status = "done"    // recorded, and stands
	TopUp   Status = "top-up"  // recorded, but more iterations are asked for
	Rebuild Status = "rebuild" // recorded, executed again because its state is needed and gone
	Stale   Status = "stale"   // recorded with other inputs
	Gone    Status = "gone"    // recorded, no longer in the plan
)

// Statuses that an executed phase ends with.
const (
	OK          Status = "ok"
	Failed      Status = "failed"
	TimedOut    Status = "timeout"
	Hung        Status = "hung"
	Crashed     Status = "crashed"
	SLAMissed   Status = "sla_missed"
	Invalid     Status = "invalid"
	Interrupted Status = "interrupted"
	Skipped     Status = "skipped" // of a run
)

// Failure reports whether the status is one of the five that `run` takes up
// only when told to.
func (s Status) Failure() bool {
	switch s {
	case Failed, TimedOut, Hung, Crashed, Invalid:
		return true
	}
	return false
}

// Complete reports whether a phase that ended so has a result that stands.
func (s Status) Complete() bool { return s == OK || s == SLAMissed }

// A Host is the machine that a plan is made for.
type Host struct {
	ID     string // machine id
	CPUs   int
	Memory int // whole GiB
}
