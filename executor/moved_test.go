package executor

import (
	"database/sql"
	"errors"
	"os"
	"strings"
	"testing"

	"dbmatrix/executor/server"
	"dbmatrix/executor/store"
	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
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

// A record that another program keeps locked for longer than a connection waits is
// the fault of the host: the run under way counts as interrupted.
func TestRecordThatIsLocked(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for ten seconds")
	}
	h := newHarness(t)
	defer h.close()
	plan := h.plan(oneServer + phase("p", do("work")))
	e := &executor{plan: plan, machine: h.machine(), deps: Deps{Store: h.store}}
	other, err := sql.Open("sqlite3", "file:"+h.store.Path()+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	lock, err := other.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = h.store.RecordPlan(t.Context(), plan)
	f := e.blameHost(judge(e.recordError("recording the plan", err)), plan.Runs[0].Phases[0].Phase.Settings)
	var env *EnvironmentError
	if f == nil || f.status != matrix.Interrupted || !errors.As(f.host, &env) || !strings.Contains(f.Error(), "another program keeps it locked") {
		t.Errorf("the record is locked, and the phase ends with %+v", f)
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	if _, err := h.store.RecordPlan(t.Context(), plan); err != nil {
		t.Errorf("then: %v", err)
	}
}
