package insertbench

import (
	"time"

	"dbmatrix/executor/workload"
	"dbmatrix/executor/workload/client"
)

// A schedule says when the next statement of a connection is due, and whether
// there is to be another.
type schedule struct {
	recorder *workload.Recorder
	pacer    workload.Pacer
	length   time.Duration // of the step; 0 where rows end it
	abreast  abreast
	sent     int64 // statements
}

// next waits until the next statement is due and returns from when its response
// time counts. It reports false where there is none: it would be due when the
// time is over, or the run was stopped. One that is late is sent as long as
// there is time.
func (s *schedule) next(gate *client.Gate) (intended time.Duration, more bool) {
	elapsed := s.recorder.Elapsed()
	if s.length > 0 && (elapsed >= s.length || s.pacer.Due(s.sent) >= s.length) {
		return 0, false
	}
	wait, intended := s.pacer.Pace(elapsed, s.sent)
	gate.Sleep(wait)
	if gate.Stopped() || !s.abreast.step(gate) {
		return 0, false
	}
	s.sent++
	return intended, true
}

// begin returns from when the response time of a statement counts that is now
// ready: without a rate to keep, making it and waiting for others is no
// response time.
func (s *schedule) begin(intended time.Duration) time.Duration {
	if s.pacer.Rate > 0 {
		return intended
	}
	return s.recorder.Elapsed()
}

// maxLead is how many statements the inserts of a client may be ahead of its
// deletes, and these ahead of those. The original's queues have that length.
const maxLead = 8

// abreast keeps two connections within maxLead statements of each other. The
// zero value has no partner and never waits.
type abreast struct {
	mine  <-chan struct{} // steps that the partner allows
	other chan<- struct{}
}

// newAbreast returns both sides.
func newAbreast() (one, two abreast) {
	// Neither can be ahead by more than maxLead, so no more steps than
	// twice that are allowed and not yet taken.
	a, b := make(chan struct{}, 2*maxLead), make(chan struct{}, 2*maxLead)
	for range maxLead {
		a <- struct{}{}
		b <- struct{}{}
	}
	return abreast{a, b}, abreast{b, a}
}

// step waits until the partner is near enough. It reports false where the run
// was stopped.
func (a abreast) step(gate *client.Gate) bool {
	if a.mine == nil {
		return true
	}
	select {
	case <-a.mine:
	case <-gate.Done():
		return false
	}
	select {
	case a.other <- struct{}{}:
	default: // the partner has left, and takes no more
	}
	return true
}

// leave lets the partner go on alone.
func (a abreast) leave() {
	if a.other != nil {
		close(a.other)
	}
}
