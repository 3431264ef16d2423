package sampler

import (
	"context"
	"errors"
	"time"

	"dbmatrix/matrix"
)

var errNotBuilt = errors.New("not built yet")

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

	// End says that the number is read at the ends of a window only, so
	// that it has no series.
	End bool
}

// A Sampler is a source of numbers over time.
type Sampler interface {
	// Name tells the source in messages, such as "device vda".
	Name() string

	// Begin prepares a window that begins just after, such as by resetting
	// a peak. It returns flags that hold for the whole window.
	Begin(ctx context.Context) ([]matrix.Flag, error)

	// Read returns the numbers of this moment. atEnd says that the window
	// ends, so that numbers which are costly to read are wanted too. A
	// metric that cannot be read now is left out.
	Read(ctx context.Context, atEnd bool) ([]Sample, error)
}

// A Result is what was sampled in a window.
type Result struct {
	Elapsed time.Duration // by the monotonic clock
	Metrics []matrix.Metric
	Series  []matrix.Series
	Flags   []matrix.Flag
}

// A Window is a stretch of time that is being sampled.
type Window struct{}

// Begin reads all sources and begins to sample them each interval; 0 stands for
// a second. End must be called, also where the workload failed. A source that
// cannot be read now is an error.
func Begin(ctx context.Context, interval time.Duration, sources ...Sampler) (*Window, error) {
	return nil, errNotBuilt
}

// End reads all sources again, first of all, and returns what was sampled since
// Begin. Faults of a source in between are flags of the result.
func (w *Window) End(ctx context.Context) (Result, error) { return Result{}, errNotBuilt }
