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
		"it is on its end":  {func(a *Attempt) { a.Phases[1].Iterations = 4 }, false},
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
			if fresh, err := e.MakePlan(cells, History{Attempts: []Attempt{a}}, PlanOptions{Fresh: true}); err != nil || fresh.Runs[0].Phases[1].Continues {
				t.Errorf("afresh: %+v, %v", fresh.Runs[0].Phases[1], err)
			}
		})
	}
}
