package report

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"dbmatrix/matrix"
)

// replicated makes n runs of the two engines of the model; MyRocks is faster by
// gain.
func replicated(cells []*matrix.Cell, n int, gain float64) []Attempt {
	var attempts []Attempt
	for i, c := range cells {
		for k := 1; k <= n; k++ {
			rate := 1000 + float64((7*k)%n) // another order than that of the runs
			if level, _ := c.Level("engine"); level.Name == "rocks" {
				rate += gain
			}
			attempts = append(attempts, Attempt{
				Source: Own, ID: int64(100*i + k), Cell: c.Key, Replicate: k, Number: 1, Status: matrix.OK,
				Phases: []PhaseResult{{
					Phase: "query", Block: "query", Iteration: 2, Status: matrix.OK, Fingerprint: c.Fingerprints[1],
					Metrics: metrics(map[string]float64{"secs": 1, "queries": rate}),
				}},
			})
		}
	}
	return attempts
}

// TestReplicates checks which run a row shows, its bounds, and when a difference
// from the baseline is tested and found.
func TestReplicates(t *testing.T) {
	exp, cells := loadExperiment(t, filepath.Join("testdata", "model"), "")
	def := &matrix.Table{
		Name: "t", Phase: "query", Rows: []string{"engine"}, Interval: true, Baseline: map[string]string{"engine": "inno"},
		Columns: []matrix.Column{{Label: "qps", Of: "qps"}, {Label: "rel", Of: "qps", Relative: true}},
		Only:    parseExpression(t, `axis.compression == "c0" && axis.clients == "1"`),
	}
	tests := []struct {
		n    int
		gain float64
		want string // of the row of MyRocks
		note string // under the table
	}{
		{1, 100, "1100 n=1 1.10 n=1 rocks", "too few runs to test"},
		{3, 100, "1101 1100..1102 1.10 1.10..1.10 rocks", "n = 3 runs"},
		{4, 100, "1101 1100..1103 1.10 1.10..1.10 rocks", "n = 4 runs"},
		{4, 1, "1002 1001..1004 1.00 ~[1] 1.00..1.00 rocks", "U test, p = "},
		{6, 100, "1102 1100..1105 1.10 1.10..1.10 rocks", "95% interval of the median"},
		{9, 100, "1104 1101..1107 1.10 1.10..1.10 rocks", "95% interval of the median"},
	}
	for _, tt := range tests {
		t.Run(fmt.Sprint(tt.n, tt.gain), func(t *testing.T) {
			exp.Replicates = tt.n
			table, diags := BuildTable(Input{Experiment: exp, Cells: cells, Attempts: replicated(cells, tt.n, tt.gain), Eval: exp.Eval}, def)
			failOn(t, exp.Files, diags)
			text := rendered(t, &Document{Blocks: []Block{{Table: table}}}, "text")
			found := false
			for _, line := range tokenLines(text) {
				found = found || line == tt.want
			}
			if !found || !strings.Contains(strings.Join(strings.Fields(text), " "), tt.note) {
				t.Errorf("no row %q or no note %q in\n%s", tt.want, tt.note, text)
			}
		})
	}
}

// TestChosenAttempt checks which attempt of a run is shown.
func TestChosenAttempt(t *testing.T) {
	_, cells := loadExperiment(t, filepath.Join("testdata", "model"), "")
	c := cells[0]
	attempt := func(number int, status matrix.Status, fp matrix.Fingerprint, withdrawn string) Attempt {
		a := Attempt{Source: Own, Cell: c.Key, Replicate: 1, Number: number, Status: status, Withdrawn: withdrawn}
		for i, p := range c.Phases {
			result := PhaseResult{Phase: p.Name, Block: p.Block, Iteration: 1, Status: status, Fingerprint: c.Fingerprints[i]}
			if fp != "" {
				result.Fingerprint = fp
			}
			a.Phases = append(a.Phases, result)
		}
		return a
	}
	part := func(a Attempt) Attempt {
		a.Phases = a.Phases[:1]
		return a
	}
	const now = matrix.Fingerprint("") // each phase its own
	tests := []struct {
		name     string
		attempts []Attempt
		want     int // the number of the attempt; 0: none
	}{
		{"the newest", []Attempt{attempt(1, matrix.OK, now, ""), attempt(2, matrix.OK, now, "")}, 2},
		{"the newest complete", []Attempt{attempt(1, matrix.OK, now, ""), attempt(2, matrix.Failed, now, "")}, 1},
		{"a missed rate is complete", []Attempt{attempt(1, matrix.OK, now, ""), attempt(2, matrix.SLAMissed, now, "")}, 2},
		{"the withdrawn brings no older one back", []Attempt{attempt(1, matrix.OK, now, ""), attempt(2, matrix.OK, now, "noise")}, 0},
		{"after the withdrawn", []Attempt{attempt(1, matrix.OK, now, "noise"), attempt(2, matrix.OK, now, "")}, 2},
		{"failed after the withdrawn", []Attempt{attempt(1, matrix.OK, now, "noise"), attempt(2, matrix.Failed, now, "")}, 2},
		{"withdrawn with other inputs", []Attempt{attempt(1, matrix.OK, now, ""), attempt(2, matrix.OK, "old", "noise")}, 1},
		{"withdrawn and broken off", []Attempt{attempt(1, matrix.OK, now, ""), attempt(2, matrix.Failed, now, "noise")}, 1},
		{"whole before a part", []Attempt{attempt(1, matrix.OK, now, ""), part(attempt(2, matrix.OK, now, ""))}, 1},
		{"a part that is complete", []Attempt{part(attempt(1, matrix.OK, now, "")), part(attempt(2, matrix.Failed, now, ""))}, 1},
		{"nothing but withdrawn", []Attempt{attempt(1, matrix.OK, now, "noise")}, 0},
		{"present inputs before complete", []Attempt{attempt(1, matrix.OK, "old", ""), attempt(2, matrix.Failed, now, "")}, 2},
		{"stale where there is no other", []Attempt{attempt(1, matrix.OK, "old", ""), attempt(2, matrix.Failed, "old", "")}, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			runs := ownRuns(cells[:1], newCellIndex([]string{"engine", "compression", "clients", "host"}, cells), tt.attempts, 1)
			got := 0
			if runs[0].attempt != nil {
				got = runs[0].attempt.Number
			}
			if len(runs) != 1 || got != tt.want {
				t.Errorf("%d runs, attempt %d, want %d", len(runs), got, tt.want)
			}
		})
	}
}
