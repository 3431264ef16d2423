package executor

import (
	"time"

	"dbmatrix/matrix"
)

// An Event is something that happened while a plan was executed. Consumers make
// lines or bars of it; nothing of the result is only in an event.
type Event struct {
	Kind EventKind
	Time time.Time

	Run       *matrix.Run   // nil where the event is about the plan as a whole
	Phase     *matrix.Phase // nil outside phases
	Iteration int           // 0 outside iterations
	Attempt   int           // number of the attempt, from 1; 0 outside runs

	Status  matrix.Status // of RunEnd, PhaseEnd and IterationEnd
	Message string        // a sentence without the full stop
	Details []string      // evidence: paths, log lines, next steps
	Took    time.Duration // of the ends
	Live    Live          // of Progress
}

// An EventKind says what an event tells.
type EventKind int

// Kinds of events, in the order in which they come.
const (
	PlanStart      EventKind = iota // the first pending run comes next
	Recovered                       // something that an earlier runner left behind was dealt with
	RunStart                        // an attempt begins
	Step                            // a step around the phases: init, copy, start, stop
	PhaseStart                      // a phase begins
	IterationStart                  // the measured window of an iteration begins
	Progress                        // the state of the iteration under way, about once a second
	IterationEnd                    // results of the iteration are committed
	PhaseEnd                        // the phase is over
	Notice                          // something worth knowing that fails nothing
	Failure                         // a run failed: message, log tail, paths, next step
	RunEnd                          // the attempt is over
	Finishing                       // the plan ends early, after what is under way
	PlanEnd                         // nothing more is executed
)

// Live is how far an iteration is.
type Live struct {
	Done    uint64  // work done so far, in the workload's own unit
	Total   uint64  // work that will be done; 0 is unknown
	Rate    float64 // work per second, over the last second
	Unit    string  // such as "rows" or "queries"
	Elapsed time.Duration
	Expect  time.Duration // how long the iteration is expected to take; 0 is unknown
}

// Remaining returns how long the iteration still takes, and whether that is
// known. Work that is counted tells it better than an earlier duration.
func (l Live) Remaining() (time.Duration, bool) {
	if l.Total > 0 && l.Done > 0 && l.Done <= l.Total {
		left := float64(l.Total-l.Done) / float64(l.Done)
		return time.Duration(left * float64(l.Elapsed)), true
	}
	if l.Expect > 0 {
		return max(0, l.Expect-l.Elapsed), true
	}
	return 0, false
}
