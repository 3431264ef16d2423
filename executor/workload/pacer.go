package workload

import (
	"math"
	"time"
)

// A Pacer says when the operations of a client are due. Its schedule is fixed
// from the start: a client that was held up catches up, and the response time
// of an operation counts from when it was due.
//
// The zero Pacer knows no rate: everything is due at once.
type Pacer struct {
	Rate float64 // items per second; 0 is no limit
	Each int64   // items of one operation, such as the rows of a batch
}

// Due returns when the n-th operation is due, counted from 0, since the start.
func (p Pacer) Due(n int64) time.Duration {
	if p.Rate <= 0 {
		return 0
	}
	// A float64 holds nanoseconds of 100 days exactly.
	due := float64(n) * float64(p.Each) / p.Rate * float64(time.Second)
	if due >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(due)
}

// Pace returns, at the given time since the start, how long to wait before the
// n-th operation and from when its response time counts.
func (p Pacer) Pace(elapsed time.Duration, n int64) (wait, intended time.Duration) {
	if p.Rate <= 0 {
		return 0, elapsed
	}
	due := p.Due(n)
	return max(0, due-elapsed), due
}
