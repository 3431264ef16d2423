package executor

import (
	"context"
	"errors"
	"fmt"
	"time"

	"dbmatrix/executor/sampler"
	"dbmatrix/executor/store"
	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

// A phaseRun is one phase under way.
type phaseRun struct {
	*attempt
	rp    matrix.RunPhase
	p     *matrix.Phase
	id    store.PhaseID
	dir   string // of artifacts
	began time.Time

	status  matrix.Status // the worst of its iterations'
	message string        // of that one
	whole   store.Iteration
	settled time.Duration
	bytes   int64

	memoryKills int // of the kernel before the phase

	toldToStop string // the server's word that somebody else than dbmatrix told it to

	done int           // complete iterations, before and in this execution
	from *continuation // after which it goes on; nil: it begins
}

// phase executes one phase of a run: its server, its iterations, its settle, its
// checks, its snapshot. It returns nil where the phase ended ok, and a failure of
// a complete status where it stands all the same.
func (a *attempt) phase(ctx context.Context, i int) *failure {
	rp := a.phases[i]
	ph := &phaseRun{attempt: a, rp: rp, p: rp.Phase, began: time.Now(), status: matrix.OK, memoryKills: memoryKills()}
	if err := ph.enter(ctx, i); err != nil {
		return ph.blameHost(judge(err), ph.p.Settings)
	}
	a.event(Event{Kind: PhaseStart, Run: a.run, Phase: ph.p, Attempt: a.number, Message: rp.Reason})
	f := ph.blameChange(ph.blameHost(ph.execute(ctx), ph.p.Settings))

	ctx = context.WithoutCancel(ctx)
	f = ph.withGuardian(ctx, f)
	if err := ph.finish(ctx, f); err != nil {
		f = first(f, judge(err))
	}
	a.crash.at(crashPhaseRecorded)
	if f == nil || f.status.Complete() {
		if err := ph.afterwards(ctx, i); err != nil {
			f = first(f, judge(err))
		}
	}
	for len(a.setups) > a.shared {
		if err := a.tearDown(ctx); err != nil {
			f = first(f, judge(err))
		}
	}
	f = ph.blameHost(f, ph.p.Settings)
	a.goesOnLater = f != nil && f.status == matrix.Interrupted && ph.done > 0 && ph.p.OnInterrupt == matrix.Continue && ph.p.Steps == 1
	return f
}

// enter records that the phase begins, or goes on.
func (ph *phaseRun) enter(ctx context.Context, i int) error {
	if c := ph.continuation; c != nil {
		ph.attempt.continuation = nil
		ph.from, ph.id, ph.done, ph.status = c, c.Phase, c.Finished, c.Status
		ph.began = ph.began.Add(-time.Duration(c.Seconds * float64(time.Second)))
		return nil
	}
	var err error
	ph.id, err = ph.deps.Store.BeginPhase(ctx, store.PhaseStart{
		Attempt: ph.attempt.id, Ordinal: i + 1, Phase: ph.p, Fingerprint: ph.rp.Fingerprint, Inputs: ph.p.Inputs,
	})
	if err != nil {
		return ph.recordError("beginning "+ph.p.Block, err)
	}
	return nil
}

// first returns the failure that came first, with the later one among its
// details; a complete status yields to a later failure, and anything to a server
// that does not end.
func first(f, later *failure) *failure {
	switch {
	case f == nil:
		return later
	case f.status.Complete() && !later.status.Complete():
		return later
	case later.device != "" && f.device == "":
		later.details = append([]string{"first: " + f.Error()}, f.details...)
		return later
	}
	f.details = append(f.details, "then: "+later.Error())
	return f
}

// execute makes the measured part of a phase and what belongs to it.
func (ph *phaseRun) execute(ctx context.Context) *failure {
	if f := ph.sameSources(); f != nil {
		return f
	}
	var err error
	if ph.dir, err = ph.artifacts(ph.p); err != nil {
		return judge(err)
	}
	ph.stage(ctx, "starting")
	if err := ph.begin(ctx, ph.p, ph.id); err != nil {
		return judge(err)
	}
	ph.whole.Flags, ph.doubts = append(ph.whole.Flags, ph.doubts...), nil
	if ph.from != nil && ph.done >= ph.p.Recorded() { // no iteration after the gap can tell of it
		ph.whole.Flags = append(ph.whole.Flags, ph.from.flag(time.Now(), ph.subject.StartTook(), ph.epoch))
	}
	// What is known is kept already: nobody can collect it after a power cut.
	ph.collect()
	w, err := ph.workloadType(ph.p.Workload.Type).New(ph.p.Workload.Args)
	if err != nil {
		return judge(fmt.Errorf("workload %q: %w", ph.p.Workload.Type, err))
	}
	if f := ph.iterations(ctx, w); f != nil {
		return f
	}
	if err := ph.settle(ctx); err != nil {
		return judge(err)
	}
	if err := ph.measureSize(ctx, ""); err != nil {
		return judge(err)
	}
	if ph.p.Sample.Extents {
		m, err := countExtents(ph.layout)
		if err != nil {
			return judge(err)
		}
		ph.whole.Metrics = append(ph.whole.Metrics, m)
	}
	if err := ph.judgeChecks(ctx); err != nil {
		return judge(err)
	}
	if f := ph.stillThere(ctx); f != nil {
		return f
	}
	if ph.status != matrix.OK {
		return &failure{status: ph.status, err: errors.New(ph.message)}
	}
	return nil
}

// iterations executes the iterations of a phase, or the steps of its workload.
func (ph *phaseRun) iterations(ctx context.Context, w workload.Workload) *failure {
	for ph.done < ph.p.Recorded() {
		if ph.ended(ctx) {
			return judge(errFinished)
		}
		ph.stage(ctx, "measuring")
		f := ph.iteration(ctx, w, ph.p.FirstIteration+ph.done, ph.done)
		if f != nil && !f.status.Complete() {
			return f
		}
		ph.done++
		if f == nil {
			continue
		}
		ph.status, ph.message = worst(ph.status, f.status), f.Error()
	}
	return nil
}

// stage records what the phase is at, for `status` in another terminal.
func (ph *phaseRun) stage(ctx context.Context, stage string) {
	if err := ph.deps.Store.SetStage(ctx, ph.id, stage); err != nil {
		ph.event(Event{Kind: Notice, Run: ph.run, Message: err.Error()})
	}
}

// measureSize counts the data on disk. Without a prefix it is the size that the
// phase ends with.
func (ph *phaseRun) measureSize(ctx context.Context, prefix string) error {
	usage, err := ph.machine.usage(ctx, ph.layout)
	if err != nil {
		return fmt.Errorf("counting the size of the data: %w", err)
	}
	for _, m := range usage.Metrics() {
		m.Name = prefix + m.Name
		ph.whole.Metrics = append(ph.whole.Metrics, m)
	}
	ph.bytes = usage.Total().Allocated
	return nil
}

// sizeMetrics returns the size of the data now, as metrics of an iteration.
func (ph *phaseRun) sizeMetrics(ctx context.Context) ([]matrix.Metric, error) {
	var usage sampler.Usage
	usage, err := ph.machine.usage(ctx, ph.layout)
	if err != nil {
		return nil, fmt.Errorf("counting the size of the data: %w", err)
	}
	return usage.Metrics(), nil
}

// judgeChecks judges the checks of the phase by what was recorded.
func (ph *phaseRun) judgeChecks(ctx context.Context) error {
	for _, c := range ph.p.Checks {
		message, err := ph.deps.Check(ctx, CheckRequest{Run: ph.run, Phase: ph.p, Check: c, Attempt: ph.attempt.id})
		if err != nil {
			return fmt.Errorf("check %q: %w", c.Name, err)
		}
		if message != "" {
			return &failure{status: matrix.Invalid, err: fmt.Errorf("check %q: %s", c.Name, message)}
		}
	}
	return nil
}

// finish records how the phase ended, with its sizes and artifacts.
func (ph *phaseRun) finish(ctx context.Context, f *failure) error {
	end := store.PhaseEnd{
		Status: matrix.OK, Seconds: time.Since(ph.began).Seconds(), SettleSeconds: ph.settled.Seconds(),
		Bytes: ph.bytes, Whole: ph.whole,
	}
	if f != nil {
		end.Status, end.Message = f.status, f.Error()
	}
	end.Whole.Artifacts = ph.collect()
	if err := ph.deps.Store.FinishPhase(ctx, ph.id, end); err != nil {
		return ph.recordError("finishing "+ph.p.Block, err)
	}
	ph.event(Event{Kind: PhaseEnd, Run: ph.run, Phase: ph.p, Attempt: ph.number, Status: end.Status, Message: end.Message, Took: time.Since(ph.began)})
	if f != nil && (f.status == matrix.Hung || f.status == matrix.TimedOut || f.kill) {
		return ph.kill(ctx)
	}
	return nil
}

// afterwards keeps the state after a phase, where it is to be kept: the server is
// stopped, and whatever comes next goes on from a copy of what it left.
func (ph *phaseRun) afterwards(ctx context.Context, i int) error {
	if err := ph.update(); err != nil {
		return err
	}
	ph.crash.at(crashOwnerUpdated)
	if ph.p.Snapshot == nil {
		return nil
	}
	if err := ph.stop(ctx); err != nil {
		return err
	}
	if err := ph.keepSnapshot(ctx, ph.rp); err != nil {
		return err
	}
	if i == len(ph.phases)-1 {
		return nil
	}
	l := ph.layout
	ph.layout.Dir = ""
	if err := ph.machine.remove(l); err != nil {
		return fmt.Errorf("removing the directory that the snapshot was made of: %w", err)
	}
	s, _ := ph.snapshots.find(ph.run, ph.rp)
	ph.source = &s
	return nil
}

// update notes the completed phase in the owner file.
func (ph *phaseRun) update() error {
	return ph.machine.update(ph.layout, ownerAfter(ph.rp))
}
