package matrix

import (
	"strings"
	"testing"
)

// A phase that says so goes on where its attempt was interrupted, if the data is
// there and an iteration has ended.
func TestInterruptedPhaseContinues(t *testing.T) {
	const src = `
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  iterations   = 4
  on_interrupt = "continue"
  workload "bench" { step = "query" }
}
`
	e, cells := expandText(t, src)
	load := cells[0].Fingerprints[0]
	for name, c := range map[string]struct {
		change func(a *Attempt)
		want   bool
	}{
		"as it is":          {func(*Attempt) {}, true},
		"no data":           {func(a *Attempt) { a.Kept = nil }, false},
		"data of before":    {func(a *Attempt) { a.Kept = []Fingerprint{""} }, false},
		"nothing ended":     {func(a *Attempt) { a.Phases[1].Iterations = 0 }, false},
		"it failed":         {func(a *Attempt) { a.Status, a.Phases[1].Status = Crashed, Crashed }, false},
		"another was ended": {func(a *Attempt) { a.Phases = a.Phases[:1] }, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := Attempt{
				ID: 7, Cell: cells[0].Key, Replicate: 1, Number: 1, Host: e.Host.ID, Status: Interrupted, Kept: []Fingerprint{load},
				Phases: []PastPhase{
					{Block: "load", Fingerprint: load, Iterations: 1, Status: OK},
					{Block: "query", Fingerprint: cells[0].Fingerprints[1], Iterations: 2, Status: Interrupted},
				},
			}
			c.change(&a)
			p, err := e.MakePlan(cells, History{Attempts: []Attempt{a}}, PlanOptions{})
			if err != nil {
				t.Fatal(err)
			}
			first, second := p.Runs[0].Phases[0], p.Runs[0].Phases[1]
			if second.Continues != c.want || c.want && (first.Status != Done || !strings.Contains(second.Reason, "iteration 3")) || !c.want && first.Status == Done {
				t.Errorf("the plan: %s (%s), %s (%s)", first.Status, first.Reason, second.Status, second.Reason)
			}
			if said := strings.Contains(p.Runs[0].Reason, "in phase query; it goes on at iteration 3"); said != c.want {
				t.Errorf("the reason of the run: %q", p.Runs[0].Reason)
			}
			if fresh, err := e.MakePlan(cells, History{Attempts: []Attempt{a}}, PlanOptions{Fresh: true}); err != nil || fresh.Runs[0].Phases[1].Continues {
				t.Errorf("afresh: %+v, %v", fresh.Runs[0].Phases[1], err)
			}
		})
	}
}

// A phase that has all its iterations is brought to its end, unless it is to settle.
func TestPhaseWithAllItsIterationsContinues(t *testing.T) {
	for settle, want := range map[string]bool{"": true, "settle { pause = \"1s\" }": false} {
		e, cells := expandText(t, `
defaults { server = server.inno }
phase "query" {
  iterations   = 1
  on_interrupt = "continue"
  workload "bench" { step = "query" }
  `+settle+`
}
`)
		p, err := e.MakePlan(cells, History{Attempts: []Attempt{{
			ID: 7, Cell: cells[0].Key, Replicate: 1, Number: 1, Host: e.Host.ID, Status: Interrupted, Kept: []Fingerprint{""},
			Phases: []PastPhase{{Block: "query", Fingerprint: cells[0].Fingerprints[0], Iterations: 2, Status: Interrupted}},
		}}}, PlanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		r := p.Runs[0]
		lost := strings.Contains(r.Reason, "run removes the data directory in which attempt 1 could go on after iteration 2 of phase query")
		if r.Phases[0].Continues != want || strings.Contains(r.Reason, "brought to its end") != want || lost == want {
			t.Errorf("with %q: %v, %q", settle, r.Phases[0].Continues, r.Reason)
		}
	}
}

// What a changed definition loses of an interrupted attempt is said beforehand.
func TestKeptIterationsThatAreLost(t *testing.T) {
	e, cells := expandText(t, `
defaults { server = server.inno }
phase "query" {
  iterations   = 4
  on_interrupt = "continue"
  workload "bench" { step = "query" }
}
`)
	for name, c := range map[string]struct {
		fingerprint Fingerprint
		options     PlanOptions
		want        bool
	}{
		"as it is": {cells[0].Fingerprints[0], PlanOptions{}, false},
		"changed":  {"other", PlanOptions{}, true},
		"afresh":   {cells[0].Fingerprints[0], PlanOptions{Fresh: true}, true},
	} {
		p, err := e.MakePlan(cells, History{Attempts: []Attempt{{
			ID: 7, Cell: cells[0].Key, Replicate: 1, Number: 3, Host: e.Host.ID, Status: Interrupted, Kept: []Fingerprint{""},
			Phases: []PastPhase{{Block: "query", Fingerprint: c.fingerprint, Iterations: 2, Status: Interrupted}},
		}}}, c.options)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Runs[0].Reason; strings.Contains(got, "attempt 3 could go on after iteration 2 of phase query") != c.want {
			t.Errorf("%s: the reason is %q", name, got)
		}
	}
}
