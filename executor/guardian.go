package executor

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// errGuardianKilled is why a run failed whose guardian was killed.
var errGuardianKilled = errors.New("the guardian process, which is the parent of servers and clients, was killed from outside, and all that it ran with it")

// lostBound is how long the kernel may take to end what a killed guardian ran:
// each of its children gets SIGKILL when its parent is gone.
const lostBound = 30 * time.Second

// awaitLost waits for the end of a server whose guardian was killed.
func (a *attempt) awaitLost(s subject) error {
	if s.Done() == nil {
		return nil
	}
	bound := time.NewTimer(lostBound)
	defer bound.Stop()
	select {
	case <-s.Done():
		return nil
	case <-bound.C:
		return fmt.Errorf("the server still runs %s after its guardian was killed", lostBound)
	}
}

// withGuardian replaces the guardian where a phase failed because it was killed.
// Where there cannot be another one the host is at fault, and the phase is no
// failed one: it is to be taken up as soon as the host is well.
func (a *attempt) withGuardian(ctx context.Context, f *failure) *failure {
	if f == nil || !errors.Is(f, errGuardianKilled) {
		return f
	}
	err := errors.Join(a.stop(ctx), a.replaceGuardian(ctx))
	if err == nil {
		return f
	}
	later := judge(err)
	if later.host == nil {
		return first(f, later)
	}
	later.details = append(later.details, f.details...)
	return later
}

// replaceGuardian starts a new guardian where the last one was killed, once
// nothing of what that one ran is left: a server that lived on would disturb the
// next run, and might write to its data.
func (e *executor) replaceGuardian(ctx context.Context) error {
	if !e.machine.lost() {
		return nil
	}
	ctx = context.WithoutCancel(ctx)
	if err := e.endOrphans(ctx); err != nil {
		return (&failure{err: errGuardianKilled}).ofHost(err)
	}
	m, err := e.machine.renew(ctx)
	if err != nil {
		return (&failure{err: errGuardianKilled}).ofHost(environmentError("starting another guardian: %w", err))
	}
	e.machine = m
	e.event(Event{Kind: Notice, Message: "the guardian was killed; nothing of what it ran is left, and there is a new one"})
	return nil
}
