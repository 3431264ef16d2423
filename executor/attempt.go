package executor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// An attempt is one pass through a run.
type attempt struct {
	*executor
	run    *matrix.Run
	phases []matrix.RunPhase // to be executed or taken over

	id     store.AttemptID
	number int
	setups []store.SetupID // of the run, then of the phase under way
	shared int             // how many of them are of the run
	isUp   bool            // the run's setup has been done

	token  string
	layout server.Layout // of the directory in use; its Dir is "" where there is none
	source *keptSnapshot // that the next directory is copied from; nil: a template

	subject  subject // nil while nothing runs
	started  *matrix.Phase
	script   *script
	folder   string // of its artifacts; "" until there is one
	segments int    // directories made so far

	doubts []matrix.Flag // of what came before the phase under way

	continuation *continuation // how the next phase goes on; nil: it begins
	goesOnLater  bool          // the phase under way can go on in a later execution
}

// A result is how an attempt ended.
type result struct {
	number  int
	phase   string
	status  matrix.Status
	err     error // nil where all went well
	details []string
}

// message returns the cause as a sentence, or "".
func (r result) message() string {
	if r.err == nil {
		return ""
	}
	return r.err.Error()
}

// attemptStart returns what is known of an attempt before it begins.
func (e *executor) attemptStart(run *matrix.Run) store.AttemptStart {
	phases := e.opts.Selection.phases(run)
	return store.AttemptStart{
		Experiment: e.experiment, Runner: e.runner, Epoch: e.epoch,
		Cell: run.Cell.Key, Replicate: run.Replicate,
		Fingerprint: phases[len(phases)-1].Fingerprint, Phases: len(phases),
	}
}

// attempt makes one pass through a run. Whatever happens, its server is stopped,
// what was set up is undone, and how it ended is on record when it returns.
func (e *executor) attempt(ctx context.Context, run *matrix.Run) result {
	a := &attempt{executor: e, run: run, phases: e.opts.Selection.phases(run), token: server.NewToken(), script: &script{}}
	began := time.Now()
	if err := a.enter(ctx); err != nil {
		var res result
		res.add(a.judge(err))
		return res
	}
	e.crash.at(crashAttemptBegun)
	e.event(Event{Kind: RunStart, Run: run, Attempt: a.number, Message: run.Reason})

	res := a.execute(ctx)
	res.number = a.number
	// From here on nothing heeds an interrupt: the record must be right.
	ctx = context.WithoutCancel(ctx)
	if err := a.end(ctx); err != nil {
		res.add(a.judge(err))
	}
	e.crash.at(crashStopped)
	if err := e.deps.Store.FinishAttempt(ctx, a.id, res.status, res.message()); err != nil {
		res.add(a.judge(e.recordError("finishing an attempt", err)))
	}
	e.crash.at(crashAttemptFinished)
	e.held.add(e.machine, res.err)
	if err := a.discard(a.keepsState(res)); err != nil {
		e.event(Event{Kind: Notice, Run: run, Message: err.Error()})
	}
	e.event(Event{Kind: RunEnd, Run: run, Attempt: a.number, Status: res.status, Message: res.message(), Took: time.Since(began)})
	return res
}

// judge turns an error of what lies around the phases into a failure.
func (a *attempt) judge(err error) *failure {
	return a.blameHost(judge(err), a.phases[0].Phase.Settings)
}

// enter records that the attempt begins, or goes on.
func (a *attempt) enter(ctx context.Context) error {
	ok, err := a.goOn(ctx)
	if ok && err == nil {
		a.crash.at(crashAttemptContinued)
	}
	if ok || err != nil {
		return err
	}
	if a.id, a.number, err = a.deps.Store.BeginAttempt(ctx, a.attemptStart(a.run)); err != nil {
		return a.recordError("beginning an attempt", err)
	}
	return nil
}

// add makes a later failure part of the result. The first one is the cause, unless
// a later one stops the plan.
func (r *result) add(f *failure) {
	var before *failure
	switch {
	case r.err == nil:
		r.err = f
	case errors.As(r.err, &before) && (f.host != nil && before.host == nil || f.device != "" && before.device == ""):
		r.details = append([]string{"first: " + r.err.Error()}, r.details...)
		r.err = f
	default:
		r.details = append(r.details, "then: "+f.Error())
	}
	r.details = append(r.details, cleanAll(f.details)...)
	r.status = worst(r.status, f.status)
}

// execute executes the phases of a run from the last snapshot on.
func (a *attempt) execute(ctx context.Context) result {
	res := result{status: matrix.OK}
	if err := a.recordFacts(ctx); err != nil {
		res.add(a.judge(err))
		return res
	}
	first, err := a.takeOver(ctx)
	if err != nil {
		res.add(a.judge(err))
		return res
	}
	for i := first; i < len(a.phases); i++ {
		if a.ended(ctx) {
			res.add(judge(errFinished))
			return res
		}
		if a.notUndone != nil {
			res.add((&failure{err: a.notUndone}).ofHost(undoByHand(a.run.Cell.Key, a.notUndone)))
			return res
		}
		f := a.phase(ctx, i)
		if f == nil {
			continue
		}
		res.phase = a.phases[i].Phase.Block
		res.add(f)
		if !f.status.Complete() {
			return res
		}
	}
	return res
}

// takeOver finds the last phase whose state is kept, and records the phases up to
// it as taken over. It returns how many they are.
func (a *attempt) takeOver(ctx context.Context) (int, error) {
	if a.continuation != nil {
		return a.continuation.index, nil
	}
	n, s := a.resumePoint(a.run, a.phases)
	if n == 0 {
		return 0, nil
	}
	for i, p := range a.phases[:n] {
		_, err := a.deps.Store.TakePhase(ctx, store.PhaseStart{
			Attempt: a.id, Ordinal: i + 1, Phase: p.Phase, Fingerprint: p.Fingerprint, Inputs: p.Phase.Inputs,
		}, s.Attempt)
		if err != nil {
			return 0, a.recordError(fmt.Sprintf("taking over %s from its snapshot", p.Phase.Block), err)
		}
	}
	a.source = s
	return n, nil
}

// recordFacts records what the host is, and which build is measured.
func (a *attempt) recordFacts(ctx context.Context) error {
	facts := append([]store.Fact{}, a.deps.Facts...)
	if s := firstServer(a.run); s != nil {
		facts = append(facts,
			store.Fact{Name: "build.flavour", Value: s.Build.Flavour},
			store.Fact{Name: "build.version", Value: s.Build.Version},
			store.Fact{Name: "build.comment", Value: s.Build.Comment},
			store.Fact{Name: "build.content", Value: s.Build.Content})
	}
	if err := a.deps.Store.AddFacts(ctx, a.id, facts); err != nil {
		return a.recordError("recording facts", err)
	}
	return nil
}

// owner returns the owner file of a directory of this attempt.
func (a *attempt) owner(kind string) server.Owner {
	return server.Owner{
		Format: 1, Kind: kind, Experiment: a.plan.Experiment.Dir,
		Cell: a.run.Cell.Key, Replicate: a.run.Replicate, Attempt: a.number,
		Token: a.token, Clean: true, Created: time.Now().UTC(),
	}
}

// makeDirectory makes the data directory that the next phases work in: a copy of
// a snapshot or of a template, or an empty one for cells without a server.
func (a *attempt) makeDirectory(ctx context.Context, p *matrix.Phase) error {
	exp := a.plan.Experiment
	a.segments++
	name := fmt.Sprintf("%s-%s-r%d-a%d", Slug(a.run.Cell.Key), shortHash(exp.Dir), a.run.Replicate, a.number)
	if a.segments > 1 {
		name += "-" + strconv.Itoa(a.segments)
	}
	layout, err := server.NewLayout(exp.DataDir, server.KindRun, name, p.Settings)
	if err != nil {
		return err
	}
	owner := a.owner(server.KindRun)
	switch {
	case a.source != nil:
		err = a.copySnapshot(ctx, layout, owner)
	case p.Settings.Server == nil:
		err = a.machine.create(layout, owner)
	default:
		err = a.copyTemplate(ctx, layout, owner, p.Settings)
	}
	if err != nil {
		return err
	}
	a.layout = layout
	if err := a.dropOverBudget(ctx); err != nil {
		return err
	}
	if err := os.MkdirAll(a.scratch(), 0o700); err != nil {
		return fmt.Errorf("making the scratch directory: %w", err)
	}
	a.crash.at(crashDirectoryMade)
	return a.recordPlace(ctx)
}

// copySnapshot copies the snapshot that the run goes on from.
func (a *attempt) copySnapshot(ctx context.Context, to server.Layout, owner server.Owner) error {
	from, err := a.machine.layoutAt(a.source.Path)
	if err != nil {
		return fmt.Errorf("opening the snapshot %s: %w", a.source.Path, err)
	}
	mode := server.CopyBytes
	if p := a.snapshotPolicy(); p != nil && p.Reflink {
		mode = server.CopyReflink
	}
	owner.Fingerprint = a.source.Fingerprint
	for _, p := range a.phases {
		if p.Fingerprint == a.source.Fingerprint {
			owner.Phase = p.Phase.Block
		}
	}
	copied, err := a.machine.copyTo(ctx, from, to, owner, mode)
	if err != nil {
		return fmt.Errorf("copying the snapshot %s: %w", a.source.Path, err)
	}
	a.step("copied the snapshot: %d files, %d MB, in %s", copied.Files, copied.Allocated/1e6, copied.Duration.Round(time.Millisecond))
	return a.fact(ctx, "directory", fmt.Sprintf("copy of the snapshot after %s (%s)", owner.Phase, mode))
}

// snapshotPolicy returns that of the snapshot which the run goes on from.
func (a *attempt) snapshotPolicy() *matrix.SnapshotPolicy {
	for _, p := range a.phases {
		if p.Fingerprint == a.source.Fingerprint {
			return p.Phase.Snapshot
		}
	}
	return nil
}

// copyTemplate copies an initialised data directory, which is made where it is
// not there yet.
func (a *attempt) copyTemplate(ctx context.Context, to server.Layout, owner server.Owner, s *matrix.Settings) error {
	template, err := a.machine.template(ctx, s)
	if err != nil {
		return err
	}
	a.crash.at(crashTemplateMade)
	copied, err := a.machine.copyTo(ctx, template, to, owner, server.CopyBytes)
	if err != nil {
		return fmt.Errorf("copying the template %s: %w", template.Dir, err)
	}
	a.step("copied the template: %d files, %d MB, in %s", copied.Files, copied.Allocated/1e6, copied.Duration.Round(time.Millisecond))
	return a.fact(ctx, "directory", "copy of an initialised template")
}

// recordPlace records on what filesystems the data lies.
func (a *attempt) recordPlace(ctx context.Context) error {
	if a.segments > 1 {
		return nil // the same storage as before: a change between phases is an error
	}
	found, err := a.machine.facts(a.layout)
	if err != nil {
		return fmt.Errorf("looking at the host: %w", err)
	}
	facts := make([]store.Fact, len(found))
	for i, f := range found {
		facts[i] = store.Fact(f)
	}
	if err := a.deps.Store.AddFacts(ctx, a.id, facts); err != nil {
		return a.recordError("recording facts", err)
	}
	return nil
}

// fact records one fact of the attempt.
func (a *attempt) fact(ctx context.Context, name, value string) error {
	if err := a.deps.Store.AddFacts(ctx, a.id, []store.Fact{{Name: name, Value: value}}); err != nil {
		return a.recordError("recording a fact", err)
	}
	return nil
}

// scratch returns the directory that workload programs run in. For cells without
// a server it is the data itself.
func (a *attempt) scratch() string {
	if a.phases[0].Phase.Settings.Server == nil {
		return a.layout.Data()
	}
	return filepath.Join(a.layout.Dir, "scratch")
}

// end stops what still runs and undoes what was set up.
func (a *attempt) end(ctx context.Context) error {
	err := errors.Join(a.stop(ctx), a.replaceGuardian(ctx))
	for len(a.setups) > 0 {
		err = errors.Join(err, a.tearDown(ctx))
	}
	return err
}

// discard removes the data directory of the run, unless a human or the next
// execution wants it.
func (a *attempt) discard(goesOn bool) error {
	if a.layout.Dir == "" {
		return nil
	}
	l := a.layout
	a.layout = server.Layout{}
	if a.held.holds(a.machine, l.Dir) != "" {
		a.event(Event{Kind: Notice, Run: a.run, Message: l.Dir + " stays until the kernel lets go of it; a later execution removes it"})
		return nil
	}
	if a.opts.Keep {
		a.event(Event{Kind: Notice, Run: a.run, Message: "kept " + l.Dir})
		return os.WriteFile(filepath.Join(l.Dir, keptFile), nil, 0o600)
	}
	if goesOn {
		a.event(Event{Kind: Notice, Run: a.run, Message: "its data stays in " + l.Dir + ", where the next execution goes on; dbmatrix clean removes it, and the run begins again then"})
		return nil
	}
	if err := a.machine.remove(l); err != nil {
		return fmt.Errorf("removing the data directory: %w", err)
	}
	return nil
}

// step tells of a step around the phases.
func (a *attempt) step(format string, args ...any) {
	a.event(Event{Kind: Step, Run: a.run, Attempt: a.number, Message: fmt.Sprintf(format, args...)})
}

// artifacts returns the folder of a phase's artifacts, which it makes.
func (a *attempt) artifacts(p *matrix.Phase) (string, error) {
	if a.folder == "" {
		if err := a.makeFolder(); err != nil {
			return "", fmt.Errorf("making the folder of artifacts: %w", err)
		}
	}
	dir := filepath.Join(a.folder, fileName(p.Block))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return "", fmt.Errorf("making the folder of artifacts: %w", err)
	}
	return dir, nil
}

// makeFolder makes the folder of the attempt's artifacts: a new one, since those
// of a record that was moved away may lie where this one's would.
func (a *attempt) makeFolder() error {
	of := filepath.Join(a.artifactsDir(), Slug(a.run.Cell.Key), strconv.Itoa(a.run.Replicate))
	if err := os.MkdirAll(of, 0o777); err != nil {
		return err
	}
	name := strconv.Itoa(a.number)
	for n := 2; ; n++ {
		folder := filepath.Join(of, name)
		err := os.Mkdir(folder, 0o777)
		if err == nil {
			a.folder = folder
			return nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return err
		}
		name = fmt.Sprintf("%d-%d", a.number, n)
	}
}
