package matrix

import "time"

// A Metric is one named, typed result of a phase or of one of its iterations.
// Values are raw sums, not rates, in the unit's base: "s" for seconds, "B" for
// bytes, "count", "1/s".
type Metric struct {
	Name  string
	Unit  string
	Value float64
}

// A Reading is one number at one time.
type Reading struct {
	// At is the time since the measured window began, by a monotonic clock.
	At time.Duration

	// Value is the number. NaN marks a gap: the source gave no number that
	// could be trusted.
	Value float64
}

// A Series is the readings of one metric from one source, oldest first. For a
// counter each reading is the increase since the reading before (the first:
// since the window began), so that the sum of a series is the metric.
type Series struct {
	Metric   string
	Unit     string
	Instance string // which of several sources, such as "client 3"; "" where there is one
	Readings []Reading
}

// A Flag marks a result that a reader must not take at face value, such as
// "swap": tables show it as a footnote.
type Flag struct {
	Name   string
	Detail string // a sentence without the full stop
}
