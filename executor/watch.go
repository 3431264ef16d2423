package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

// watchInterval is how often a server that works is looked at. Looking reads a
// few files of /proc and the end of the log; it asks the server nothing.
const watchInterval = time.Second

// silenceDefault is how long neither the workload nor the server may move before
// a phase counts as hung: InnoDB ends itself after a semaphore wait of 600 s, and
// its own message is the better one.
const silenceDefault = 11 * time.Minute

// spareSpace is the free space below which a phase is ended: servers that run out
// abort, and some block for good.
const spareSpace = 64 << 20

// A watch looks at the server while a workload runs.
type watch struct {
	ph     *phaseRun
	rec    *workload.Recorder
	number int

	mu       sync.Mutex
	warnings int // lines of the error log that matter
	classes  map[string]int
	crash    string // the first line that tells of one
	kernel   int    // lines of the kernel log that matter

	moved     time.Time
	stalled   bool // nothing has moved for half of the bound, which was told
	last      server.Movement
	lastCount int64
	rate      float64
	rateAt    time.Time
}

// newWatch returns a watch of an iteration.
func (ph *phaseRun) newWatch(rec *workload.Recorder, number int) *watch {
	return &watch{ph: ph, rec: rec, number: number, classes: map[string]int{}}
}

// start watches until the returned function is called. What spoils the iteration
// cancels it with the failure.
func (w *watch) start(ctx context.Context, cancel context.CancelCauseFunc) (stop func()) {
	w.moved = time.Now()
	w.rateAt = w.moved
	s := w.ph.subject
	_ = w.readLogs(ctx, s) // what was logged before does not belong to this iteration
	w.warnings, w.kernel, w.crash = 0, 0, ""
	clear(w.classes)
	ctx, end := context.WithCancel(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(watchInterval)
		defer tick.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-s.Done():
				cancel(w.ph.crashed())
				return
			case <-tick.C:
				if f := w.look(ctx, s); f != nil {
					cancel(f)
					return
				}
			}
		}
	}()
	return func() {
		end()
		<-done
		_ = w.readLogs(ctx, s) // a log that cannot be read now was read a second ago
	}
}

// look looks once.
func (w *watch) look(ctx context.Context, s subject) *failure {
	w.tell()
	if err := w.readLogs(ctx, s); err != nil {
		return judge(fmt.Errorf("reading the error log: %w", err))
	}
	if f := w.silence(s); f != nil {
		return f
	}
	if w.ph.machine.readOnly(w.ph.layout.Dir) {
		return failed("%s was ended: the filesystem of %s takes no writes any more", w.ph.p.Block, w.ph.layout.Dir)
	}
	free, err := w.ph.machine.free(w.ph.layout.Dir)
	if err != nil {
		return judge(err)
	}
	if free < spareSpace {
		return failed("%s was ended before the server runs out: %d MB are left on %s", w.ph.p.Block, free/1e6, w.ph.layout.Dir)
	}
	return nil
}

// tell reports the progress of the iteration.
func (w *watch) tell() {
	p := w.rec.Progress()
	now := time.Now()
	if since := now.Sub(w.rateAt).Seconds(); since > 0 {
		w.rate = float64(p.Count-w.lastCount) / since
	}
	w.rateAt = now
	if p.Count != w.lastCount {
		w.lastCount, w.moved = p.Count, now
	}
	expect := p.Length
	if expect == 0 {
		expect = w.ph.expected()
	}
	w.ph.event(Event{Kind: Progress, Run: w.ph.run, Phase: w.ph.p, Iteration: w.number, Attempt: w.ph.number, Message: string(p.Stage),
		Live: Live{Done: uint64(max(0, p.Count)), Total: uint64(max(0, p.Total)), Rate: w.rate, Unit: p.Op, Elapsed: p.Elapsed, Expect: expect}})
}

// expected returns how long an iteration of the phase takes by the plan's estimate;
// 0 is unknown.
func (ph *phaseRun) expected() time.Duration {
	return time.Duration(ph.rp.Seconds / float64(max(1, ph.p.Recorded())) * float64(time.Second))
}

// silence returns a failure where nothing has moved for too long.
func (w *watch) silence(s subject) *failure {
	m, err := s.Movement()
	if err != nil {
		return nil // the process is ending; Done tells
	}
	if m.Moved(w.last, time.Since(w.moved)) {
		w.last, w.moved, w.stalled = m, time.Now(), false
		return nil
	}
	bound := w.ph.opts.Silence
	if bound == 0 {
		bound = silenceDefault
	}
	if w.ph.p.Settings.Server == nil {
		return nil
	}
	still := time.Since(w.moved)
	if still > bound/2 && !w.stalled {
		w.stalled = true
		w.tellStall(m, still, bound)
	}
	if still > bound {
		return &failure{
			status:  matrix.Hung,
			err:     fmt.Errorf("neither the workload nor the server moved for %s; the server is in state %s", still.Round(time.Second), m.State),
			details: w.ph.evidence(),
		}
	}
	return nil
}

// tellStall tells that nothing moves, before that ends the phase.
func (w *watch) tellStall(m server.Movement, still, bound time.Duration) {
	text := fmt.Sprintf("%s, iteration %d: neither the workload nor the server has moved for %s; the server is in state %s; after %s the phase counts as hung",
		w.ph.p.Block, w.number, still.Round(time.Second), m.State, bound)
	w.ph.event(Event{Kind: Notice, Run: w.ph.run, Message: text})
	w.ph.notifier.notify(notifyStall, runText(w.ph.run, text))
	err := w.ph.deps.Store.AddEvents(context.Background(), store.Event{
		Experiment: w.ph.experiment, Attempt: w.ph.attempt.id, Phase: w.ph.id, Iteration: w.number, Kind: "stall", Message: text,
	})
	if err != nil {
		w.ph.event(Event{Kind: Notice, Run: w.ph.run, Message: err.Error()})
	}
}

// readLogs counts and records the lines of the server's and the kernel's log that
// matter.
func (w *watch) readLogs(ctx context.Context, s subject) error {
	lines, err := s.LogEvents()
	var events []store.Event
	add := func(kind, line string, at time.Time) {
		events = append(events, store.Event{
			Experiment: w.ph.experiment, Attempt: w.ph.attempt.id, Phase: w.ph.id,
			Iteration: w.number, At: at, Kind: kind, Message: line,
		})
	}
	kernel := w.ph.kernel.lines()
	w.mu.Lock()
	for _, l := range lines {
		w.warnings++
		w.classes[l.Class]++
		if l.Class == "crash" && w.crash == "" {
			w.crash = l.Line
		}
		if l.Class == "shutdown" && w.ph.toldToStop == "" {
			w.ph.toldToStop = l.Line
		}
		add("log_"+l.Class, l.Line, l.At)
	}
	for _, l := range kernel {
		w.kernel++
		add("kernel", l, time.Now())
	}
	w.mu.Unlock()
	if len(events) > 0 {
		err = errors.Join(err, w.ph.deps.Store.AddEvents(context.WithoutCancel(ctx), events...))
	}
	return err
}

// restarted returns a failure where the log tells of a crash and the server is there
// all the same: PostgreSQL's starts its processes again, and what clients saw of it
// are lost connections.
func (w *watch) restarted() *failure {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.crash == "" {
		return w.ph.stopping()
	}
	return &failure{status: matrix.Crashed, err: fmt.Errorf("the server crashed in the phase and started again: %s", w.crash)}
}

// stopping returns a failure where the log says that somebody told the server to stop,
// in this iteration or before it: a server that waits for its sessions to end still
// answers them, and is no longer the one that is to be measured.
func (ph *phaseRun) stopping() *failure {
	if ph.toldToStop == "" {
		return nil
	}
	return &failure{status: matrix.Crashed, err: fmt.Errorf("somebody else than dbmatrix told the server to stop: %s", ph.toldToStop)}
}

// stillThere returns a failure where the server is not, or was told to stop, at the
// end of its phase.
func (ph *phaseRun) stillThere(ctx context.Context) *failure {
	if !ph.alive() {
		return ph.withLog(ph.crashed())
	}
	w := ph.newWatch(nil, 0)
	if err := w.readLogs(ctx, ph.subject); err != nil {
		return judge(fmt.Errorf("reading the error log: %w", err))
	}
	if f := w.restarted(); f != nil {
		return ph.withLog(f)
	}
	return nil
}

// metrics returns the counts of the watch.
func (w *watch) metrics() []matrix.Metric {
	w.mu.Lock()
	defer w.mu.Unlock()
	ms := []matrix.Metric{{Name: "log_warnings", Unit: "count", Value: float64(w.warnings)}}
	if w.ph.kernel != nil {
		ms = append(ms, matrix.Metric{Name: "kernel_messages", Unit: "count", Value: float64(w.kernel)})
	}
	return ms
}

// doubtClasses are the classes of log lines that make a number doubtful.
var doubtClasses = []string{"long_wait", "corruption", "no_space", "io_error"}

// flags returns what the logs say against the numbers.
func (w *watch) flags() []matrix.Flag {
	w.mu.Lock()
	defer w.mu.Unlock()
	var flags []matrix.Flag
	for _, c := range doubtClasses {
		if n := w.classes[c]; n > 0 {
			flags = append(flags, matrix.Flag{Name: c, Detail: fmt.Sprintf("the server logged %s of %s", lineCount(n), strings.ReplaceAll(c, "_", " "))})
		}
	}
	if w.kernel > 0 {
		flags = append(flags, matrix.Flag{Name: "kernel", Detail: fmt.Sprintf("the kernel logged %s of trouble", lineCount(w.kernel))})
	}
	return flags
}

// lineCount words a number of lines.
func lineCount(n int) string {
	if n == 1 {
		return "1 line"
	}
	return fmt.Sprintf("%d lines", n)
}
