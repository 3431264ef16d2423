package workload

import (
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Hooks are what a recorder calls at the ends of the measured window, so that
// counters are read exactly there.
type Hooks struct {
	Begin func(time.Time) // just before the window begins
	End   func(time.Time) // just after it has ended
}

// A Recorder collects what one iteration of a workload yields. Make it with
// NewRecorder. Its methods may be called from any goroutine; those of a Track
// only from the one that owns it.
type Recorder struct {
	hooks Hooks
	dir   string
}

// NewRecorder returns a recorder whose artifacts are files in dir, which must
// exist. With dir "" artifacts are discarded.
func NewRecorder(dir string, hooks Hooks) *Recorder { return &Recorder{hooks: hooks, dir: dir} }

// Begin starts the measured window.
func (r *Recorder) Begin() {}

// End ends the measured window. Calls after the first do nothing.
func (r *Recorder) End() {}

// Metric records one named number of the iteration: a raw sum where it is a
// count, so that rates can be computed from it.
func (r *Recorder) Metric(name, unit string, value float64) {}

// Count adds n to the metric of that name, a count.
func (r *Recorder) Count(name string, n int64) {}

// Fact records something that tells how the numbers came to be, such as the
// seed.
func (r *Recorder) Fact(name, value string) {}

// Plan keeps the server's own account of how it runs a query (EXPLAIN).
func (r *Recorder) Plan(query, text string) {}

// AddSeries adds numbers over time that the workload did not take from tracks.
func (r *Recorder) AddSeries(s Series) {}

// Artifact creates a file of that name among the artifacts of the phase.
func (r *Recorder) Artifact(name string) (io.WriteCloser, error) { return nil, nil }

// Expect tells how much there is to do in the window, for the estimate of the
// time left: so many operations of a kind, or so long. Zero is unknown.
func (r *Recorder) Expect(op string, count int64, length time.Duration) {}

// Progress returns what was done so far. It may be called at any time.
func (r *Recorder) Progress() Progress { return Progress{} }

// Result returns all that was recorded. Call it once the workload has returned.
func (r *Recorder) Result() Result { return Result{} }

// Progress is how far an iteration is.
type Progress struct {
	Phase   string        // connecting, warming up, measuring or verifying
	Op      string        // the operation that counts, such as insert
	Count   int64         // of it, so far
	Total   int64         // 0: unknown
	Elapsed time.Duration // since Begin
	Length  time.Duration // 0: unknown
}

// A Result is what one iteration yielded.
type Result struct {
	Start, End time.Time // of the window; zero where it never began, or never ended
	Metrics    []Metric  // sorted by name
	Histograms []Histogram
	Series     []Series
	Facts      []Fact
	Plans      []Plan
	Artifacts  []string // names of files in the recorder's directory
}

// A Metric is one named number.
type Metric struct {
	Name, Unit string // the unit is s, B, 1/s, count
	Value      float64
}

// A Histogram is the response times of one operation, all clients together, in
// nanoseconds.
type Histogram struct {
	Op   string
	Hist *hdrhistogram.Histogram
}

// A Series is a rate over time.
type Series struct {
	Name     string // such as ips
	Client   int    // from 1; 0 is all together
	Interval time.Duration
	Values   []float64 // the i-th is of [i, i+1) intervals after Start, per second
}

// A Fact is a named text.
type Fact struct{ Name, Value string }

// A Plan is how the server says it runs a query.
type Plan struct{ Query, Text string }
