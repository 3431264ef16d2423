package executor

import (
	"errors"
	"os"
	"testing"

	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/executor/workload"
)

// A record that is removed while runs are recorded in it stops the plan.
func TestResultsThatAreMovedAway(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.startError = func(*server.Launch) error { return os.Remove(h.store.Path()) }
		defer func() { h.startError = nil }()
		plan := h.plan(twoCells + phase("query", do("work"), `warmup = "${axis.n}s"`))
		e := &executor{
			plan: plan, crash: &crasher{}, machine: h.machine(), pending: plan.Runs, inForce: newInForceTable(), broken: map[string]string{},
			deps: Deps{Store: h.store, Workloads: []workload.Type{h.workload()}}, opts: Options{AcceptEnvironment: true},
		}
		err := e.execute(t.Context())
		var env *EnvironmentError
		if !errors.As(err, &env) || !errors.As(e.outcome.Stopped, &env) || !errors.Is(err, store.ErrMoved) || len(e.outcome.Failed) > 0 {
			t.Errorf("got %v; %+v", err, e.outcome)
		}
		h.log = nil
	})
}
