package store

import (
	"context"
	"time"

	"dbmatrix/matrix"
)

// A Runner is a process that executes a plan.
type Runner struct {
	Experiment ExperimentID
	Version    string // of dbmatrix
	Command    string // its command line
	PID        int
	StartTicks uint64 // field 22 of /proc/PID/stat, which tells it from a later process of that pid
	BootID     string
	Began      time.Time // set by the store
}

// An Interruption is an attempt that an earlier runner left unfinished.
type Interruption struct {
	Attempt   AttemptID
	Cell      matrix.CellKey
	Replicate int
	Number    int
	Phase     string        // that was under way; "" where none was
	Status    matrix.Status // that it has now
}

// BeginRunner records that a process begins to execute a plan, and ends what
// earlier runners of the experiment left: each attempt and phase still running
// whose runner is not alive becomes interrupted, except that an attempt whose
// phases had all ended gets the worst of their statuses. It returns those
// attempts. alive is asked about each earlier runner that did not end.
func (s *Store) BeginRunner(ctx context.Context, r Runner, alive func(Runner) bool) (RunnerID, []Interruption, error) {
	return 0, nil, errNotBuilt
}

// EndRunner records that a runner is done.
func (s *Store) EndRunner(ctx context.Context, id RunnerID) error { return errNotBuilt }
