package main

import (
	"slices"
	"testing"

	"dbmatrix/executor"
	"dbmatrix/matrix"
)

// TestRest tests how many runs of a plan are left when the selected ones are done.
func TestRest(t *testing.T) {
	run := func(st matrix.Status) *matrix.Run {
		return &matrix.Run{Status: st, Phases: []matrix.RunPhase{{Phase: &matrix.Phase{Block: "load"}}, {Phase: &matrix.Phase{Block: "query"}}}}
	}
	p := &matrix.Plan{Runs: []*matrix.Run{run(matrix.New), run(matrix.Stale), run(matrix.Done), run(matrix.Failed)}}
	p.Runs[1].Attempt = 7
	tests := []struct {
		name     string
		selected []*matrix.Run
		until    string
		fresh    bool
		want     int
	}{
		{"all", p.Runs[:2], "", false, 0},
		{"some", p.Runs[:1], "", false, 1},
		{"all, until an earlier phase", p.Runs[:2], "load", false, 2},
		{"all, until the last phase", p.Runs[:2], "query", false, 0},
		{"some, afresh", p.Runs[:1], "load", true, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			o := runOptions{selection: executor.Selection{Until: tt.until, Fresh: tt.fresh}}
			if got := o.rest(p, tt.selected); got != tt.want {
				t.Errorf("%d runs are left, want %d", got, tt.want)
			}
		})
	}
}

// TestSmokeFirst tests which runs come first, and that no run is lost.
func TestSmokeFirst(t *testing.T) {
	run := func(server string, options ...string) *matrix.Run {
		s := &matrix.Settings{Server: &matrix.Server{Name: server}}
		for _, name := range options {
			s.Options = append(s.Options, matrix.Option{Name: name})
		}
		return &matrix.Run{Phases: []matrix.RunPhase{{Phase: &matrix.Phase{Block: "load", Settings: s}}}}
	}
	done, a1, a2, b, c := run("a"), run("a"), run("a"), run("a", "innodb_io_capacity"), run("c")
	p := &matrix.Plan{Runs: []*matrix.Run{done, a1, a2, b, c}}
	smokeFirst(p, []*matrix.Run{a1, a2, b, c})
	if want := []*matrix.Run{a1, b, c, done, a2}; !slices.Equal(p.Runs, want) {
		t.Errorf("the order is %v, want %v", p.Runs, want)
	}
}

// TestFormatOf tests the format of a report by the name of its file.
func TestFormatOf(t *testing.T) {
	for name, want := range map[string]string{"": "text", "RESULTS.md": "markdown", "a/b.html": "html", "t.csv": "csv", "t.json": "json", "dir": "text", "a.txt": "text"} {
		if got := formatOf(name, "text"); got != want {
			t.Errorf("%q is %s, want %s", name, got, want)
		}
	}
}
