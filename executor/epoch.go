package executor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"dbmatrix/executor/sampler"
	"dbmatrix/executor/store"
)

// compareEnvironment compares the host with the last epoch's and begins a new
// epoch where it must. A reboot alone asks nothing; anything else needs to be
// accepted, since numbers before and after it are not alike.
func (e *executor) compareEnvironment(ctx context.Context) error {
	env, err := readEnvironment(sampler.System(), e.storageDirs())
	if err != nil {
		return environmentError("looking at this host: %w", err)
	}
	last, err := e.deps.Store.LastEpoch(ctx, e.experiment)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return e.beginEpoch(ctx, env, "first")
	case err != nil:
		return e.recordError("reading the last epoch", err)
	}
	changes := env.changes(last.Facts)
	switch {
	case len(changes) > 0 && !e.opts.AcceptEnvironment:
		return environmentError("environment changed since the last run: %s\nTo go on all the same, in a new epoch that tables mention: --accept-environment", strings.Join(changes, ", "))
	case len(changes) > 0:
		e.event(Event{Kind: Notice, Message: "a new epoch begins: " + strings.Join(changes, ", ")})
		return e.beginEpoch(ctx, env, "accepted: "+strings.Join(changes, ", "))
	case env.boot != last.BootID:
		return e.beginEpoch(ctx, env, "reboot")
	}
	e.epoch = last.ID
	return nil
}

// beginEpoch records a new epoch.
func (e *executor) beginEpoch(ctx context.Context, env environment, reason string) error {
	id, err := e.deps.Store.BeginEpoch(ctx, e.experiment, store.Epoch{BootID: env.boot, Reason: reason, Facts: env.facts})
	if err != nil {
		return e.recordError(fmt.Sprintf("recording the epoch (%s)", reason), err)
	}
	e.epoch = id
	return nil
}
