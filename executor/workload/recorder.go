package workload

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Hooks are what a recorder calls at the ends of the measured window, so that
// counters are read exactly there.
type Hooks struct {
	Begin func(time.Time) // just before the window begins
	End   func(time.Time) // just after it has ended, with its end
}

// A Recorder collects what one iteration of a workload yields. Make it with
// NewRecorder. Its methods may be called from any goroutine; those of a Track
// only from the one that owns it.
type Recorder struct {
	hooks Hooks
	dir   string

	start    atomic.Pointer[time.Time] // nil before Begin
	advanced atomic.Int64

	mu          sync.Mutex
	end         time.Time
	stage       Stage
	firstClient bool
	expected    expectation
	operations  []*operation
	metrics     map[string]Metric
	histograms  []Histogram
	series      []Series
	facts       []Fact
	plans       []Plan
	artifacts   []string
}

// An operation holds the tracks of one kind.
type operation struct {
	Operation
	tracks []*Track
}

type expectation struct {
	op     string
	count  int64
	length time.Duration
}

// NewRecorder returns a recorder whose artifacts are files in dir, which must
// exist. With dir "" artifacts are discarded.
func NewRecorder(dir string, hooks Hooks) *Recorder {
	return &Recorder{hooks: hooks, dir: dir, stage: Preparing, metrics: map[string]Metric{}}
}

// Begin starts the measured window.
func (r *Recorder) Begin() {
	if r.hooks.Begin != nil {
		r.hooks.Begin(time.Now())
	}
	r.Stage(Measuring)
	start := time.Now()
	r.start.Store(&start)
}

// End ends the measured window. Calls after the first do nothing.
func (r *Recorder) End() {
	now := time.Now()
	r.mu.Lock()
	first := r.end.IsZero()
	if first {
		r.end, r.stage = now, Verifying
	}
	r.mu.Unlock()
	if first && r.hooks.End != nil {
		r.hooks.End(now)
	}
}

// Elapsed returns the time since Begin, 0 before it.
func (r *Recorder) Elapsed() time.Duration {
	start := r.start.Load()
	if start == nil {
		return 0
	}
	return time.Since(*start)
}

// Track returns the record of what a client, counted from 1, does of an
// operation. The operation is known by its name; a client asks once.
func (r *Recorder) Track(o Operation, client int) *Track {
	t := &Track{client: client, hist: hdrhistogram.New(lowestLatency, highestLatency, latencyDigits)}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, known := range r.operations {
		if known.Name == o.Name {
			t.op = known
		}
	}
	if t.op == nil {
		t.op = &operation{Operation: o}
		r.operations = append(r.operations, t.op)
	}
	t.op.tracks = append(t.op.tracks, t)
	return t
}

// OnlyFirstClient makes the percentiles of interval rates those of client 1, as
// the insert benchmark's own scripts have them, in place of all clients pooled.
func (r *Recorder) OnlyFirstClient() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.firstClient = true
}

// Metric records one named number of the iteration: a raw sum where it is a
// count, so that rates can be computed from it.
func (r *Recorder) Metric(name, unit string, value float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.metrics[name] = Metric{name, unit, value}
}

// Count adds n to the metric of that name, a count. With n = 0 the metric is
// there, and 0.
func (r *Recorder) Count(name string, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.metrics[name] = Metric{name, UnitCount, r.metrics[name].Value + float64(n)}
}

// Fact records something that tells how the numbers came to be, such as the
// seed. A later fact of the same name replaces it.
func (r *Recorder) Fact(name, value string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.facts = slices.DeleteFunc(r.facts, func(f Fact) bool { return f.Name == name })
	r.facts = append(r.facts, Fact{name, value})
}

// Plan keeps the server's own account of how it runs a query (EXPLAIN).
func (r *Recorder) Plan(query, text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.plans = append(r.plans, Plan{query, text})
}

// AddSeries adds numbers over time that the workload did not take from tracks.
func (r *Recorder) AddSeries(s Series) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.series = append(r.series, s)
}

// AddHistogram adds response times that the workload did not take from tracks.
func (r *Recorder) AddHistogram(h Histogram) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.histograms = append(r.histograms, h)
}

// Artifact creates a file of that name among the artifacts of the phase. The
// caller closes it.
func (r *Recorder) Artifact(name string) (io.WriteCloser, error) {
	if r.dir == "" {
		return discard{}, nil
	}
	if name != filepath.Base(name) {
		return nil, fmt.Errorf("artifact %q: the name of a file is wanted, without a folder", name)
	}
	f, err := os.Create(filepath.Join(r.dir, name))
	if err != nil {
		return nil, fmt.Errorf("creating artifact: %w", err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !slices.Contains(r.artifacts, name) {
		r.artifacts = append(r.artifacts, name)
	}
	return f, nil
}

// WriteArtifact creates a file of that name with that content.
func (r *Recorder) WriteArtifact(name, content string) error {
	w, err := r.Artifact(name)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, content); err != nil {
		w.Close()
		return fmt.Errorf("writing artifact %s: %w", name, err)
	}
	if err := w.Close(); err != nil {
		return fmt.Errorf("writing artifact %s: %w", name, err)
	}
	return nil
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }

// A Stage is what a workload is doing at the moment.
type Stage string

// Stages, in their order.
const (
	Preparing Stage = "preparing"
	WarmingUp Stage = "warming up"
	Measuring Stage = "measuring"
	Verifying Stage = "verifying"
)

// Stage says what the workload does now. Begin and End say so by themselves.
func (r *Recorder) Stage(s Stage) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stage = s
}

// Expect tells how much there is to do in the window, for the estimate of the
// time left: so many of an operation, or so long. Zero is unknown.
func (r *Recorder) Expect(op string, count int64, length time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.expected = expectation{op, count, length}
}

// Advance adds n to the count of the expected operation, for a workload that
// keeps no tracks.
func (r *Recorder) Advance(n int64) { r.advanced.Add(n) }

// Progress is how far an iteration is.
type Progress struct {
	Stage   Stage
	Op      string        // the operation that counts, such as insert
	Count   int64         // of it, so far
	Total   int64         // 0: unknown
	Elapsed time.Duration // since Begin
	Length  time.Duration // 0: unknown
}

// Progress returns what was done so far. It may be called at any time.
func (r *Recorder) Progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	p := Progress{
		Stage: r.stage, Op: r.expected.op, Total: r.expected.count,
		Count: r.advanced.Load(), Elapsed: r.Elapsed(), Length: r.expected.length,
	}
	for _, o := range r.operations {
		if o.Name == p.Op {
			for _, t := range o.tracks {
				p.Count += t.live.Load()
			}
		}
	}
	return p
}
