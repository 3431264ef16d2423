package sampler

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"dbmatrix/matrix"

	"golang.org/x/sys/unix"
)

// A Result is what was sampled in a window.
type Result struct {
	Elapsed time.Duration   // by the monotonic clock
	Metrics []matrix.Metric // sorted by name
	Series  []matrix.Series // sorted by metric
	Flags   []matrix.Flag   // what makes the numbers doubtful
}

// Metric returns the value of the named metric, and whether there is one.
func (r Result) Metric(name string) (float64, bool) {
	i, ok := slices.BinarySearchFunc(r.Metrics, name, func(m matrix.Metric, n string) int { return cmp.Compare(m.Name, n) })
	if !ok {
		return 0, false
	}
	return r.Metrics[i].Value, true
}

// A Window is a stretch of time that is being sampled.
type Window struct {
	sources  []*source
	interval time.Duration
	clock    clock
	stop     context.CancelFunc
	stopped  chan struct{}

	start    time.Time
	asleep   time.Duration // how long the machine had slept before the window
	mu       sync.Mutex    // guards what follows
	readings int
	last     time.Time
	longest  time.Duration // between two readings
	ended    bool
}

// A source is a sampler with what was read from it. Each has its own lock, so
// that one that is slow does not keep the others from being read when the window
// ends.
type source struct {
	Sampler
	mu      sync.Mutex
	tracks  map[string]*track
	slowest time.Duration // read
	ended   bool
	fault   error // of the last failed read
}

// A track is the numbers of one metric.
type track struct {
	unit        string
	kind        Kind
	first, last float64
	peak        float64
	reset       bool // the counter began anew within the window
	reading     int  // number of the last reading that had it
	readings    []matrix.Reading
}

// A clock tells the time; now has a monotonic part. slept is how long the
// machine was suspended since it booted.
type clock struct {
	now   func() time.Time
	slept func() time.Duration
}

func systemClock() clock { return clock{now: time.Now, slept: slept} }

// slept is the difference between the clock that goes on in a suspended machine
// and the one that stands still.
func slept() time.Duration {
	var boot, mono unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &mono) != nil {
		return 0
	}
	return time.Duration(boot.Nano() - mono.Nano())
}

// Begin reads all sources and begins to sample them each interval; 0 stands for
// a second. End must be called, also where the workload failed. A source that
// cannot be read now is an error.
func Begin(ctx context.Context, interval time.Duration, samplers ...Sampler) (*Window, error) {
	if interval <= 0 {
		interval = time.Second
	}
	w := newWindow(systemClock(), interval, samplers)
	if err := w.begin(ctx); err != nil {
		return nil, err
	}
	ctx, w.stop = context.WithCancel(context.WithoutCancel(ctx))
	go w.tick(ctx)
	return w, nil
}

func newWindow(c clock, interval time.Duration, samplers []Sampler) *Window {
	w := &Window{interval: interval, clock: c, stopped: make(chan struct{})}
	for _, s := range samplers {
		w.sources = append(w.sources, &source{Sampler: s, tracks: map[string]*track{}})
	}
	return w
}

// begin makes the first reading, whose counters are what later ones are compared
// with. The window starts when the first of them was read.
func (w *Window) begin(ctx context.Context) error {
	for _, s := range w.sources {
		if err := s.Begin(ctx); err != nil {
			return fmt.Errorf("sampling %s: %w", s.Name(), err)
		}
	}
	w.asleep = w.clock.slept()
	w.start = w.clock.now()
	w.last = w.start
	seen := map[string]string{}
	for _, s := range w.sources {
		samples, err := s.Read(ctx, true)
		if err != nil {
			return fmt.Errorf("sampling %s: %w", s.Name(), err)
		}
		for _, x := range samples {
			if other, there := seen[x.Metric]; there {
				return fmt.Errorf("sampling %s: metric %s is sampled by %s too", s.Name(), x.Metric, other)
			}
			seen[x.Metric] = s.Name()
			s.tracks[x.Metric] = &track{unit: x.Unit, kind: x.Kind, first: x.Value, last: x.Value, peak: x.Value}
		}
	}
	return nil
}

// tick reads the sources each interval. A tick that comes late is one reading
// over a longer time: the ticker drops those that were missed.
func (w *Window) tick(ctx context.Context) {
	defer close(w.stopped)
	t := time.NewTicker(w.interval)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			w.read(ctx)
		}
	}
}

// read takes a reading of all sources between the ends of the window.
func (w *Window) read(ctx context.Context) {
	n, ok := w.nextReading(false)
	if !ok {
		return
	}
	for _, s := range w.sources {
		s.mu.Lock()
		if !s.ended {
			w.readSource(ctx, s, n, false)
		}
		s.mu.Unlock()
	}
}

// readLast takes the last reading: first of all of the sources that are free.
func (w *Window) readLast(ctx context.Context, n int) {
	var busy []*source
	for _, s := range w.sources {
		if !s.mu.TryLock() {
			busy = append(busy, s)
			continue
		}
		w.readSource(ctx, s, n, true)
		s.ended = true
		s.mu.Unlock()
	}
	for _, s := range busy {
		s.mu.Lock()
		w.readSource(ctx, s, n, true)
		s.ended = true
		s.mu.Unlock()
	}
}

// nextReading returns the number of the reading that begins now; false where the
// window has ended.
func (w *Window) nextReading(last bool) (int, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ended {
		return 0, false
	}
	w.ended = last
	w.readings++
	now := w.clock.now()
	w.longest = max(w.longest, now.Sub(w.last))
	w.last = now
	return w.readings, true
}

// readSource reads a source, whose lock is held.
func (w *Window) readSource(ctx context.Context, s *source, reading int, edge bool) {
	before := w.clock.now()
	samples, err := s.Read(ctx, edge)
	took := w.clock.now().Sub(before)
	s.slowest = max(s.slowest, took)
	if err != nil {
		s.fault = err
		return
	}
	// The numbers are of some moment while they were read.
	at := before.Add(took / 2).Sub(w.start)
	for _, x := range samples {
		s.add(reading, at, x)
	}
}

// add adds a sample to its track. A metric that is new is one whose source could
// not tell it at first: its increase since the start is unknown.
func (s *source) add(reading int, at time.Duration, x Sample) {
	t := s.tracks[x.Metric]
	if t == nil {
		t = &track{unit: x.Unit, kind: x.Kind, peak: x.Value, reset: x.Kind == Counter}
		s.tracks[x.Metric] = t
	}
	value := x.Value
	if t.kind == Counter {
		value = difference(x.Value, t.last)
		if x.Reset || value < 0 || t.reset && len(t.readings) == 0 {
			t.reset, value = true, math.NaN()
		}
	}
	t.last, t.reading = x.Value, reading
	t.peak = max(t.peak, x.Value)
	t.readings = append(t.readings, matrix.Reading{At: at, Value: value})
}

// End reads all sources again, first of all, and returns what was sampled since
// Begin. Faults of a source are flags of the result. Calls after the first are an
// error.
func (w *Window) End(ctx context.Context) (Result, error) {
	ctx = context.WithoutCancel(ctx)
	n, ok := w.nextReading(true)
	if !ok {
		return Result{}, errors.New("the sampled window has ended before")
	}
	w.readLast(ctx, n)
	if w.stop != nil {
		w.stop()
		<-w.stopped
	}
	r := Result{Elapsed: w.last.Sub(w.start)}
	for _, s := range w.sources {
		r.Flags = append(r.Flags, w.finish(ctx, s, &r)...)
	}
	slices.SortFunc(r.Metrics, func(a, b matrix.Metric) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(r.Series, func(a, b matrix.Series) int { return cmp.Compare(a.Metric, b.Metric) })
	r.Flags = append(r.Flags, w.doubts(r)...)
	return r, nil
}

// finish adds the metrics and series of a source to a result.
func (w *Window) finish(ctx context.Context, s *source, r *Result) []matrix.Flag {
	for name, t := range s.tracks {
		if len(t.readings) > 0 {
			r.Series = append(r.Series, matrix.Series{Metric: name, Unit: t.unit, Readings: t.readings})
		}
	}
	final, flags, err := s.End(ctx)
	if err != nil {
		s.fault = err
	}
	for _, x := range final {
		r.Metrics = append(r.Metrics, matrix.Metric{Name: x.Metric, Unit: x.Unit, Value: x.Value})
	}
	var resets, lost []string
	for name, t := range s.tracks {
		if slices.ContainsFunc(final, func(x Sample) bool { return x.Metric == name }) {
			continue // a peak that the kernel kept is better than one that was sampled
		}
		switch {
		case t.reading != w.readings && t.kind != Peak:
			lost = append(lost, name)
		case t.reset:
			resets = append(resets, name)
		default:
			r.Metrics = append(r.Metrics, matrix.Metric{Name: name, Unit: t.unit, Value: t.metric()})
		}
	}
	if len(resets) > 0 {
		flags = append(flags, matrix.Flag{Name: "counter_reset", Detail: fmt.Sprintf("%s began anew, so that there is no %s", s.Name(), list(resets))})
	}
	if s.slowest > w.interval/2 {
		flags = append(flags, matrix.Flag{Name: "slow_sampler", Detail: fmt.Sprintf("reading %s took %s once", s.Name(), s.slowest.Round(10*time.Millisecond))})
	}
	if len(lost) > 0 || s.fault != nil {
		detail := fmt.Sprintf("%s could not be read at all times", s.Name())
		if len(lost) > 0 {
			detail = fmt.Sprintf("%s could not be read at the end, so that there is no %s", s.Name(), list(lost))
		}
		if s.fault != nil {
			detail += fmt.Sprintf(" (%v)", s.fault)
		}
		flags = append(flags, matrix.Flag{Name: "unread", Detail: detail})
	}
	return flags
}

func (t *track) metric() float64 {
	switch t.kind {
	case Counter:
		return difference(t.last, t.first)
	case Peak:
		return t.peak
	}
	return t.last
}

// difference returns a-b to nine decimals: a CPU that is up for months has so many
// seconds that the difference of two shows the limits of a float64.
func difference(a, b float64) float64 { return math.Round((a-b)*1e9) / 1e9 }

// list returns names in order, joined.
func list(names []string) string {
	slices.Sort(names)
	out := names[0]
	for i, n := range names[1:] {
		if i == len(names)-2 {
			out += " and " + n
		} else {
			out += ", " + n
		}
	}
	return out
}
