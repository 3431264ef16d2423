package executor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"dbmatrix/executor/store"

	"github.com/google/go-cmp/cmp"
)

// goOn executes a definition that is interrupted once, and what is left of it.
// spoil happens in between.
func goOn(t *testing.T, h *harness, definition string, spoil func()) (first, second Outcome) {
	t.Helper()
	h.owned = true
	ctx, cancel := context.WithCancelCause(t.Context())
	h.cut = func() { cancel(ErrInterrupted) }
	first = h.run(ctx, definition)
	h.note("--")
	spoil()
	h.finish = make(chan struct{})
	return first, h.run(t.Context(), definition)
}

// iterations returns the number, status and flags of each iteration of a phase of
// the only attempt.
func (h *harness) iterations(block string) []string {
	h.t.Helper()
	attempts, err := h.store.Results(h.t.Context(), "experiment", store.Selection{All: true})
	if err != nil || len(attempts) != 1 {
		h.t.Fatalf("%d attempts, %v", len(attempts), err)
	}
	var all []string
	for _, p := range attempts[0].Phases {
		if p.Block != block {
			continue
		}
		for _, it := range p.Iterations {
			text := string(it.Status)
			for _, f := range it.Flags {
				text += " " + f.Name
			}
			if it.Number > 0 {
				all = append(all, text)
			}
		}
	}
	return all
}

func TestInterruptedPhaseGoesOnAtItsNextIteration(t *testing.T) {
	for name, c := range map[string]struct {
		do    string
		first []string // what the first execution does with its server
		then  []string
		want  []string
	}{
		"after an iteration": {"finish second",
			[]string{"finish second 1", "finish second 2", "stop", "--"},
			[]string{"start one", "finish second 3", "finish second 4", "stop", "remove run"},
			[]string{"ok", "ok", "ok continued", "ok"}},
		"within an iteration": {"cut third",
			[]string{"cut third 1", "cut third 2", "cut third 3", "stop", "--"},
			[]string{"start one", "cut third 3", "cut third 4", "stop", "remove run"},
			[]string{"ok", "ok", "ok continued", "ok"}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *harness) {
				definition := oneServer + phase("load", do("load")) + phase("query", do(c.do), "iterations = 4", `on_interrupt = "continue"`)
				first, second := goOn(t, h, definition, func() {
					plan := h.plan(definition)
					if p := plan.Runs[0].Phases[1]; !p.Continues || !strings.Contains(p.Reason, "goes on at iteration 3") || plan.Summary.PhasesToRun != 1 {
						t.Errorf("the plan says %+v of the phase; %d phases to run", p, plan.Summary.PhasesToRun)
					}
				})
				h.check(slices.Concat([]string{"copy template to run", "start one", "load 1"}, c.first, c.then), []string{"ok load=ok query=ok"})
				if !first.Interrupted || second.Done != 1 {
					t.Errorf("outcomes: %+v, %+v", first, second)
				}
				if diff := cmp.Diff(c.want, h.iterations("query")); diff != "" {
					t.Errorf("iterations (-want +got):\n%s", diff)
				}
				if events := h.recordedEvents("continued"); len(events) != 1 {
					t.Errorf("events: %q", events)
				}
			})
		})
	}
}

// A phase goes on after a full disk too: what it had is not thrown away to make room.
func TestGoesOnAfterAFullDisk(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		definition := oneServer + phase("query", do("fill second"), "iterations = 3", `on_interrupt = "continue"`)
		first, second := goOn(t, h, definition, func() { h.full = false })
		var env *EnvironmentError
		if !errors.As(first.Stopped, &env) || !strings.Contains(first.Stopped.Error(), "disk full on ") || second.Done != 1 {
			t.Errorf("outcomes: %+v, %+v", first, second)
		}
		if !slices.ContainsFunc(h.events, func(ev Event) bool {
			return strings.Contains(ev.Message, "where the next execution goes on; dbmatrix clean removes it")
		}) {
			t.Errorf("it is not told where the data stays: %+v", h.events)
		}
		h.check([]string{"copy template to run", "start one", "fill second 1", "fill second 2", "stop", "--",
			"start one", "fill second 2", "fill second 3", "stop", "remove run"}, []string{"ok query=ok"})
	})
}

// A phase that has all the iterations that are asked for now is brought to its end,
// without another.
func TestFewerIterationsThanThereAre(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		h.owned = true
		query := func(n int) string {
			return oneServer + phase("query", do("cut third"), fmt.Sprintf("iterations = %d", n), `on_interrupt = "continue"`)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		h.cut = func() { cancel(ErrInterrupted) }
		h.run(ctx, query(4))
		h.note("--")
		h.finish = make(chan struct{})
		plan := h.plan(query(1))
		if r := plan.Runs[0]; !r.Phases[0].Continues || !strings.Contains(r.Reason, "in phase query; it has its iterations") {
			t.Errorf("the plan says %q, %q", r.Reason, r.Phases[0].Reason)
		}
		if out := h.run(t.Context(), query(1)); out.Done != 1 {
			t.Errorf("outcome: %+v", out)
		}
		h.check([]string{"copy template to run", "start one", "cut third 1", "cut third 2", "cut third 3", "stop", "--",
			"start one", "stop", "remove run"}, []string{"ok query=ok"})
		if diff := cmp.Diff([]string{"ok", "ok"}, h.iterations("query")); diff != "" {
			t.Errorf("iterations (-want +got):\n%s", diff)
		}
	})
}

// What cannot go on begins again, in a new attempt.
func TestWhatCannotGoOn(t *testing.T) {
	for name, c := range map[string]struct {
		query string
		spoil func(h *harness)
	}{
		"it does not say so":         {phase("query", do("finish second"), "iterations = 3"), func(*harness) {}},
		"no iteration ended":         {phase("query", do("cut first"), "iterations = 3", `on_interrupt = "continue"`), func(*harness) {}},
		"its data is gone":           {phase("query", do("finish second"), "iterations = 3", `on_interrupt = "continue"`), func(h *harness) { h.forget() }},
		"its environment is another": {phase("query", do("finish second"), "iterations = 3", `on_interrupt = "continue"`), func(h *harness) { h.alter("DELETE FROM epoch_fact") }},
		"everything is afresh":       {phase("query", do("finish second"), "iterations = 3", `on_interrupt = "continue"`), func(h *harness) { h.options.Selection.Fresh = true }},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T, h *harness) {
				_, second := goOn(t, h, oneServer+phase("load", do("load"))+c.query, func() { c.spoil(h) })
				if second.Done != 1 {
					t.Errorf("outcome: %+v", second)
				}
				told := slices.ContainsFunc(h.events, func(ev Event) bool {
					return strings.HasPrefix(ev.Message, "it begins again instead of going on after iteration 2: ")
				})
				if told != (name == "its environment is another") {
					t.Errorf("events: %+v", h.events)
				}
				if diff := cmp.Diff([]string{"interrupted load=ok query=interrupted", "ok load=ok query=ok"}, h.statuses()); diff != "" {
					t.Errorf("recorded (-want +got):\n%s", diff)
				}
				if left, err := filepath.Glob(filepath.Join(h.dir, "data", "runs", "*")); err != nil || len(left) > 0 {
					t.Errorf("left behind: %v, %v", left, err)
				}
			})
		})
	}
}

// forget removes the data of all runs.
func (h *harness) forget() {
	if err := os.RemoveAll(filepath.Join(h.dir, "data", "runs")); err != nil {
		h.t.Fatal(err)
	}
}

// A directory that a human keeps, a foreign one, and one that is not whole are not
// gone on in.
func TestLeftRuns(t *testing.T) {
	inBubble(t, func(t *testing.T, h *harness) {
		definition := oneServer + phase("query", do("finish second"), "iterations = 3", `on_interrupt = "continue"`)
		h.owned = true
		h.run(t.Context(), definition)
		exp := h.plan(definition).Experiment
		runs := filepath.Join(h.dir, "data", "runs")
		left, err := leftRuns(exp)
		if err != nil || len(left) != 1 || !left[0].of("", 1, 1) || left[0].of("", 2, 1) {
			t.Fatalf("found %+v, %v", left, err)
		}
		dir := left[0].layout.Dir
		for _, name := range []string{"foreign", filepath.Base(dir) + ".tmp-0123"} {
			if err := os.MkdirAll(filepath.Join(runs, name), 0o700); err != nil {
				t.Fatal(err)
			}
		}
		if left, err := leftRuns(exp); err != nil || len(left) != 1 {
			t.Errorf("found %+v, %v", left, err)
		}
		if err := os.WriteFile(filepath.Join(dir, keptFile), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if left, err := leftRuns(exp); err != nil || len(left) != 0 {
			t.Errorf("found %+v, %v", left, err)
		}
	})
}

func TestSegmentOf(t *testing.T) {
	for dir, want := range map[string]int{"/d/runs/cell-1a2b-r1-a2": 1, "/d/runs/cell-1a2b-r1-a2-3": 3, "/d/runs/a=a1-2-1a2b-r10-a12-2": 2, "/d": 1} {
		if got := segmentOf(dir); got != want {
			t.Errorf("segmentOf(%q) = %d, want %d", dir, got, want)
		}
	}
}
