package executor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"dbmatrix/executor/sampler"
	"dbmatrix/executor/store"
	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

// clientGrace is how long a workload may take to give up after it was told to:
// statements that run must be cancelled in the server. After it the server is
// killed, which ends every connection.
const clientGrace = 30 * time.Second

// A window is the measured part of an iteration.
type window struct {
	ph      *phaseRun
	sources []sampler.Sampler
	sampled *sampler.Window
	result  sampler.Result
	err     error // of sampling: a number that cannot be read is not guessed
	closed  bool
}

// open begins to sample; it is called by the workload just before its window.
func (w *window) open(time.Time) {
	ctx := context.Background()
	w.ph.stage(ctx, "measuring")
	w.sampled, w.err = sampler.Begin(ctx, w.ph.p.Sample.Interval, w.sources...)
	w.ph.crash.at(crashWindowOpen)
}

// close ends the sampling; it is called by the workload just after its window,
// and again in case the workload gave up within it.
func (w *window) close(time.Time) {
	if w.sampled == nil || w.closed {
		return
	}
	w.closed = true
	var err error
	w.result, err = w.sampled.End(context.Background())
	w.err = errors.Join(w.err, err)
	w.ph.crash.at(crashWindowClosed)
}

// iteration executes one iteration and records it, whatever becomes of it. It
// returns nil where it ended ok.
func (ph *phaseRun) iteration(ctx context.Context, w workload.Workload, number, n int) *failure {
	ph.event(Event{Kind: IterationStart, Run: ph.run, Phase: ph.p, Iteration: number, Attempt: ph.number, Live: Live{Expect: ph.expected()}})
	began := time.Now()
	win := &window{ph: ph}
	var err error
	if win.sources, err = ph.sampled(); err != nil {
		return judge(fmt.Errorf("preparing the samplers: %w", err))
	}
	dir, err := ph.outputDir(number)
	if err != nil {
		return judge(err)
	}
	rec := workload.NewRecorder(dir, workload.Hooks{Begin: win.open, End: win.close})
	before := ph.readStatus(ctx)
	watch := ph.newWatch(rec, number)
	stopSamples := ph.sampleCommands(ctx, dir)
	f := ph.work(ctx, w, rec, watch, number, n)
	win.close(time.Now())
	samples := stopSamples()
	if win.err != nil && (f == nil || f.status.Complete()) {
		f = judge(fmt.Errorf("sampling: %w", win.err))
	}

	ctx = context.WithoutCancel(ctx)
	it, err := ph.result(ctx, rec, win, watch, n == ph.p.Recorded()-1)
	for _, name := range rec.Result().Artifacts {
		it.Artifacts = append(it.Artifacts, ph.artifactRow("client output", filepath.Join(dir, name)))
	}
	if err != nil {
		f = first(f, judge(err))
	}
	for _, path := range samples {
		it.Artifacts = append(it.Artifacts, ph.artifactRow("sample", path))
	}
	it.Number, it.Status = number, matrix.OK
	after := ph.statusAfter(ctx, before)
	if f == nil {
		f = idle(it.Metrics, ph.p)
	}
	if f == nil {
		f = slept(win.result.Flags)
	}
	if f == nil && ph.p.ReadOnly {
		f = wrote(ph.subject.Address().Flavour, before, after)
	}
	if f != nil {
		it.Status, it.Message = f.status, f.Error()
	}
	if ph.afterGap(n) {
		it.Flags = append(it.Flags, ph.from.flag(began, ph.subject.StartTook(), ph.epoch))
	}
	if a, ok := ph.writeStatus(before, after, number); ok {
		it.Artifacts = append(it.Artifacts, a)
	}
	if _, err := ph.deps.Store.FinishIteration(ctx, ph.id, it); err != nil {
		return first(f, judge(ph.recordError(fmt.Sprintf("recording iteration %d of %s", number, ph.p.Block), err)))
	}
	ph.crash.at(crashIterationRecorded)
	ph.event(Event{Kind: IterationEnd, Run: ph.run, Phase: ph.p, Iteration: number, Attempt: ph.number, Status: it.Status, Message: it.Message, Took: time.Since(began)})
	return f
}

// afterGap reports whether the n-th iteration, from 0, is the first one after an
// interruption.
func (ph *phaseRun) afterGap(n int) bool { return ph.from != nil && n == ph.from.Finished }

// outputDir returns the folder for what an iteration's programs print: the
// phase's own, or one for each where there are several iterations.
func (ph *phaseRun) outputDir(number int) (string, error) {
	if ph.p.Recorded() == 1 {
		return ph.dir, nil
	}
	dir := filepath.Join(ph.dir, fmt.Sprintf("iteration-%d", number))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("making the folder of artifacts: %w", err)
	}
	return dir, nil
}

// sampled returns the sources of numbers for the next window.
func (ph *phaseRun) sampled() ([]sampler.Sampler, error) {
	sources, err := ph.machine.sources(ph.layout, ph.subject.PID())
	if err != nil {
		return nil, err
	}
	if len(ph.p.Sample.Status) > 0 {
		sources = append(sources, &statusSampler{db: ph.subject.DB(), names: ph.p.Sample.Status})
	}
	return sources, nil
}

// work runs the workload of one iteration under its timeout, with a watch on the
// server.
func (ph *phaseRun) work(ctx context.Context, w workload.Workload, rec *workload.Recorder, watch *watch, number, n int) *failure {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if t := ph.p.Timeout; t > 0 {
		timer := time.AfterFunc(t, func() {
			cancel(&failure{
				status:  matrix.TimedOut,
				err:     fmt.Errorf("iteration %d of %s did not end within its timeout of %s", number, ph.p.Block, t),
				details: ph.evidence(),
			})
		})
		defer timer.Stop()
	}
	stopWatch := watch.start(ctx, cancel)
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx, ph.target(number, n), rec) }()
	err := ph.await(ctx, done)
	stopWatch()
	f := ph.judgeWork(ctx, err)
	if crash := watch.restarted(); crash != nil && ph.alive() && (f == nil || f.status.Complete() || f.status == matrix.Failed) {
		if f != nil {
			crash.details = append([]string{f.Error()}, f.details...)
		}
		f = crash
	}
	return ph.blameHost(f, ph.p.Settings)
}

// await waits for the workload. One that does not give up in time after its end
// was asked for loses its server.
func (ph *phaseRun) await(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	grace := time.NewTimer(clientGrace)
	defer grace.Stop()
	select {
	case err := <-done:
		return err
	case <-grace.C:
	}
	return errors.Join(ph.kill(context.WithoutCancel(ctx)), <-done)
}

// crashNotice is how long a workload's error waits for the news that the server
// has died: its connections break a moment before the process is reaped.
const crashNotice = time.Second

// judgeWork tells why a workload ended as it did. A crash explains all that the
// client saw; what cancelled the workload explains its error.
func (ph *phaseRun) judgeWork(ctx context.Context, err error) *failure {
	if err == nil && ctx.Err() == nil && ph.alive() {
		return nil
	}
	var sla *workload.SLAError
	if errors.As(err, &sla) && ph.alive() {
		return judge(err)
	}
	if cause := context.Cause(ctx); cause != nil && ctx.Err() != nil {
		return ph.withLog(judge(cause))
	}
	if ph.subject != nil {
		wait := time.NewTimer(crashNotice)
		defer wait.Stop()
		select {
		case <-ph.subject.Done():
			return ph.withLog(ph.crashed())
		case <-wait.C:
		}
	}
	if err == nil {
		return nil
	}
	return ph.withLog(judge(err))
}

// alive reports whether the server still runs.
func (ph *phaseRun) alive() bool {
	if ph.subject == nil {
		return false
	}
	select {
	case <-ph.subject.Done():
		return false
	default:
		return true
	}
}

// withLog adds the path of the server's log to a failure.
func (ph *phaseRun) withLog(f *failure) *failure {
	if ph.subject != nil && ph.subject.ErrorLog() != "" {
		f.details = append(f.details, "artifacts: "+ph.dir)
	}
	return f
}

// target returns what the workload runs against.
func (ph *phaseRun) target(number, n int) workload.Target {
	s := ph.p.Settings
	t := workload.Target{
		Dir: ph.scratch(), Source: ph.plan.Experiment.Dir,
		Env: ph.env(s), Prefix: s.Prefix,
		Iteration: number, Step: 1, Seed: int64(ph.run.Replicate),
		Guard: ph.guardClient(),
	}
	if ph.p.Steps > 1 {
		t.Iteration, t.Step = ph.p.FirstIteration, n+1
	}
	if n == 0 || ph.afterGap(n) {
		t.Warmup = ph.p.Warmup
	}
	if s.Server != nil {
		a := ph.subject.Address()
		t.Flavour, t.Version, t.Programs = a.Flavour, s.Server.Build.Version, s.Server.Build.Dir
		t.Socket, t.User, t.Port = a.Socket, a.User, a.Port
	}
	return t
}

// result puts together what an iteration yielded.
func (ph *phaseRun) result(ctx context.Context, rec *workload.Recorder, win *window, watch *watch, last bool) (store.Iteration, error) {
	r := rec.Result()
	it := store.Iteration{Began: r.Start, Ended: r.End, Flags: slices.Concat(win.result.Flags, watch.flags())}
	metrics := map[string]matrix.Metric{}
	for _, m := range win.result.Metrics {
		metrics[m.Name] = m
	}
	// The last iteration's size is the phase's, which is taken after its settle.
	var sizes []matrix.Metric
	var err error
	if !last {
		sizes, err = ph.sizeMetrics(ctx)
	}
	for _, m := range append(sizes, watch.metrics()...) {
		metrics[m.Name] = m
	}
	// What the workload counted itself is nearest to what its names mean.
	for _, m := range r.Metrics {
		metrics[m.Name] = matrix.Metric{Name: m.Name, Unit: m.Unit, Value: m.Value}
	}
	for _, name := range slices.Sorted(maps.Keys(metrics)) {
		it.Metrics = append(it.Metrics, metrics[name])
	}
	it.Series = slices.Concat(win.result.Series, workloadSeries(r.Series))
	for _, h := range r.Histograms {
		it.Histograms = append(it.Histograms, store.Histogram{Operation: h.Op, Data: h.Hist})
	}
	for _, p := range r.Plans {
		it.QueryPlans = append(it.QueryPlans, store.QueryPlan{Query: p.Query, Plan: p.Text})
	}
	if len(r.Facts) > 0 {
		facts := make([]store.Fact, len(r.Facts))
		for i, f := range r.Facts {
			facts[i] = store.Fact{Name: ph.p.Block + "." + f.Name, Value: f.Value}
		}
		if ferr := ph.deps.Store.AddFacts(ctx, ph.attempt.id, facts); ferr != nil {
			err = errors.Join(err, ph.recordError("recording facts", ferr))
		}
	}
	return it, err
}

// workloadSeries converts rates for the record: the reading of an interval is
// stamped with its end.
func workloadSeries(series []workload.Series) []matrix.Series {
	var converted []matrix.Series
	for _, s := range series {
		c := matrix.Series{Metric: s.Name, Unit: cmp.Or(s.Unit, workload.UnitRate)}
		if s.Client > 0 {
			c.Instance = fmt.Sprintf("client %d", s.Client)
		}
		for i, v := range s.Values {
			c.Readings = append(c.Readings, matrix.Reading{At: time.Duration(i+1) * s.Interval, Value: v})
		}
		converted = append(converted, c)
	}
	return converted
}

// slept returns a failure where the machine was suspended in the window: its
// seconds are not those that the server had.
func slept(flags []matrix.Flag) *failure {
	for _, f := range flags {
		if f.Name == "suspended" {
			return &failure{status: matrix.Invalid, err: errors.New(f.Detail + " in the measured window")}
		}
	}
	return nil
}

// workMetrics are the counts that show that a workload did something.
var workMetrics = []string{"rows_inserted", "rows_read", "queries", "transactions", "inserts", "deletes"}

// idle returns a failure where a workload that counts its work did none: a phase
// that measured nothing is not a fast one.
func idle(metrics []matrix.Metric, p *matrix.Phase) *failure {
	counts := false
	for _, m := range metrics {
		if slices.Contains(workMetrics, m.Name) {
			if m.Value > 0 {
				return nil
			}
			counts = true
		}
	}
	if !counts {
		return nil
	}
	return failed("%s: the workload did no work: all of its counts are 0", p.Block)
}
