package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

// Deps are what an execution is made with.
type Deps struct {
	Store     *store.Store
	Workloads []workload.Type

	// Prober looks at builds again before they are measured; nil does not.
	Prober *server.Prober

	// Program is executed again as the guardian; "" is the running one.
	Program string

	// Facts are recorded with each attempt beside those of the host: the
	// version of dbmatrix, the commit of the definition.
	Facts []store.Fact

	// Check judges a phase's check by the results that are recorded of the
	// attempt so far. It returns the check's own message where it says no.
	Check func(ctx context.Context, c CheckRequest) (message string, err error)
}

// A CheckRequest is a check to be judged.
type CheckRequest struct {
	Run     *matrix.Run
	Phase   *matrix.Phase
	Check   matrix.Check
	Attempt store.AttemptID
}

// Options say how a plan is executed.
type Options struct {
	Selection Selection

	// Finish asks for an end after the iteration under way; nil never does.
	// Cancelling the context of Run with ErrInterrupted ends at once, but
	// for the stop of the server.
	Finish <-chan struct{}

	// Report is told each event, from one goroutine at a time. It must not
	// block for long: runs wait for it.
	Report func(Event)

	AcceptEnvironment bool // go on where the host has changed
	Keep              bool // keep the data directories of runs
	Verbose           bool // report steps around the phases

	CrashAt string // a crash point, for tests; "" is none

	// Silence is how long neither the workload nor the server may move
	// before a phase counts as hung; 0 is the default of ten minutes.
	Silence time.Duration
}

// An Outcome is how an execution went.
type Outcome struct {
	Done   int      // runs that ended ok or with a missed rate
	Failed []Failed // runs that did not, in their order

	// Interrupted says that the caller asked for the end.
	Interrupted bool

	// Stopped says why the plan ended early, other than by an interrupt; it
	// is nil where it did not. An *EnvironmentError is the host's fault.
	Stopped error

	Left int // selected runs that were not executed
}

// sentence says how the execution went.
func (o Outcome) sentence() string {
	text := fmt.Sprintf("%d done, %d failed, %d left", o.Done, len(o.Failed), o.Left)
	switch {
	case o.Stopped != nil:
		text += "; stopped: " + o.Stopped.Error()
	case o.Interrupted:
		text += "; interrupted"
	}
	return text
}

// A Failed is a run that failed or was skipped.
type Failed struct {
	Run     *matrix.Run
	Attempt int
	Phase   string // "" outside phases
	Status  matrix.Status
	Message string
	Details []string

	// Stale says that what was to be measured has changed since the plan was
	// made: the next plan has the run as one that is to be executed.
	Stale bool
}

// An EnvironmentError says that this host, not the experiment, stands in the way.
type EnvironmentError struct{ Err error }

// Error returns the cause fit for a terminal: it may quote what a program printed.
func (e *EnvironmentError) Error() string { return server.Clean(e.Err.Error()) }

// Unwrap returns the cause.
func (e *EnvironmentError) Unwrap() error { return e.Err }

// environmentError returns an *EnvironmentError.
func environmentError(format string, args ...any) error {
	return &EnvironmentError{fmt.Errorf(format, args...)}
}

// A UsageError says that the plan cannot be executed as it is asked for.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// An executor drives one plan.
type executor struct {
	plan    *matrix.Plan
	deps    Deps
	opts    Options
	machine *machine
	crash   *crasher

	experiment store.ExperimentID
	runner     store.RunnerID
	epoch      store.EpochID
	kernel     *kernelLog

	reportMu sync.Mutex
	current  current

	pending   []*matrix.Run
	reached   map[string]bool     // directories that a server's user was seen to reach
	broken    map[string]string   // builds that cannot start, templates that cannot be made, and why
	inForce   *inForceTable       // values that levels ended with
	snapshots *snapshotCollection // that are there

	continuations map[*matrix.Run]*continuation // of interrupted runs

	contents  contents
	notUndone error // what a teardown could not undo; nothing more runs
	held      held  // filesystems of servers that do not end
	streak    int   // failures in a row
	notifier  *notifier
	outcome   Outcome
}

// Run executes the selected runs of a plan, in its order. The error says that
// nothing was executed: an *EnvironmentError, a *UsageError, or a fault of
// dbmatrix. What happened to runs is in the outcome.
func Run(ctx context.Context, plan *matrix.Plan, deps Deps, opts Options) (Outcome, error) {
	crash, err := newCrasher(opts.CrashAt)
	if err != nil {
		return Outcome{}, &UsageError{err}
	}
	e := &executor{
		plan: plan, deps: deps, opts: opts, crash: crash,
		reached: map[string]bool{}, broken: map[string]string{}, inForce: newInForceTable(),
	}
	if e.pending, err = opts.Selection.Pending(plan); err != nil {
		return Outcome{}, &UsageError{err}
	}
	if len(e.pending) == 0 {
		return e.outcome, nil
	}
	if err := e.check(); err != nil {
		return Outcome{}, err
	}
	release, err := e.lock()
	if err != nil {
		return Outcome{}, err
	}
	defer release()
	crash.at(crashLocked)

	if e.machine, err = startMachine(ctx, plan.Experiment.DataDir, deps.Program); err != nil {
		return Outcome{}, environmentError("starting the guardian: %w", err)
	}
	setScore(os.Getpid(), runnerScore)
	err = e.execute(ctx)
	lost := e.machine.lost() // the outcome tells of that
	if cerr := e.machine.guardian.Close(); cerr != nil && err == nil && !lost {
		err = fmt.Errorf("ending the guardian: %w", cerr)
	}
	return e.outcome, err
}

// lock takes the lock of the host, that of the directory that data lies in, and
// that of the results.
func (e *executor) lock() (release func(), err error) {
	var locks []*server.Lock
	release = func() {
		for _, l := range slices.Backward(locks) {
			_ = l.Close() // the kernel gives it up with the process at the latest
		}
	}
	host, err := server.LockHost()
	if err != nil {
		return nil, environmentError("locking this host: %w", err)
	}
	locks = append(locks, host)
	dir, err := server.LockDir(e.plan.Experiment.DataDir)
	if err != nil {
		release()
		return nil, environmentError("locking %s: %w", e.plan.Experiment.DataDir, err)
	}
	locks = append(locks, dir)
	// Another host, or a container, may have a lock of its own and the same
	// record.
	record, err := server.LockRecord(e.deps.Store.Path())
	if err != nil {
		release()
		return nil, environmentError("locking the results: %w", err)
	}
	locks = append(locks, record)
	return release, nil
}

// execute records the plan, tidies up after earlier runners, and drives the runs.
func (e *executor) execute(ctx context.Context) error {
	e.notifier = newNotifier(e.plan.Experiment.Notify, e.plan.Experiment.Name, e.event)
	defer e.notifier.wait()
	if err := e.open(ctx); err != nil {
		return err
	}
	e.event(Event{Kind: PlanStart, Message: fmt.Sprintf("%d of %d runs to execute", len(e.pending), len(e.plan.Runs))})
	e.kernel = openKernelLog()
	defer e.kernel.close()
	stop := e.announceFinish(ctx)
	e.drive(ctx)
	stop()
	if err := e.deps.Store.EndRunner(ctx, e.runner); err != nil {
		return e.recordError("recording the end", err)
	}
	e.notifier.notify(notifyFinished, e.outcome.sentence())
	e.event(Event{Kind: PlanEnd})
	return nil
}

// tidyUp records the plan and this process, and tidies up after earlier ones.
func (e *executor) tidyUp(ctx context.Context) error {
	err := e.endOrphans(ctx)
	if err != nil {
		return err
	}
	if e.experiment, err = e.deps.Store.RecordPlan(ctx, e.plan); err != nil {
		return e.recordError("recording the plan", err)
	}
	if err := e.beginRunner(ctx); err != nil {
		return err
	}
	return e.recover(ctx)
}

// open tidies up and gets ready for runs.
func (e *executor) open(ctx context.Context) error {
	if err := e.tidyUp(ctx); err != nil {
		return err
	}
	if err := e.compareEnvironment(ctx); err != nil {
		return err
	}
	if err := e.dropChanged(ctx); err != nil {
		return err
	}
	if err := e.inForce.load(ctx, e.deps.Store, e.plan); err != nil {
		return e.recordError("reading the options of earlier runs", err)
	}
	e.crash.at(crashPlanRecorded)
	return nil
}

// drive executes the pending runs one after the other, until none is left or
// something stops the plan.
func (e *executor) drive(ctx context.Context) {
	for i, run := range e.pending {
		e.outcome.Left = len(e.pending) - i
		if e.ended(ctx) {
			e.outcome.Interrupted = true
			return
		}
		if reason := e.hopeless(run); reason != "" {
			e.skip(ctx, run, reason)
			continue
		}
		if i > 0 && !e.cool(ctx) {
			e.outcome.Interrupted = true
			return
		}
		e.one(ctx, run)
		if e.notUndone != nil {
			e.outcome.Stopped = undoByHand(run.Cell.Key, e.notUndone)
		}
		if e.outcome.Interrupted || e.outcome.Stopped != nil {
			return
		}
	}
	e.outcome.Left = 0
	e.outcome.Stopped = e.held.stopped()
}

// one executes a run and files how it went.
func (e *executor) one(ctx context.Context, run *matrix.Run) {
	res := e.attempt(ctx, run)
	var f *failure
	errors.As(res.err, &f)
	switch {
	case f != nil && f.host != nil:
		e.outcome.Stopped = f.host
		e.event(Event{Kind: Notice, Run: run, Message: "what the run showed: " + strings.Join(res.details, "\n")})
		e.notifier.notify(notifyFailure, runText(run, res.message()))
		return
	case res.status == matrix.Interrupted && (errors.Is(res.err, errFinished) || ctx.Err() != nil):
		e.outcome.Interrupted = true
		return
	case res.status.Complete():
		e.outcome.Done++
		e.outcome.Left--
		e.streak = 0
		if len(e.opts.Selection.phases(run)) == len(run.Phases) {
			e.snapshots.release(ctx, e, run)
		}
		if e.ended(ctx) && e.outcome.Left > 0 {
			e.outcome.Interrupted = true
		}
		return
	}
	e.outcome.Left--
	e.fail(run, res)
	e.stopAfter(run, res)
}

// fail files a failed run, tells of it and of what comes next.
func (e *executor) fail(run *matrix.Run, res result) {
	f := Failed{Run: run, Attempt: res.number, Phase: res.phase, Status: res.status, Message: res.message(), Details: res.details}
	var cause *failure
	f.Stale = errors.As(res.err, &cause) && cause.stale
	e.outcome.Failed = append(e.outcome.Failed, f)
	e.event(Event{Kind: Failure, Run: run, Attempt: res.number, Status: res.status, Message: f.Message, Details: f.Details})
	e.notifier.notify(notifyFailure, runText(run, string(res.status)+": "+f.Message))
}

// runText words something about a run.
func runText(run *matrix.Run, text string) string {
	return fmt.Sprintf("%s, replicate %d: %s", cellName(run.Cell.Key), run.Replicate, text)
}

// cellName names a cell by its key, which is empty where there are no axes.
func cellName(key matrix.CellKey) string {
	if key == "" {
		return "the only cell"
	}
	return string(key)
}

// cellText names the cell of a run.
func cellText(run *matrix.Run) string {
	if run.Cell.Key == "" {
		return "the only cell"
	}
	return "cell " + string(run.Cell.Key)
}

// stopAfter decides whether a failed run stops the plan.
func (e *executor) stopAfter(run *matrix.Run, res result) {
	e.streak++
	limit := e.plan.Experiment.MaxConsecutiveFailures
	var f *failure
	errors.As(res.err, &f)
	switch {
	case f != nil && f.device != "":
		// What lies elsewhere goes on.
	case e.deps.Store.DiskFull(), errors.Is(res.err, store.ErrDiskFull):
		e.outcome.Stopped = e.recordFull()
	case limit > 0 && e.streak >= limit:
		e.outcome.Stopped = fmt.Errorf("%d runs in a row failed (max_consecutive_failures)", e.streak)
	case f != nil && f.init != "":
		e.broken[f.init+environ(run)] = fmt.Sprintf("server %s could not initialise a data directory in %s", serverName(run), cellText(run))
	case f != nil && f.build:
		e.broken[buildKey(run)] = fmt.Sprintf("server %s did not start in %s", serverName(run), cellText(run))
	}
}

// hopeless says why a run need not be tried, or "".
func (e *executor) hopeless(run *matrix.Run) string {
	for _, dir := range storagePlaces(e.plan.Experiment.DataDir, run.Phases[0].Phase.Settings) {
		if reason := e.held.holds(e.machine, dir); reason != "" {
			return reason
		}
	}
	if reason := e.broken[buildKey(run)]; reason != "" {
		return reason
	}
	if firstServer(run) != nil {
		key, err := server.InitKey(run.Cell.Phases[0].Settings)
		if err != nil {
			return "" // the run itself tells
		}
		if reason := e.broken[key+environ(run)]; reason != "" {
			return reason
		}
	}
	return e.changed(run)
}

// skip records a run that is not tried.
func (e *executor) skip(ctx context.Context, run *matrix.Run, reason string) {
	start := e.attemptStart(run)
	res := result{status: matrix.Skipped, err: errors.New(reason)}
	if _, err := e.deps.Store.SkipRun(ctx, start, reason); err != nil {
		res.err = e.recordError("recording a skipped run", err)
		e.outcome.Stopped = res.err
	}
	e.outcome.Failed = append(e.outcome.Failed, Failed{Run: run, Status: matrix.Skipped, Message: reason})
	e.event(Event{Kind: RunEnd, Run: run, Status: matrix.Skipped, Message: reason})
}

// ended reports whether the caller asked for an end.
func (e *executor) ended(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return true
	case <-e.opts.Finish:
		return true
	default:
		return false
	}
}

// cool waits for the cooldown between two runs. It reports false where an end is
// asked for meanwhile.
func (e *executor) cool(ctx context.Context) bool {
	e.crash.at(crashCooling)
	if e.plan.Experiment.Cooldown <= 0 {
		return true
	}
	t := time.NewTimer(e.plan.Experiment.Cooldown)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
	case <-e.opts.Finish:
	}
	return false
}

// event tells the caller what happened.
func (e *executor) event(ev Event) {
	ev.Message, ev.Details = server.Clean(ev.Message), cleanAll(ev.Details)
	e.current.note(ev)
	if e.opts.Report == nil {
		return
	}
	e.reportMu.Lock()
	defer e.reportMu.Unlock()
	ev.Time = time.Now()
	e.opts.Report(ev)
}

// cleanAll makes texts fit for a terminal and the record.
func cleanAll(texts []string) []string {
	var clean []string
	for _, t := range texts {
		clean = append(clean, server.Clean(t))
	}
	return clean
}

// recordError words an error of the results database. A full disk is the host's
// fault, everything else dbmatrix's.
func (e *executor) recordError(doing string, err error) error {
	err = fmt.Errorf("%s in %s: %w", doing, e.deps.Store.Path(), err)
	if errors.Is(err, store.ErrDiskFull) || errors.Is(err, store.ErrUnwritable) || errors.Is(err, store.ErrMoved) || errors.Is(err, store.ErrLocked) || isDiskFull(err) || os.IsPermission(err) {
		return &EnvironmentError{err}
	}
	return err
}

// buildKey names the build that a run starts with.
func buildKey(run *matrix.Run) string {
	s := firstServer(run)
	if s == nil {
		return ""
	}
	return s.Name + "\x00" + s.Build.Content + environ(run)
}

// environ returns the environment that a run's first server is started with: what
// the build cannot do in one, it may do in another.
func environ(run *matrix.Run) string {
	var b strings.Builder
	for _, v := range run.Cell.Phases[0].Settings.Env {
		b.WriteString("\x00" + v.Name + "=" + v.Value)
	}
	return b.String()
}

// serverName names the server that a run starts with.
func serverName(run *matrix.Run) string {
	if s := firstServer(run); s != nil {
		return s.Name
	}
	return ""
}

// firstServer returns the server of a run's first phase, nil where it has none.
func firstServer(run *matrix.Run) *matrix.Server {
	if len(run.Cell.Phases) == 0 {
		return nil
	}
	return run.Cell.Phases[0].Settings.Server
}

// artifactsDir is the folder beside the results database that artifacts lie in.
func (e *executor) artifactsDir() string {
	return filepath.Join(filepath.Dir(e.deps.Store.Path()), "artifacts")
}
