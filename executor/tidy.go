package executor

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"dbmatrix/executor/store"
	"dbmatrix/matrix"
)

// Tidy does for a plan of which nothing is left to execute what Run does before its
// first run: where an earlier runner was killed, it ends the processes, undoes the
// setups and removes the directories that it left. The error is an
// *EnvironmentError where the host stands in the way.
func Tidy(ctx context.Context, plan *matrix.Plan, deps Deps, opts Options) (err error) {
	id, err := deps.Store.Experiment(ctx, plan.Experiment.Name, plan.Host.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("reading the record: %w", err)
	}
	runners, err := deps.Store.OpenRunners(ctx, id)
	if err != nil || !slices.ContainsFunc(runners, func(r store.Runner) bool { return !RunnerAlive(r) }) {
		return err
	}
	e := &executor{plan: plan, deps: deps, opts: opts, crash: &crasher{}}
	release, err := e.lock()
	if err != nil {
		return err
	}
	defer release()
	if e.machine, err = startMachine(ctx, plan.Experiment.DataDir, deps.Program); err != nil {
		return environmentError("starting the guardian: %w", err)
	}
	defer func() { err = errors.Join(err, e.machine.guardian.Close()) }()
	if err := e.tidyUp(ctx); err != nil {
		return err
	}
	e.snapshots.evictUnused(ctx, e)
	return e.deps.Store.EndRunner(ctx, e.runner)
}
