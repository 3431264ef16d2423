package executor

import (
	"errors"
	"strings"
	"testing"

	"dbmatrix/executor/store"

	"github.com/google/go-cmp/cmp"
)

// leave records a setup that was never undone, of a runner of some boot.
func (h *harness) leave(definition, boot string) *executor {
	h.t.Helper()
	plan := h.plan(definition)
	e := &executor{plan: plan, opts: Options{Report: func(ev Event) { h.events = append(h.events, ev) }}, machine: h.machine(), deps: Deps{Store: h.store}}
	ctx := h.t.Context()
	var err error
	if e.experiment, err = h.store.RecordPlan(ctx, plan); err != nil {
		h.t.Fatal(err)
	}
	runner, _, err := h.store.BeginRunner(ctx, store.Runner{Experiment: e.experiment, BootID: boot}, func(store.Runner) bool { return false })
	if err != nil {
		h.t.Fatal(err)
	}
	attempt, _, err := h.store.BeginAttempt(ctx, store.AttemptStart{Experiment: e.experiment, Runner: runner, Cell: plan.Cells[0].Key, Replicate: 1, Phases: 1})
	if err != nil {
		h.t.Fatal(err)
	}
	if _, err := h.store.BeginSetup(ctx, store.Setup{Attempt: attempt, Dir: h.dir, Teardown: [][]string{{"umount", "/mnt/x"}}}); err != nil {
		h.t.Fatal(err)
	}
	return e
}

// A setup that an earlier runner left is undone first. Where that fails, a human must
// say that it is undone, unless a boot has done it.
func TestSetupThatWasLeft(t *testing.T) {
	boot, err := bootID()
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		boot   string
		fails  bool
		accept bool
		left   int // that are still set up
	}{
		"undone":                    {boot, false, false, 0},
		"fails":                     {boot, true, false, 1},
		"fails, and is undone":      {boot, true, true, 0},
		"fails after another boot":  {"another", true, false, 0},
		"undone after another boot": {"another", false, false, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHarness(t)
			defer h.close()
			e := h.leave(oneServer+phase("p", do("work")), c.boot)
			if c.fails {
				h.guardError = errors.New("it is not mounted")
			}
			e.opts.AcceptEnvironment = c.accept
			err := e.recover(t.Context())
			if failed := c.left > 0; failed != (err != nil) || failed && !strings.Contains(err.Error(), "--accept-environment") {
				t.Errorf("recovery: %v", err)
			}
			open, err := h.store.OpenSetups(t.Context(), e.experiment)
			if err != nil || len(open) != c.left {
				t.Errorf("%d are set up, want %d (%v)", len(open), c.left, err)
			}
			if diff := cmp.Diff([]string{"command umount /mnt/x"}, h.log); diff != "" {
				t.Errorf("done (-want +got):\n%s", diff)
			}
		})
	}
}
