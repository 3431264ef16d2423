package workload

import (
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// An Operation is a kind of thing that clients do again and again.
type Operation struct {
	Name string // in lat_<name>_p99, such as insert

	// Calls and Items name the metrics that count the operations and what
	// they did: inserts and rows_inserted. Either may be empty.
	Calls, Items string

	// Rate is the prefix of the percentiles of interval rates, such as ips;
	// empty is none. The rate is of items, or of calls where Items is empty.
	Rate string
}

// Bounds and precision of response times, in nanoseconds. A time above the
// highest is recorded as the highest.
const (
	lowestLatency  = 100
	highestLatency = int64(time.Hour)
	latencyDigits  = 3
)

// A Track is what one client does of one operation. Only the goroutine of that
// client may use it.
type Track struct {
	// live is read by Progress while the client works. It stands on a cache
	// line of its own, so that clients do not slow each other down.
	_    [64]byte
	live atomic.Int64
	_    [64]byte

	op     *operation
	client int

	calls, items int64
	each         []Tally // of each interval
	finished     time.Duration
	sum          float64 // of response times, ns
	longest      int64
	hist         *hdrhistogram.Histogram
}

// A Tally is what a client did of an operation in one interval. An operation
// counts in the interval in which it ended.
type Tally struct {
	Done    int64         // items, or calls where the operation has no items
	Longest time.Duration // response time
	Retries int64         // how often a statement was sent again
}

// Done records an operation that was due at intended and has ended at end, both
// since Begin, and did so many items.
func (t *Track) Done(items int64, intended, end time.Duration) {
	t.calls++
	t.items += items
	rated := items
	if t.op.Items == "" {
		rated = 1
	}
	latency := max(0, int64(end-intended))
	tally := t.at(end)
	tally.Done += rated
	tally.Longest = max(tally.Longest, time.Duration(latency))
	t.live.Add(rated)

	t.sum += float64(latency)
	t.longest = max(t.longest, latency)
	// The value lies within the bounds, so there is no error to be had.
	_ = t.hist.RecordValue(min(latency, highestLatency))
}

// Retried records that a statement was sent again so many times, until a time
// since Begin.
func (t *Track) Retried(times int64, end time.Duration) { t.at(end).Retries += times }

// at returns the tally of the interval of a time since Begin.
func (t *Track) at(end time.Duration) *Tally {
	i := int(end / Interval)
	for i >= len(t.each) {
		t.each = append(t.each, Tally{})
	}
	return &t.each[i]
}

// Finish says that the client has done all it had to, at a time since Begin. Its
// rates are of the whole intervals before that; of a client that never says so
// they are of those before End.
func (t *Track) Finish(end time.Duration) { t.finished = end }

// Tallies returns those of the whole intervals before end in which the client was
// at work. What was done in the last, partial one is in none: its rate would be
// too low. A nil track has none.
func (t *Track) Tallies(end time.Duration) []Tally {
	if t == nil {
		return nil
	}
	if t.finished > 0 {
		end = min(end, t.finished)
	}
	tallies := make([]Tally, int(end/Interval))
	copy(tallies, t.each)
	return tallies
}

// rates returns the client's rates in the whole intervals before end.
func (t *Track) rates(end time.Duration) []float64 {
	tallies := t.Tallies(end)
	rates := make([]float64, len(tallies))
	for i, tally := range tallies {
		rates[i] = float64(tally.Done) / Interval.Seconds()
	}
	return rates
}
