package sampler

import (
	"context"

	"dbmatrix/matrix"
)

// A Kind says how a number is to be read.
type Kind int

// Kinds of numbers.
const (
	Counter Kind = iota // grows; the metric is its increase
	Gauge               // a state; the metric is its value at the end
	Peak                // a state; the metric is the highest value seen
)

// A Sample is one number of a source at one moment.
type Sample struct {
	Metric string
	Unit   string
	Kind   Kind
	Value  float64

	// Reset says of a counter that it began anew since the read before, so
	// that its increase is unknown.
	Reset bool
}

// A Sampler is a source of numbers over time. It is used by one goroutine at a
// time.
type Sampler interface {
	// Name tells the source in messages, such as "device vda".
	Name() string

	// Begin prepares a window that begins just after, such as by resetting
	// a peak.
	Begin(ctx context.Context) error

	// Read returns the numbers of this moment. edge says that a window
	// begins or ends here, so that they must be exact even if that takes
	// longer. A metric that cannot be read now is left out.
	Read(ctx context.Context, edge bool) ([]Sample, error)

	// End returns numbers that are too costly to be read more than once,
	// and what makes numbers doubtful. It is called after the last read.
	End(ctx context.Context) ([]Sample, []matrix.Flag, error)
}
