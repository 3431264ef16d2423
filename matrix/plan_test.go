package matrix

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const planExperiment = `
experiment { replicates = 1 }
defaults { server = server.inno }
axis "size" {
  level "small" { my_cnf = { size = 1 } }
  level "large" { my_cnf = { size = 2 } }
}
axis "rate" {
  phases = ["query"]
  levels = [100, 1000]
  params = { rate = level }
}
phase "load" {
  snapshot = true
  workload "bench" { step = "load" }
}
phase "query" {
  iterations = 2
  workload "bench" {
    step    = "query"
    rate    = param.rate
    seconds = 60
  }
}
`

// TestStatuses tests what the plan makes of one run, size=small,rate=100, by what
// was recorded of it.
func TestStatuses(t *testing.T) {
	attempt := func(n int, s Status, message string, phases ...PastPhase) Attempt {
		return Attempt{ID: int64(n), Number: n, Cell: "size=small,rate=100", Replicate: 1, Host: "host1", Status: s, Message: message, Phases: phases}
	}
	plain := planText(t, planExperiment, History{}, PlanOptions{})
	fp := plain.Runs[0].Cell.Fingerprints
	load := PastPhase{Block: "load", Fingerprint: fp[0], Iterations: 1, Status: OK}
	query := PastPhase{Block: "query", Fingerprint: fp[1], Iterations: 2, Status: OK}
	ended := func(p PastPhase, s Status, iterations int, message string) PastPhase {
		p.Status, p.Iterations, p.Message = s, iterations, message
		return p
	}
	other := ended(query, OK, 2, "")
	other.Fingerprint = "other"
	tests := []struct {
		name     string
		attempts []Attempt
		want     string
	}{
		{"nothing recorded", nil, "new (never run) [load new, query new]"},
		{"complete", []Attempt{attempt(1, OK, "", load, query)}, "done [load done, query done]"},
		{"missed a rate", []Attempt{attempt(1, SLAMissed, "", load, ended(query, SLAMissed, 2, ""))}, "done [load done, query done]"},
		{"more iterations than are asked for", []Attempt{attempt(1, OK, "", load, ended(query, OK, 5, ""))}, "done [load done, query done]"},
		{"fewer iterations", []Attempt{attempt(1, OK, "", load, ended(query, OK, 1, ""))},
			"top-up (phase query: 1 of 2 iterations recorded) [load rebuild, query top-up]"},
		{"a phase more is wanted", []Attempt{attempt(1, OK, "", load)}, "top-up (1 of 2 phases recorded) [load rebuild, query new]"},
		{"failed", []Attempt{attempt(1, Failed, "Deadlock found", load, ended(query, Failed, 0, "Deadlock found"))},
			"failed (Deadlock found) [load rebuild, query failed (Deadlock found)]"},
		{"timeout", []Attempt{attempt(1, TimedOut, "1h0m0s", load, ended(query, TimedOut, 1, "1h0m0s"))},
			"timeout (1h0m0s) [load rebuild, query timeout (1h0m0s)]"},
		{"hung", []Attempt{attempt(1, Hung, "no progress", ended(load, Hung, 0, "no progress"))},
			"hung (no progress) [load hung (no progress), query new]"},
		{"crashed", []Attempt{attempt(1, Crashed, "signal 11", ended(load, Crashed, 0, "signal 11"))},
			"crashed (signal 11) [load crashed (signal 11), query new]"},
		{"invalid", []Attempt{attempt(1, Invalid, "no rows", load, ended(query, Invalid, 2, "no rows"))},
			"invalid (no rows) [load rebuild, query invalid (no rows)]"},
		{"interrupted in a phase", []Attempt{attempt(1, Interrupted, "", load, ended(query, Interrupted, 1, ""))},
			"interrupted (in phase query) [load rebuild, query interrupted]"},
		{"interrupted by a human", []Attempt{attempt(1, Interrupted, "interrupted", load, ended(query, Interrupted, 1, "interrupted"))},
			"interrupted (in phase query) [load rebuild, query interrupted]"},
		{"interrupted between phases", []Attempt{attempt(1, Interrupted, "", load)},
			"interrupted (before phase query) [load rebuild, query new]"},
		{"interrupted at the end", []Attempt{attempt(1, Interrupted, "", load, ended(query, OK, 1, ""))},
			"interrupted (at its end) [load rebuild, query top-up]"},
		{"interrupted with a reason", []Attempt{attempt(1, Interrupted, "the host was rebooted", load)},
			"interrupted (before phase query: the host was rebooted) [load rebuild, query new]"},
		{"interrupted before anything", []Attempt{attempt(1, Interrupted, "")},
			"interrupted (before phase load) [load new, query new]"},
		{"failed before anything", []Attempt{attempt(1, Failed, "cannot start")}, "failed (cannot start) [load new, query new]"},
		{"skipped", []Attempt{attempt(1, Skipped, "its build cannot start")},
			"new (skipped before: its build cannot start) [load new, query new]"},
		{"failed, then complete", []Attempt{attempt(1, Failed, "x", load), attempt(2, OK, "", load, query)}, "done [load done, query done]"},
		{"complete, then failed", []Attempt{attempt(1, OK, "", load, query), attempt(2, Failed, "x", load)}, "done [load done, query done]"},
		{"withdrawn", []Attempt{func() Attempt {
			a := attempt(1, OK, "", load, query)
			a.Withdrawn = "noise"
			return a
		}()}, "new (withdrawn: noise) [load new, query new]"},
		{"withdrawn, of a cell that has another name now", []Attempt{func() Attempt {
			a := attempt(1, OK, "", load, query)
			a.Withdrawn, a.Cell = "noise", "old=small"
			return a
		}()}, "new (withdrawn: noise) [load new, query new]"},
		{"withdrawn, with an older one that stands", []Attempt{attempt(1, OK, "", load, query), func() Attempt {
			a := attempt(2, OK, "", load, query)
			a.Withdrawn = "noise"
			return a
		}()}, "new (withdrawn: noise) [load new, query new]"},
		{"withdrawn, with a newer one that stands", []Attempt{func() Attempt {
			a := attempt(1, OK, "", load, query)
			a.Withdrawn = "noise"
			return a
		}(), attempt(2, OK, "", load, query)}, "done [load done, query done]"},
		{"withdrawn, of other inputs than the older one and the plan", []Attempt{attempt(1, OK, "", load, query), func() Attempt {
			a := attempt(2, OK, "", load, other)
			a.Withdrawn = "noise"
			return a
		}()}, "done [load done, query done]"},
		{"accepted, then measured again and that withdrawn", []Attempt{func() Attempt {
			a := attempt(1, OK, "", load, other)
			a.Accepted = fp[1]
			return a
		}(), func() Attempt {
			a := attempt(2, OK, "", load, query)
			a.Withdrawn = "noise"
			return a
		}()}, "new (withdrawn: noise) [load new, query new]"},
		{"other inputs, of which nothing is known", []Attempt{attempt(1, OK, "", load, other)},
			"stale (its inputs changed) [load rebuild, query stale]"},
		{"other inputs, accepted", []Attempt{func() Attempt {
			a := attempt(1, OK, "", load, other)
			a.Accepted = fp[1]
			return a
		}()}, "done (accepted as it stands) [load done, query done]"},
		{"accepted for inputs that changed again", []Attempt{func() Attempt {
			a := attempt(1, OK, "", load, other)
			a.Accepted = "another"
			return a
		}()}, "stale (its inputs changed) [load rebuild, query stale]"},
		{"another cell's attempt that broke off in the load that both begin with", []Attempt{func() Attempt {
			a := attempt(1, Crashed, "signal 11", ended(load, Crashed, 0, "signal 11"))
			a.Cell = "size=small,rate=1000"
			return a
		}()}, "new (never run) [load new, query new]"},
		{"a broken attempt of a cell that has another name now", []Attempt{func() Attempt {
			a := attempt(1, Crashed, "signal 11", ended(load, Crashed, 0, "signal 11"))
			a.Cell = "memory=small,rate=100"
			return a
		}()}, "crashed (signal 11) [load crashed (signal 11), query new]"},
		{"another host's", []Attempt{func() Attempt {
			a := attempt(1, OK, "", load, query)
			a.Host = "host2"
			return a
		}()}, "new (measured on another host only, host2; --any-host lets that count) [load new, query new]"},
		{"another host's, of another cell that begins the same", []Attempt{func() Attempt {
			a := attempt(1, OK, "", load, other)
			a.Host, a.Cell = "host2", "size=small,rate=1000"
			return a
		}()}, "new (never run) [load new, query new]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := planText(t, planExperiment, History{Attempts: tt.attempts}, PlanOptions{})
			if got := strings.TrimPrefix(shown(p)[0], "size=small,rate=100 1: "); got != tt.want {
				t.Errorf("the run is %s\nwant %s", got, tt.want)
			}
		})
	}
}

// TestAsRecorded tests what is said of a run whose build is not on this host, by
// what was recorded of it.
func TestAsRecorded(t *testing.T) {
	src := strings.Replace(planExperiment, "server.inno", "server.gone", 1)
	recorded := func(o *LoadOptions) { o.Recorded = func(string) bool { return true } }
	attempt := func(n int, s Status, withdrawn string) Attempt {
		return Attempt{ID: int64(n), Number: n, Cell: "size=small,rate=100", Replicate: 1, Host: "host1", Status: s, Message: "as it ended", Withdrawn: withdrawn,
			Phases: []PastPhase{{Block: "load", Fingerprint: "of that build", Iterations: 1, Status: OK}}}
	}
	const absent = "server gone is not on this host: no machine file names it"
	tests := []struct {
		name     string
		attempts []Attempt
		options  PlanOptions
		status   Status
		reason   string
	}{
		{"complete", []Attempt{attempt(1, OK, ""), attempt(2, Failed, "")}, PlanOptions{AsRecorded: true}, Done, "as recorded; " + absent},
		{"failed", []Attempt{attempt(1, OK, "noise"), attempt(2, Failed, "")}, PlanOptions{AsRecorded: true}, Failed, "as it ended"},
		{"withdrawn", []Attempt{attempt(1, OK, "noise")}, PlanOptions{AsRecorded: true}, New, absent},
		{"nothing", nil, PlanOptions{AsRecorded: true}, New, absent},
		{"to be run", []Attempt{attempt(1, OK, "")}, PlanOptions{}, New, absent},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := planText(t, src, History{Attempts: tt.attempts}, tt.options, recorded)
			if r := p.Runs[0]; r.Status != tt.status || r.Reason != tt.reason {
				t.Errorf("the run is %s (%s)\nwant %s (%s)", r.Status, r.Reason, tt.status, tt.reason)
			}
		})
	}
}

// TestStaleReasons tests what a stale run says of what changed.
func TestStaleReasons(t *testing.T) {
	tests := []struct {
		name string
		text []string
		want string
	}{
		{"one change", []string{`size = 1`, `size = 3`}, "my_cnf.size was 1, is 3"},
		{"several", []string{`size = 1`, `speed = 3`}, "my_cnf.size was 1, is not set; my_cnf.speed was not set, is 3"},
		{"of sizes", []string{`size = 1`, `size = "64M", other = "2G", odd = 67108865`},
			"my_cnf.odd was not set, is 67108865; my_cnf.other was not set, is 2G; my_cnf.size was 1, is 64M"},
		{"many", []string{`size = 1`, `a = 1, b = 1, c = 1`}, "my_cnf.a was not set, is 1; and 3 more"},
		{"iterations of an earlier phase", []string{`snapshot = true`, `iterations = 3`, `size = 1`, `size = 1`},
			"snapshot was copy, is not set"},
		{"of a later phase", []string{`seconds = 60`, `seconds = 61`}, "bench.seconds was 60, is 61"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			h := record(planText(t, planExperiment, History{}, PlanOptions{}))
			p := planText(t, replaced(t, planExperiment, tt.text), h, PlanOptions{})
			if r := p.Runs[0]; r.Status != Stale || r.Reason != tt.want {
				t.Errorf("%s (%s), want stale (%s)", r.Status, r.Reason, tt.want)
			}
		})
	}
	t.Run("iterations before it", func(t *testing.T) {
		const src = "defaults { server = server.inno }\nphase \"load\" {\n  workload \"bench\" { step = \"load\" }\n}\nphase \"a\" {\n  iterations = 2\n  workload \"bench\" { step = \"query\" }\n}\nphase \"b\" {\n  workload \"bench\" { step = \"query\" }\n}\n"
		h := record(planText(t, src, History{}, PlanOptions{}))
		p := planText(t, replaced(t, src, []string{"iterations = 2", "iterations = 4"}), h, PlanOptions{})
		want := []string{" 1: stale (phase b had 2 iterations before it, has 4) [load rebuild, a rebuild, b stale]"}
		if diff := cmp.Diff(want, shown(p)); diff != "" {
			t.Errorf("plan (-want +got):\n%s", diff)
		}
	})
	t.Run("inputs that cannot be read", func(t *testing.T) {
		h := record(planText(t, planExperiment, History{}, PlanOptions{}))
		h.Inputs = func(Fingerprint) ([]Input, error) { return nil, errors.New("disk error") }
		e, cells := expandText(t, replaced(t, planExperiment, []string{`size = 1`, `size = 3`}))
		_, err := e.MakePlan(cells, h, PlanOptions{})
		if err == nil || !strings.Contains(err.Error(), "comparing cell \"size=small,rate=100\" with what was recorded: disk error") {
			t.Errorf("error %v", err)
		}
	})
}

// TestAttemptOfRun tests which attempt a run has its status from, whatever its cell
// was called, and that none of its earlier attempts counts as gone.
func TestAttemptOfRun(t *testing.T) {
	h := record(planText(t, planExperiment, History{}, PlanOptions{}))
	older := h.Attempts[0]
	h.Attempts[0].ID, h.Attempts[0].Number = 9, 2
	h.Attempts = append([]Attempt{older}, h.Attempts...)
	want := []int64{9, 2, 3, 4}
	renamed := replaced(t, planExperiment, []string{`axis "size"`, `axis "memory"`})
	for _, tt := range []struct {
		name, src string
		options   PlanOptions
		status    Status
		reason    string
	}{
		{"the same names", planExperiment, PlanOptions{}, Done, ""},
		{"other names", renamed, PlanOptions{}, Done, ""},
		{"other names, afresh", renamed, PlanOptions{Fresh: true}, New, "asked for afresh; it was done"},
		{"other inputs", replaced(t, planExperiment, []string{`seconds = 60`, `seconds = 61`}), PlanOptions{}, Stale, "bench.seconds was 60, is 61"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := planText(t, tt.src, h, tt.options)
			var got []int64
			for _, r := range p.Runs {
				got = append(got, r.Attempt)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("attempts (-want +got):\n%s", diff)
			}
			if r := p.Runs[0]; r.Status != tt.status || r.Reason != tt.reason {
				t.Errorf("%s (%s), want %s (%s)", r.Status, r.Reason, tt.status, tt.reason)
			}
			if len(p.Gone) > 0 {
				t.Errorf("gone: %v", p.Gone)
			}
		})
	}
}

func TestGone(t *testing.T) {
	h := record(planText(t, planExperiment, History{}, PlanOptions{}))
	h.Attempts[2].Status = Failed // a failure is no result
	p := planText(t, replaced(t, planExperiment, []string{`[100, 1000]`, `[1000]`}), h, PlanOptions{})
	if diff := cmp.Diff([]GoneRun{{"size=small,rate=100", 1}}, p.Gone); diff != "" {
		t.Errorf("gone (-want +got):\n%s", diff)
	}
	if p.Summary.ByStatus[Gone] != 1 || p.Summary.ByStatus[Done] != 2 {
		t.Errorf("statuses %v", p.Summary.ByStatus)
	}
}

func TestOrders(t *testing.T) {
	order := func(t *testing.T, head string, text ...string) []string {
		src := replaced(t, planExperiment, append([]string{"experiment { replicates = 1 }", head}, text...))
		p := planText(t, src, History{}, PlanOptions{})
		var got []string
		for i, r := range p.Runs {
			if r.Position != i+1 {
				t.Errorf("run %d has position %d", i+1, r.Position)
			}
			got = append(got, fmt.Sprintf("%s %d", strings.NewReplacer("size=", "", "rate=", "").Replace(string(r.Cell.Key)), r.Replicate))
		}
		return got
	}
	t.Run("interleaved", func(t *testing.T) {
		want := []string{"small,100 1", "small,1000 1", "large,100 1", "large,1000 1", "small,100 2", "small,1000 2", "large,100 2", "large,1000 2"}
		if diff := cmp.Diff(want, order(t, "experiment { replicates = 2 }")); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
	t.Run("grouped", func(t *testing.T) {
		want := []string{"small,100 1", "small,100 2", "small,1000 1", "small,1000 2", "large,100 1", "large,100 2", "large,1000 1", "large,1000 2"}
		if diff := cmp.Diff(want, order(t, "experiment {\n  replicates = 2\n  order = \"grouped\"\n}")); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
	t.Run("cells that share a snapshot come together", func(t *testing.T) {
		// The rate varies slowest now, so that the sharers lie apart.
		src := strings.Replace(planExperiment, "axis \"size\" {\n  level \"small\" { my_cnf = { size = 1 } }\n  level \"large\" { my_cnf = { size = 2 } }\n}\n", "", 1)
		src += "axis \"size\" {\n  levels = [1, 2]\n  my_cnf = { size = level }\n}\n"
		var got []CellKey
		for _, r := range planText(t, src, History{}, PlanOptions{}).Runs {
			got = append(got, r.Cell.Key)
		}
		want := []CellKey{"rate=100,size=1", "rate=1000,size=1", "rate=100,size=2", "rate=1000,size=2"}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("order (-want +got):\n%s", diff)
		}
	})
	t.Run("shuffled by the seed, within replicates, sharers together", func(t *testing.T) {
		const head = "experiment {\n  replicates = 2\n  order = \"shuffled\"\n  seed = %d\n}"
		more := []string{"[100, 1000]", "[100, 1000, 10000]", "level \"large\"", "level \"mid\" { my_cnf = { size = 7 } }\n  level \"huge\" { my_cnf = { size = 9 } }\n  level \"large\""}
		first := order(t, fmt.Sprintf(head, 1), more...)
		if diff := cmp.Diff(first, order(t, fmt.Sprintf(head, 1), more...)); diff != "" {
			t.Errorf("one seed gives two orders:\n%s", diff)
		}
		seen := map[string]bool{}
		for seed := range 5 {
			got := order(t, fmt.Sprintf(head, seed), more...)
			seen[strings.Join(got, " ")] = true
			sorted := slices.Clone(got)
			slices.Sort(sorted)
			if len(slices.Compact(sorted)) != 24 {
				t.Errorf("%d runs, want 24 that differ", len(slices.Compact(sorted)))
			}
			for i, r := range got {
				if want := map[bool]string{true: "1", false: "2"}[i < 12]; !strings.HasSuffix(r, " "+want) {
					t.Errorf("run %d is %s, want replicate %s", i+1, r, want)
				}
				if size, _, _ := strings.Cut(r, ","); i%3 > 0 && !strings.HasPrefix(got[i-1], size) {
					t.Errorf("run %d is %s after %s, want the sharers together", i+1, r, got[i-1])
				}
			}
		}
		if len(seen) < 4 {
			t.Errorf("5 seeds give %d orders", len(seen))
		}
	})
}

// TestSharing tests the classic insert benchmark: two rates of queries after one
// load, in three replicates.
func TestSharing(t *testing.T) {
	classic := replaced(t, planExperiment, []string{"replicates = 1", "replicates = 3"})
	loads := func(p *Plan) (n int) {
		for _, r := range p.Runs {
			if r.Phases[0].From == 0 && r.Phases[0].Status != Done {
				n++
			}
		}
		return n
	}
	t.Run("without snapshots every run loads", func(t *testing.T) {
		p := planText(t, replaced(t, classic, []string{"snapshot = true", ""}), History{}, PlanOptions{})
		if got := loads(p); got != 12 {
			t.Errorf("%d loads, want 6 for each of the two sizes", got)
		}
		if p.Runs[0].Phases[0].SharedWith != nil {
			t.Error("a phase without a snapshot is shared")
		}
	})
	t.Run("3 loads where 6 were", func(t *testing.T) {
		p := planText(t, classic, History{}, PlanOptions{})
		if got := loads(p); got != 6 {
			t.Errorf("%d loads, want 3 for each of the two sizes", got)
		}
		if s := p.Summary; s.PhasesToRun != 18 || s.PhasesWithoutSharing != 24 {
			t.Errorf("%d phases to run, without sharing %d; want 18 and 24", s.PhasesToRun, s.PhasesWithoutSharing)
		}
		second := p.Runs[1]
		if ph := second.Phases[0]; ph.From != 1 || ph.Status != New || ph.Reason != "measured by run 1, which leaves its snapshot" {
			t.Errorf("the load of %s: from %d, %s (%s)", second.Cell.Key, ph.From, ph.Status, ph.Reason)
		}
		want := []CellKey{"size=small,rate=100", "size=small,rate=1000"}
		if diff := cmp.Diff(want, second.Phases[0].SharedWith); diff != "" {
			t.Errorf("shared with (-want +got):\n%s", diff)
		}
		if p.Runs[4].Phases[0].From != 0 || p.Runs[5].Phases[0].From != 5 {
			t.Errorf("replicate 2 goes on from runs %d and %d, want its own load in run 5", p.Runs[4].Phases[0].From, p.Runs[5].Phases[0].From)
		}
	})
	t.Run("1 with share = replicates", func(t *testing.T) {
		p := planText(t, replaced(t, classic, []string{"snapshot = true", "snapshot {\n    share = \"replicates\"\n  }"}), History{}, PlanOptions{})
		if got := loads(p); got != 2 {
			t.Errorf("%d loads, want 1 for each of the two sizes", got)
		}
		if got := p.Runs[9].Phases[0].From; got != 1 {
			t.Errorf("replicate 3 goes on from run %d, want run 1", got)
		}
		if got := p.Runs[9].Phases[0].SharedWith; len(got) != 2 {
			t.Errorf("shared with %v, want two cells", got)
		}
	})
	t.Run("a snapshot that is kept", func(t *testing.T) {
		plain := planText(t, classic, History{}, PlanOptions{})
		h := History{Snapshots: []Snapshot{{Fingerprint: plain.Runs[0].Cell.Fingerprints[0], Replicate: 2}}}
		p := planText(t, classic, h, PlanOptions{})
		if got := loads(p); got != 5 {
			t.Errorf("%d loads, want 5", got)
		}
		for _, r := range p.Runs {
			ph := r.Phases[0]
			kept := r.Replicate == 2 && strings.HasPrefix(string(r.Cell.Key), "size=small")
			if kept != (ph.Status == Done && ph.Reason == "its snapshot is kept") {
				t.Errorf("the load of %s %d: %s (%s)", r.Cell.Key, r.Replicate, ph.Status, ph.Reason)
			}
		}
		if got := loads(planText(t, classic, h, PlanOptions{Fresh: true})); got != 6 {
			t.Errorf("with --fresh %d loads, want 6", got)
		}
	})
	t.Run("what is done needs no load", func(t *testing.T) {
		h := record(planText(t, classic, History{}, PlanOptions{}))
		h.Attempts = h.Attempts[:1]
		p := planText(t, classic, h, PlanOptions{})
		if got := p.Runs[1].Phases[0]; got.From != 0 || got.Status != New {
			t.Errorf("the load of the second run: from %d, %s; want it executed", got.From, got.Status)
		}
		if got := loads(p); got != 6 {
			t.Errorf("%d loads, want 6: the state of the first is gone", got)
		}
	})
	t.Run("the last of several snapshots", func(t *testing.T) {
		p := planText(t, replaced(t, classic, []string{"phase \"query\"", "phase \"index\" {\n  snapshot = true\n  workload \"bench\" { step = \"scan\" }\n}\nphase \"query\""}), History{}, PlanOptions{})
		if got := p.Runs[1].Phases; got[0].From != 1 || got[1].From != 1 || got[2].From != 0 {
			t.Errorf("the second run goes on from %d, %d, %d", got[0].From, got[1].From, got[2].From)
		}
	})
}

func TestEstimates(t *testing.T) {
	plain := planText(t, planExperiment, History{}, PlanOptions{})
	past := func(id int64, cell CellKey, seconds float64, bytes uint64, phases ...PastPhase) Attempt {
		for i := range phases {
			phases[i].Seconds, phases[i].Bytes, phases[i].Status, phases[i].Iterations = seconds, bytes, OK, 1
		}
		return Attempt{ID: id, Cell: cell, Replicate: 7, Host: "host1", Status: OK, Phases: phases}
	}
	exact := PastPhase{Block: "query", Fingerprint: plain.Runs[0].Cell.Fingerprints[1]}
	tests := []struct {
		name     string
		attempts []Attempt
		want     string // of the query of size=small,rate=100: seconds, basis
	}{
		{"declared: two iterations of 60 s", nil, "120 declared 0"},
		{"phases of its name anywhere", []Attempt{past(1, "other", 40, 5, PastPhase{Block: "query", Fingerprint: "x"})}, "40 history 5"},
		{"of its name in the same cell", []Attempt{
			past(1, "other", 40, 5, PastPhase{Block: "query", Fingerprint: "x"}),
			past(2, "size=small,rate=100", 50, 6, PastPhase{Block: "query", Fingerprint: "y"})}, "50 history 6"},
		{"the very phase, on average", []Attempt{
			past(2, "size=small,rate=100", 50, 6, PastPhase{Block: "query", Fingerprint: "y"}),
			past(3, "renamed", 60, 7, exact), past(4, "renamed", 80, 9, exact)}, "70 history 9"},
		{"none that was taken from a snapshot", []Attempt{past(1, "other", 40, 5, PastPhase{Block: "query", Fingerprint: "x", FromID: 9})}, "120 declared 0"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := planText(t, planExperiment, History{Attempts: tt.attempts}, PlanOptions{})
			q := p.Runs[0].Phases[1]
			if got := fmt.Sprintf("%g %s %d", q.Seconds, q.Basis, q.Bytes); got != tt.want {
				t.Errorf("the query takes %s, want %s", got, tt.want)
			}
		})
	}
	t.Run("in all", func(t *testing.T) {
		if s := plain.Summary; s.Duration != 8*time.Minute || s.DurationKnown {
			t.Errorf("%v, known: %v; want 8 minutes for the queries, and the loads unknown", s.Duration, s.DurationKnown)
		}
		h := History{Attempts: []Attempt{past(1, "x", 100, 1000, PastPhase{Block: "load", Fingerprint: "l"}), past(2, "x", 50, 1500, PastPhase{Block: "query", Fingerprint: "q"})}}
		p := planText(t, planExperiment, h, PlanOptions{})
		if s := p.Summary; s.Duration != 400*time.Second || !s.DurationKnown {
			t.Errorf("%v, known: %v; want 2 loads and 4 queries, 400 s", s.Duration, s.DurationKnown)
		}
		// One directory of 1500 bytes, and the snapshot of the load beside it.
		if got := p.Summary.PeakBytes; got != 2500 {
			t.Errorf("peak of %d bytes, want 2500", got)
		}
	})
	t.Run("no peak where nothing is left", func(t *testing.T) {
		p := planText(t, planExperiment, record(plain), PlanOptions{})
		if s := p.Summary; s.PeakBytes != 0 || s.Duration != 0 || s.PhasesToRun != 0 {
			t.Errorf("summary %+v", s)
		}
	})
	t.Run("the warm-up counts", func(t *testing.T) {
		p := planText(t, replaced(t, planExperiment, []string{"iterations = 2", "warmup = \"30s\""}), History{}, PlanOptions{})
		if got := p.Runs[0].Phases[1].Seconds; got != 90 {
			t.Errorf("%g s, want 90", got)
		}
	})
}

// TestPeak tests that snapshots which are needed at one time are added up.
func TestPeak(t *testing.T) {
	h := History{Attempts: []Attempt{{ID: 1, Cell: "x", Replicate: 9, Host: "host1", Status: OK, Phases: []PastPhase{
		{Block: "load", Fingerprint: "l", Iterations: 1, Status: OK, Seconds: 1, Bytes: 1000},
		{Block: "query", Fingerprint: "q", Iterations: 1, Status: OK, Seconds: 1, Bytes: 1000}}}}}
	src := replaced(t, planExperiment, []string{"experiment { replicates = 1 }", "experiment {\n  replicates = 2\n  order = \"interleaved\"\n}",
		"snapshot = true", "snapshot {\n    share = \"replicates\"\n  }"})
	// Both snapshots serve replicate 2 as well, so that they live side by side.
	if got := planText(t, src, h, PlanOptions{}).Summary.PeakBytes; got != 3000 {
		t.Errorf("peak of %d bytes, want 3000", got)
	}
}

// TestPeakOfDirectories tests that the plan counts what servers make for themselves,
// where nothing was measured, and the templates, which are kept.
func TestPeakOfDirectories(t *testing.T) {
	change := func(o *LoadOptions) {
		for i := range o.Dialects {
			o.Dialects[i].Footprint = func(s *Settings, data uint64) uint64 { return 100 + data }
		}
		for i := range o.Workloads {
			o.Workloads[i].Bytes = func(a Args) uint64 {
				if a["step"].AsString() == "load" {
					return 7
				}
				return 0
			}
		}
	}
	measured := History{Attempts: []Attempt{{ID: 1, Cell: "x", Replicate: 9, Host: "host1", Status: OK, Phases: []PastPhase{
		{Block: "load", Fingerprint: "l", Iterations: 1, Status: OK, Seconds: 1, Bytes: 1000},
		{Block: "query", Fingerprint: "q", Iterations: 1, Status: OK, Seconds: 1, Bytes: 1500}}}}}
	tests := []struct {
		name string
		src  string
		past History
		want uint64
	}{
		{"a directory, a snapshot and a template", planExperiment, History{}, 107 + 107 + 100},
		{"as they were measured", planExperiment, measured, 1500 + 1000 + 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := planText(t, tt.src, tt.past, PlanOptions{}, change).Summary
			if s.PeakBytes != tt.want || !s.PeakKnown {
				t.Errorf("peak of %d bytes, known %v; want %d", s.PeakBytes, s.PeakKnown, tt.want)
			}
		})
	}
	unknown := replaced(t, planExperiment, []string{`step = "load"`, `step = "query"`})
	if s := planText(t, unknown, History{}, PlanOptions{}, change).Summary; s.PeakKnown || s.PeakBytes == 0 {
		t.Errorf("peak of %d bytes, known %v; nothing is known of the data", s.PeakBytes, s.PeakKnown)
	}
}
